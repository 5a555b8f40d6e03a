//! Agents in words: who they are, and who waits for whom.

use std::net::SocketAddr;

use consort_node::{NetworkPlan, Waiting};

/// More agents than this are counted, not listed.
const MOST_LISTED: usize = 8;

/// `agent 2`, `agents 1 and 3`, `agents 0, 1 and 3`.
pub(crate) fn agents(ids: &[usize]) -> String {
    let noun = if ids.len() == 1 { "agent" } else { "agents" };
    format!("{noun} {}", listed(ids.iter().map(usize::to_string).collect()))
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 17 more`.
fn listed(mut all: Vec<String>) -> String {
    if all.len() > MOST_LISTED {
        let more = all.len() - MOST_LISTED;
        all.truncate(MOST_LISTED);
        all.push(format!("{more} more"));
    }
    match &all[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The text with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Where an agent listens, and where its neighbours are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whereabouts {
    listening: Option<SocketAddr>,
    /// Of all agents; empty where nobody has an address.
    addresses: Vec<String>,
}

impl Whereabouts {
    /// Of an agent of `plan` that listens on this address.
    pub(crate) fn new(plan: &NetworkPlan, listening: SocketAddr) -> Self {
        let address = |entry: &consort_node::AgentEntry| entry.addresses[0].to_string();
        let addresses = plan.agents.iter().map(address).collect();
        Whereabouts { listening: Some(listening), addresses }
    }

    /// `agents 1 (192.0.2.11:7400) and 3 (lab3:7400)`.
    pub(crate) fn agents(&self, ids: &[usize]) -> String {
        let one = |&id: &usize| match self.addresses.get(id) {
            Some(address) => format!("{id} ({address})"),
            None => id.to_string(),
        };
        let noun = if ids.len() == 1 { "agent" } else { "agents" };
        format!("{noun} {}", listed(ids.iter().map(one).collect()))
    }

    /// For whom the agent waits, and where they can reach it.
    pub(crate) fn waiting(&self, waiting: &Waiting) -> String {
        let Waiting { round, rounds, awaited, absent } = waiting;
        let listening = self.listening.map_or(String::new(), |at| format!("; listening on {at}"));
        if round >= rounds {
            return match &absent[..] {
                [] => "all rounds are done; waiting until the neighbours have finished".into(),
                _ => format!(
                    "all rounds are done; waiting for {}, in case it needs this agent{listening}",
                    self.agents(absent)
                ),
            };
        }
        let whom = if awaited.is_empty() { absent } else { awaited };
        let missing: Vec<usize> = whom.iter().copied().filter(|id| absent.contains(id)).collect();
        let here: Vec<usize> = whom.iter().copied().filter(|id| !absent.contains(id)).collect();
        let verb = |ids: &[usize]| if ids.len() == 1 { "is" } else { "are" };
        match (&here[..], &missing[..]) {
            ([], []) => format!("round {round}: waiting for the other agents"),
            ([], _) if *round == 0 => {
                format!("waiting for {} to connect{listening}", self.agents(&missing))
            }
            ([], _) => format!(
                "round {round}: waiting for {}, which {} not connected{listening}",
                self.agents(&missing),
                verb(&missing)
            ),
            (_, []) => format!("round {round}: waiting for {}", self.agents(&here)),
            _ => format!(
                "round {round}: waiting for {}, and for {}, which {} not connected{listening}",
                self.agents(&here),
                self.agents(&missing),
                verb(&missing)
            ),
        }
    }
}

/// Who waits for whom: `agents 1 and 3 wait for agent 2; agent 0 waits for agents 1 and 3`. Entry i
/// says for whom agent i waits.
pub(crate) fn who_waits(for_whom: &[Vec<usize>]) -> String {
    let mut groups: Vec<(&[usize], Vec<usize>)> = Vec::new();
    for (agent, whom) in for_whom.iter().enumerate().filter(|(_, whom)| !whom.is_empty()) {
        match groups.iter_mut().find(|(same, _)| *same == &whom[..]) {
            Some((_, waiting)) => waiting.push(agent),
            None => groups.push((whom, vec![agent])),
        }
    }
    let sentence = |(whom, waiting): &(&[usize], Vec<usize>)| {
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        format!("{} {verb} for {}", agents(waiting), agents(whom))
    };
    groups.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_listed_up_to_a_number() {
        assert_eq!(agents(&[2]), "agent 2");
        assert_eq!(agents(&[0, 1, 3]), "agents 0, 1 and 3");
        let many: Vec<usize> = (0..25).collect();
        assert_eq!(agents(&many), "agents 0, 1, 2, 3, 4, 5, 6, 7 and 17 more");
    }

    #[test]
    fn it_is_said_who_waits_for_whom() {
        let ring = [vec![1, 3], vec![2], vec![], vec![2]];
        assert_eq!(
            who_waits(&ring),
            "agent 0 waits for agents 1 and 3; agents 1 and 3 wait for agent 2"
        );
        assert_eq!(who_waits(&[vec![], vec![]]), "");
    }

    #[test]
    fn one_that_waits_says_for_whom_and_where_it_listens() {
        let whereabouts = Whereabouts {
            listening: Some(([0, 0, 0, 0], 7400).into()),
            addresses: vec!["a:1".into(), "b:2".into(), "c:3".into()],
        };
        let said = |round, awaited: &[usize], absent: &[usize]| {
            let (awaited, absent) = (awaited.to_vec(), absent.to_vec());
            whereabouts.waiting(&Waiting { round, rounds: 9, awaited, absent })
        };
        assert_eq!(
            said(0, &[], &[1, 2]),
            "waiting for agents 1 (b:2) and 2 (c:3) to connect; listening on 0.0.0.0:7400"
        );
        assert_eq!(said(4, &[1], &[]), "round 4: waiting for agent 1 (b:2)");
        assert_eq!(
            said(4, &[1, 2], &[2]),
            "round 4: waiting for agent 1 (b:2), and for agent 2 (c:3), which is not connected; \
             listening on 0.0.0.0:7400"
        );
        assert_eq!(
            said(9, &[], &[]),
            "all rounds are done; waiting until the neighbours have finished"
        );
    }
}
