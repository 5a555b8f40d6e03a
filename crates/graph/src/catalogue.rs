//! Every topology that can be named: how it is written and what it is.
//!
//! One table serves `--help`, the message for an unknown name, and the search
//! for the name that was probably meant.

/// One kind of topology, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindHelp {
    /// How it is written, e.g. `torus:RxC`.
    pub pattern: &'static str,
    /// One that can be typed, e.g. `torus:4x8`.
    pub example: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

impl KindHelp {
    /// The name alone: the pattern up to its first colon.
    pub fn name(&self) -> &'static str {
        self.pattern.split(':').next().unwrap_or(self.pattern)
    }
}

const fn kind(pattern: &'static str, example: &'static str, about: &'static str) -> KindHelp {
    KindHelp { pattern, example, about }
}

pub(crate) const CATALOGUE: &[KindHelp] = &[
    kind("ring:N", "ring:16", "a cycle of N agents"),
    kind("chain:N", "chain:8", "a path of N agents"),
    kind("star:N", "star:8", "agent 0 joined to all others"),
    kind("complete:N", "complete:8", "everyone joined to everyone"),
    kind(
        "torus:RxC",
        "torus:4x8",
        "an R by C lattice that wraps around (a side of 1 or 2 does not wrap)",
    ),
    kind("grid:RxC", "grid:4x8", "an R by C lattice with borders"),
    kind("hypercube:D", "hypercube:4", "2^D agents, joined when their numbers differ in one bit"),
    kind("circulant:N:1,4", "circulant:32:1,4", "i joined to i +- each listed offset, modulo N"),
    kind("bipartite:AxB", "bipartite:3x5", "every one of A agents joined to every one of B others"),
    kind("petersen", "petersen", "the Petersen graph: 10 agents, degree 3, diameter 2"),
    kind("dyck", "dyck", "the Dyck graph: 32 agents, degree 3, diameter 5"),
    kind(
        "dyck-as-run",
        "dyck-as-run",
        "the cubic graph that GUT's authors ran as Dyck: diameter 6",
    ),
    kind(
        "torus-as-run",
        "torus-as-run",
        "the graph that GUT's authors ran as torus: circulant:32:1,4",
    ),
    kind("binary-tree:N", "binary-tree:15", "a binary tree: i hangs from (i - 1) / 2"),
    kind(
        "double-binary-tree:N",
        "double-binary-tree:14",
        "two trees in turn: who is inside one is a leaf of the other",
    ),
    kind(
        "spanning-tree:GRAPH",
        "spanning-tree:torus:4x8",
        "the breadth-first tree of a graph, from its centre",
    ),
    kind("directed-ring:N", "directed-ring:8", "directed: i sends to i + 1 modulo N"),
    kind(
        "exponential:N",
        "exponential:16",
        "directed: i sends to i + 1, i + 2, i + 4, ... modulo N",
    ),
    kind(
        "one-peer-exponential:N",
        "one-peer-exponential:16",
        "directed, time-varying: i sends to i + 2^k in phase k; exact if N is a power of 2",
    ),
    kind(
        "base:N:K",
        "base:25:1",
        "time-varying, K neighbours a round: averages exactly for any N; own weights",
    ),
    kind(
        "equi-static:N:M[:directed][:seed=S]",
        "equi-static:25:4",
        "M random shifts both ways, or one way; own weights",
    ),
    kind(
        "equi-dyn:N[:PHASES][:directed][:seed=S]",
        "equi-dyn:25",
        "time-varying: one random shift a round, one neighbour each; own weights",
    ),
    kind(
        "random-matching:N[:PHASES][:seed=S]",
        "random-matching:25",
        "time-varying: random pairs in every round",
    ),
    kind(
        "random-regular-dyn:N:S[:PHASES][:seed=S]",
        "random-regular-dyn:24:4",
        "time-varying: a random graph of degree S in every round",
    ),
    kind(
        "random-digraph:N:OUT[:seed=S]",
        "random-digraph:16:3",
        "directed: everyone sends to OUT others, in-degrees differ",
    ),
    kind(
        "random-regular:N:D[:seed=S]",
        "random-regular:16:3",
        "a random connected graph, all degrees D",
    ),
    kind(
        "erdos-renyi:N:P[:seed=S]",
        "erdos-renyi:16:0.4",
        "each pair joined with probability P, connected",
    ),
    kind(
        "watts-strogatz:N:K:P[:seed=S]",
        "watts-strogatz:16:4:0.2",
        "a ring of K neighbours, edges rewired with probability P",
    ),
    kind(
        "barabasi-albert:N:M[:seed=S]",
        "barabasi-albert:16:2",
        "each newcomer joins M agents, the popular ones rather",
    ),
    kind(
        "file:PATH",
        "file:office.dot",
        "a file: edge list (.txt, .edges), DOT (.dot, .gv) or .graphml",
    ),
];

/// The catalogue as an indented list, one kind a line.
pub(crate) fn listing() -> String {
    let width = CATALOGUE.iter().map(|kind| kind.pattern.len()).max().unwrap_or(0);
    let lines = CATALOGUE.iter().map(|kind| format!("  {:width$}  {}", kind.pattern, kind.about));
    lines.collect::<Vec<_>>().join("\n")
}

/// The name of `names` that was probably meant, if any is near enough.
pub(crate) fn nearest(
    typed: &str,
    names: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let close = 1.max(typed.chars().count() / 3);
    names
        .map(|name| (slips_between(&typed, name), name))
        .min_by_key(|&(slips, _)| slips)
        .filter(|&(slips, _)| slips <= close)
        .map(|(_, name)| name)
}

/// How many slips of the finger lie between two words: a letter missing, added,
/// changed, or swapped with its neighbour (optimal string alignment distance).
fn slips_between(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(typed: &str) -> Option<&'static str> {
        nearest(typed, CATALOGUE.iter().map(KindHelp::name))
    }

    #[test]
    fn slips_are_forgiven_and_nonsense_is_not() {
        assert_eq!(meant("rign"), Some("ring"));
        assert_eq!(meant("Torsu"), Some("torus"));
        assert_eq!(meant("erdos-reny"), Some("erdos-renyi"));
        assert_eq!(meant("xyzzy"), None);
    }

    #[test]
    fn every_example_is_of_its_kind_and_builds() {
        for kind in CATALOGUE.iter().filter(|kind| kind.name() != "file") {
            let spec: crate::GraphSpec = kind.example.parse().unwrap();
            assert_eq!(spec.to_string(), kind.example);
            assert_eq!(kind.example.split(':').next(), Some(kind.name()));
            assert!(spec.build(1).unwrap().union().is_connected(), "{}", kind.example);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = CATALOGUE.iter().map(KindHelp::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CATALOGUE.len());
    }
}
