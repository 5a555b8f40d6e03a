//! Every topology that can be named: how it is written and what it is.
//!
//! One table serves `--help`, the message for an unknown name, and the search
//! for the name that was probably meant.

/// One kind of topology, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindHelp {
    /// How it is written, e.g. `torus:RxC`.
    pub pattern: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

impl KindHelp {
    /// The name alone: the pattern up to its first colon.
    pub fn name(&self) -> &'static str {
        self.pattern.split(':').next().unwrap_or(self.pattern)
    }
}

const fn kind(pattern: &'static str, about: &'static str) -> KindHelp {
    KindHelp { pattern, about }
}

pub(crate) const CATALOGUE: &[KindHelp] = &[
    kind("ring:N", "a cycle of N agents"),
    kind("chain:N", "a path of N agents"),
    kind("star:N", "agent 0 joined to all others"),
    kind("complete:N", "everyone joined to everyone"),
    kind("torus:RxC", "an R by C lattice that wraps around (a side of 1 or 2 does not wrap)"),
    kind("grid:RxC", "an R by C lattice with borders"),
    kind("hypercube:D", "2^D agents, joined when their numbers differ in one bit"),
    kind("circulant:N:1,4", "i joined to i +- each listed offset, modulo N"),
    kind("bipartite:AxB", "every one of A agents joined to every one of B others"),
    kind("petersen", "the Petersen graph: 10 agents, degree 3, diameter 2"),
    kind("dyck", "the Dyck graph: 32 agents, degree 3, diameter 5"),
    kind("dyck-as-run", "the cubic graph that GUT's authors ran as Dyck: diameter 6"),
    kind("torus-as-run", "the graph that GUT's authors ran as torus: circulant:32:1,4"),
    kind("exponential:N", "directed: i sends to i + 1, i + 2, i + 4, ... modulo N"),
    kind("one-peer-exponential:N", "directed, time-varying: i sends to i + 2^k in phase k"),
    kind("random-regular:N:D[:seed=S]", "a random connected graph, all degrees D"),
    kind("erdos-renyi:N:P[:seed=S]", "each pair joined with probability P, connected"),
    kind(
        "watts-strogatz:N:K:P[:seed=S]",
        "a ring of K neighbours, edges rewired with probability P",
    ),
    kind("barabasi-albert:N:M[:seed=S]", "each newcomer joins M agents, the popular ones rather"),
    kind("file:PATH", "a file: edge list (.txt, .edges), DOT (.dot, .gv) or .graphml"),
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
    fn names_are_unique() {
        let mut names: Vec<_> = CATALOGUE.iter().map(KindHelp::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CATALOGUE.len());
    }
}
