//! One agent's driver in the fault world: does what the protocol wants, and checks which messages
//! it used.

use std::time::Duration;

use consort_protocol::{Note, Want};
use rand::RngExt;

use super::events::Happening;
use super::{MS, Saved, World, restore};

impl World {
    /// Does what an agent's protocol wants, as a driver would.
    pub(super) fn serve(&mut self, id: usize) -> Result<(), String> {
        loop {
            self.note_uses(id)?;
            self.send_frames(id);
            let now = self.now;
            let Some(peer) = &mut self.processes[id].peer else { return Ok(()) };
            for note in peer.notes() {
                if self.trace {
                    eprintln!("{now:?} agent {id}: {note}");
                }
                *self.notes.entry(kind(&note)).or_default() += 1;
            }
            match peer.want() {
                Want::Gradient => {
                    let process = &mut self.processes[id];
                    if !process.working {
                        process.working = true;
                        let life = process.life;
                        let work = u64::from(process.slowness) * self.rng.random_range(30..90);
                        self.push(now + MS(work), Happening::GradientReady { agent: id, life });
                    }
                    return Ok(());
                }
                Want::Save => {
                    let agent = peer.agent_mut();
                    let round = agent.round();
                    let tensors = agent.tensors().iter().map(|t| t.values.to_vec()).collect();
                    peer.saved();
                    self.processes[id].saved.push((round, tensors));
                }
                Want::RollBack { at_most } => {
                    let saved = self.processes[id].saved.iter().rev().find(|s| s.0 <= at_most);
                    let mut fresh = self.fresh_agent(id);
                    if let Some(saved) = saved {
                        restore(&mut fresh, saved);
                    }
                    let process = &mut self.processes[id];
                    (process.life, process.working) = (process.life + 1, false);
                    process.next_tick = Duration::MAX;
                    let Some(peer) = &mut process.peer else { return Ok(()) };
                    let state: Saved = (
                        fresh.round(),
                        fresh.tensors().iter().map(|t| t.values.to_vec()).collect(),
                    );
                    restore(peer.agent_mut(), &state);
                    peer.rolled_back();
                }
                Want::Wait { until } => {
                    let process = &mut self.processes[id];
                    let at = until.max(now + MS(1));
                    if at < process.next_tick {
                        process.next_tick = at;
                        let life = process.life;
                        self.push(at, Happening::Tick { agent: id, life });
                    }
                    return Ok(());
                }
                Want::Done => {
                    // A process that is done leaves once links have become reliable.
                    if !self.processes[id].done && self.now > self.last_fault {
                        self.processes[id].done = true;
                        self.push(now + MS(5), Happening::Leaves(id));
                    }
                    return Ok(());
                }
                Want::Fail(why) => return Err(format!("agent {id} fails: {why}")),
            }
        }
    }

    fn send_frames(&mut self, id: usize) {
        for pair in self.pairs_of(id) {
            let other = pair.0 + pair.1 - id;
            loop {
                let Some(peer) = &mut self.processes[id].peer else { return };
                let Some(frame) = peer.frame_for(other) else { break };
                let Some(link) = self.links[&pair] else { continue };
                let unreliable = self.faults.lossy && self.now < self.last_fault;
                if unreliable && self.rng.random_bool(0.05) {
                    continue;
                }
                let copies = if unreliable && self.rng.random_bool(0.05) { 2 } else { 1 };
                for _ in 0..copies {
                    // A reliable link keeps the order of frames.
                    let delay = if unreliable { self.rng.random_range(100..40_000) } else { 1_000 };
                    let at = self.now + Duration::from_micros(delay);
                    let frame = frame.clone();
                    self.push(at, Happening::Arrives { from: id, to: other, link, frame });
                }
            }
        }
    }

    /// A process may use a message only once, and its rounds only grow.
    fn note_uses(&mut self, id: usize) -> Result<(), String> {
        let life = self.processes[id].life;
        let Some(peer) = &self.processes[id].peer else { return Ok(()) };
        let Some((round, used)) = peer.mixed() else { return Ok(()) };
        let before = self.last_mixed[id].replace((life, round));
        if before == Some((life, round)) {
            return Ok(());
        }
        if self.trace {
            eprintln!("{:?} agent {id}: mixed round {round} with {used:?}", self.now);
        }
        if before.is_some_and(|(earlier, last)| earlier == life && last >= round) {
            return Err(format!("agent {id} mixed round {round} after {before:?}"));
        }
        let mut senders = used.to_vec();
        senders.dedup();
        if senders.len() != used.len() || used.contains(&id) {
            return Err(format!("agent {id} used {used:?} in round {round}"));
        }
        Ok(())
    }
}

fn kind(note: &Note) -> &'static str {
    match note {
        Note::Met(..) => "met",
        Note::Lost(..) => "lost",
        Note::Finished(..) => "finished",
        Note::Late(..) => "late",
        Note::SetAside(..) => "set aside",
        Note::Joined(..) => "joined",
        Note::Skipped(..) => "skipped",
        Note::Adopted(..) => "adopted",
        Note::RolledBack(..) => "rolled back",
        Note::Alone(..) => "alone",
        _ => "other",
    }
}
