//! What can go wrong between a scheme's name and its partition.

use thiserror::Error;

use super::{SCHEMES, Scheme};

/// A partition that cannot be made or read, and why.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// No scheme has this name.
    #[error(
        "unknown partition \"{got}\"{}\nknown partitions:\n{}",
        did_you_mean(suggestion),
        listing()
    )]
    UnknownScheme {
        /// What was typed.
        got: String,
        /// The nearest known name, if one is near.
        suggestion: Option<&'static str>,
    },
    /// The name is known, what follows it is not understood.
    #[error("partition \"{spec}\": expected {expected}, got \"{got}\"; write it as {pattern}")]
    BadValue {
        /// The whole text.
        spec: String,
        /// How it is written.
        pattern: &'static str,
        /// What should have stood there.
        expected: &'static str,
        /// What stood there.
        got: String,
    },
    /// Nobody to deal to.
    #[error("0 agents cannot hold samples; ask for at least 1")]
    NoAgents,
    /// Fewer samples than the scheme must deal.
    #[error(
        "{scheme} over {agents} agents needs at least {needed} samples, got {samples}; \
         take fewer agents or more data"
    )]
    TooFewSamples {
        /// The scheme.
        scheme: Scheme,
        /// Agents to deal to.
        agents: usize,
        /// Samples there are.
        samples: usize,
        /// The smallest number that suffices.
        needed: usize,
    },
    /// More samples than their numbers have bits for.
    #[error("{samples} samples are too many, the limit is 4294967295; take a part of them")]
    TooManySamples {
        /// Samples there are.
        samples: usize,
    },
    /// A label that is no class.
    #[error("sample {sample} has label {label}, but there are {classes} classes, numbered from 0")]
    Label {
        /// The first such sample.
        sample: usize,
        /// Its label.
        label: u32,
        /// How many classes there are.
        classes: usize,
    },
    /// No draw gave every agent enough.
    #[error(
        "{scheme}: {draws} draws of {agents} agents over {samples} samples always left one with \
         fewer than {wanted}; raise alpha, or take fewer agents or more data"
    )]
    Redraws {
        /// The scheme.
        scheme: Scheme,
        /// How often proportions were drawn.
        draws: usize,
        /// Agents that were dealt to together.
        agents: usize,
        /// Samples that were dealt to them.
        samples: usize,
        /// The smallest number that was wanted for each.
        wanted: usize,
    },
    /// More classes for each agent than there are.
    #[error(
        "labels:{asked} asks for {asked} classes an agent, the data have {present}; ask for fewer"
    )]
    TooManyLabels {
        /// Classes for each agent.
        asked: usize,
        /// Classes with samples.
        present: usize,
    },
    /// Classes that would belong to nobody.
    #[error(
        "labels:{asked} over {agents} agents leaves {} of {present} classes to nobody; \
         ask for labels:{} or for more agents",
        present - agents * asked,
        present.div_ceil(*agents)
    )]
    UnownedLabels {
        /// Agents to deal to.
        agents: usize,
        /// Classes for each agent.
        asked: usize,
        /// Classes with samples.
        present: usize,
    },
    /// An agent without samples.
    #[error("agent {agent} of the partition has no samples; give every agent at least one")]
    EmptyShare {
        /// The first such agent.
        agent: usize,
    },
    /// A sample that does not exist.
    #[error(
        "agent {agent} of the partition has sample {sample}, but there are {samples}, numbered from 0"
    )]
    NoSuchSample {
        /// Who.
        agent: usize,
        /// The sample.
        sample: u64,
        /// How many there are.
        samples: usize,
    },
    /// A sample that is dealt twice.
    #[error("the partition gives sample {sample} to agent {first} and to agent {second}")]
    SharedSample {
        /// The sample.
        sample: u32,
        /// Who has it.
        first: usize,
        /// Who has it too (the same agent if it lists the sample twice).
        second: usize,
    },
    /// A stored partition whose content is not what its hash was made of.
    #[error(
        "the partition's content has hash {got}, its file says {expected}; \
         the file was changed or damaged, make the partition anew from its seed"
    )]
    Hash {
        /// What the file says.
        expected: String,
        /// What the content gives.
        got: String,
    },
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or(String::new(), |name| format!("; did you mean \"{name}\"?"))
}

fn listing() -> String {
    let width = SCHEMES.iter().map(|help| help.pattern.len()).max().unwrap_or(0);
    let lines = SCHEMES.iter().map(|help| format!("  {:width$}  {}", help.pattern, help.about));
    lines.collect::<Vec<_>>().join("\n")
}
