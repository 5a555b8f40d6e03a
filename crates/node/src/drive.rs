//! Drives one agent over any transport: rounds, deadlines, checkpoints, records.
//!
//! The protocol says what it wants and gets it; the transport moves frames; the observer has
//! the clock, hears what happens and may want to stop.

use std::time::Duration;

use consort_algo::Agent;
use consort_protocol::{Frame, Peer, PeerSettings, Want, sentence};
use consort_records::{Record, RecordFile, TrialSummary};
use consort_train::Restored;
use consort_transport::{Event, Transport};

use crate::agent_folder::AgentFolder;
use crate::drive_settings::DriveSettings;
use crate::error::NodeError;
use crate::link_records::{LinkFile, LinkRecord, RoundTimes};
use crate::observer::{AgentObserver, Progress, Waiting};
use crate::work::AgentWork;

/// How an agent ended.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a run")]
pub enum AgentEnding {
    /// All rounds are over, here and at the neighbours.
    Done(TrialSummary),
    /// The observer wanted it; the state of this round is saved.
    Stopped {
        /// The round.
        round: u64,
    },
}

/// Longest sleep while waiting: how soon a request to stop is noticed.
const NAP: Duration = Duration::from_millis(200);
/// How long the rest of a round is waited for when the agent is to stop.
const LAST_ROUND: Duration = Duration::from_secs(5);
/// How long an agent that has finished before waits for neighbours that may need it.
const NOBODY_NEEDS_IT: Duration = Duration::from_secs(30);
/// How long frames may take to leave at the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// Runs one agent in its folder: from the start or from its newest checkpoint.
///
/// # Errors
/// If data cannot be read, files cannot be written, numbers grow beyond all bounds, the plans
/// of two agents differ, or the run cannot go on. The neighbours are told.
pub fn run_agent(
    work: &mut AgentWork,
    folder: &AgentFolder,
    transport: &mut dyn Transport,
    settings: &DriveSettings,
    observer: &mut dyn AgentObserver,
) -> Result<AgentEnding, NodeError> {
    let mut agent = work.agent()?;
    let restored = folder.restore_newest(&mut agent, &mut |text| observer.tell(text))?;
    if let (None, Some(summary)) = (restored, folder.summary()?) {
        transport.close(FAREWELL);
        return Ok(AgentEnding::Done(summary)); // it was done, and nobody needs it any more
    }
    let parameters = work.parameters();
    let peer_settings = protocol_settings(work, settings, &agent);
    let peer = Peer::new(agent, peer_settings);
    let mut drive = Drive {
        round: peer.agent().round(),
        peer,
        folder,
        settings,
        observer,
        records: None,
        last_record: None,
        links: LinkFile::open(folder.links())?,
        before: 0.0,
        at: vec![0.0; parameters],
        grad: vec![0.0; parameters],
        loss: f32::NAN,
        times: RoundTimes::default(),
        gradient_at: Duration::ZERO,
        saved_at: Duration::ZERO,
        stop_since: None,
        finished: None,
        started_finished: restored.is_some_and(|restored| restored.round >= work.rounds()),
        work,
    };
    drive.open_records(restored)?;
    let ended = drive.rounds(transport);
    match &ended {
        Ok(AgentEnding::Done(_)) => {}
        Ok(AgentEnding::Stopped { .. }) => drive.peer.leave("its user stopped it", false),
        Err(error) => drive.peer.leave(&error.to_string(), true),
    }
    let _ = drive.send_frames(transport); // if a number is too large, that has been told
    drive.write_links(transport)?;
    transport.close(FAREWELL);
    if matches!(ended, Ok(AgentEnding::Done(_))) {
        folder.forget_checkpoints()?;
    }
    ended
}

fn protocol_settings(work: &AgentWork, settings: &DriveSettings, agent: &Agent) -> PeerSettings {
    let phases = 0..work.phases() as u64;
    let others = |round: u64| {
        let senders = work.row(round).senders().iter().copied();
        senders.filter(|&other| other != work.id()).collect()
    };
    PeerSettings {
        policy: settings.policy,
        rounds: work.rounds(),
        exchanges: agent.exchanges().len() as u64,
        phases_per_round: agent.phases_per_round() as u64,
        shared: work.shared_text().into(),
        save_every: settings.save_every,
        listeners: phases.clone().map(|round| work.receivers(round).to_vec()).collect(),
        senders: phases.map(others).collect(),
        lookahead: work.lookahead() as u64,
        alone_at_most: settings.alone_at_most,
    }
}

struct Drive<'a> {
    work: &'a mut AgentWork,
    peer: Peer,
    folder: &'a AgentFolder,
    settings: &'a DriveSettings,
    observer: &'a mut dyn AgentObserver,
    records: Option<RecordFile>,
    /// The newest evaluation.
    last_record: Option<Record>,
    links: LinkFile,
    /// Seconds that the run took before it was resumed.
    before: f64,
    at: Vec<f32>,
    grad: Vec<f32>,
    loss: f32,
    /// The round that was under way when we last looked.
    round: u64,
    times: RoundTimes,
    gradient_at: Duration,
    saved_at: Duration,
    stop_since: Option<Duration>,
    finished: Option<TrialSummary>,
    /// The checkpoint it went on from was that of the end.
    started_finished: bool,
}

impl Drive<'_> {
    fn rounds(&mut self, transport: &mut dyn Transport) -> Result<AgentEnding, NodeError> {
        loop {
            self.send_frames(transport)?;
            for id in self.peer.links_to_cut() {
                transport.disconnect(id, "what came was no frame of this run");
            }
            self.look(transport)?;
            if self.is_left_alone() {
                return Ok(AgentEnding::Done(self.finished_summary()?));
            }
            if let Some(round) = self.may_stop()? {
                return Ok(AgentEnding::Stopped { round });
            }
            match self.peer.want() {
                Want::Gradient => {
                    if let Some(event) = transport.wait(Duration::ZERO) {
                        self.happened(event); // what has come may change what is wanted
                    } else if self.peer.agent().is_between_rounds() && self.save_is_due() {
                        self.save()?;
                    } else {
                        self.gradient()?;
                    }
                }
                Want::Save => self.save()?,
                Want::RollBack { at_most } => self.roll_back(at_most)?,
                Want::Wait { until } => self.wait(transport, until),
                Want::Done => return Ok(AgentEnding::Done(self.finished_summary()?)),
                Want::Fail(why) => return Err(NodeError::CannotGoOn { why }),
            }
        }
    }

    fn send_frames(&mut self, transport: &mut dyn Transport) -> Result<(), NodeError> {
        let neighbours: Vec<usize> = self.peer.neighbours().collect();
        let mut sent = Ok(());
        for id in neighbours {
            while transport.has_room(id) {
                let Some(frame) = self.peer.frame_for(id) else { break };
                match self.check(&frame) {
                    Ok(()) if transport.send(id, frame) => {}
                    Ok(()) => break,
                    Err(error) => sent = Err(error),
                }
            }
        }
        sent
    }

    /// Fails if the neighbours would refuse the frame for its numbers.
    fn check(&self, frame: &Frame) -> Result<(), NodeError> {
        let Some((limits, largest)) = &self.settings.accepted else { return Ok(()) };
        frame.check_numbers(limits, *largest).map_err(|what| {
            let round = self.peer.agent().round();
            NodeError::TooLarge { round, what }
        })
    }

    fn happened(&mut self, event: Event) {
        let now = self.observer.now();
        match event {
            Event::Up { peer } => self.peer.link_up(now, peer),
            Event::Down { peer, .. } => self.peer.link_down(now, peer),
            Event::Frame { peer, frame, transfer } => {
                self.times.transfer = self.times.transfer.max(transfer.as_secs_f64());
                self.peer.hear(now, peer, frame);
            }
            Event::Garbage { peer, error } => self.peer.garbage(now, peer, error.to_string()),
            Event::Room { .. } => {} // frames are offered in every turn of the loop
            Event::Stranger { who, reason } => {
                let who = sentence(&format!("refused a stranger, {who}: {reason}"));
                self.observer.tell(&who);
            }
        }
    }

    /// Tells what was noted, and measures where a round is over.
    fn look(&mut self, transport: &dyn Transport) -> Result<(), NodeError> {
        for note in self.peer.notes() {
            self.observer.noted(&note);
        }
        let (before, round) = (self.round, self.peer.agent().round());
        if round == before {
            return Ok(());
        }
        self.round = round;
        let now = self.observer.now();
        self.times.wait = now.saturating_sub(self.gradient_at).as_secs_f64();
        let used = self.peer.mixed().map_or(&[][..], |(_, used)| used);
        self.observer.round_done(&Progress {
            round,
            rounds: self.work.rounds(),
            loss: self.loss,
            used,
            neighbours: self.peer.neighbours().count(),
            times: self.times,
        });
        self.links.add(self.times);
        self.times = RoundTimes::default();
        // A round that was skipped may have been one to be evaluated.
        if (before + 1..=round).any(|round| self.work.evaluation_is_due(round)) {
            self.evaluate()?;
            self.write_links(transport)?;
        }
        if round >= self.work.rounds() {
            self.finished = Some(self.finish()?);
        }
        Ok(())
    }

    fn gradient(&mut self) -> Result<(), NodeError> {
        let started = self.observer.now();
        let round = self.peer.agent().round();
        let (last, now) = self.work.averaging_rates(round);
        self.peer.set_averaging_rates(last, now);
        self.peer.agent().probe(&mut self.at);
        let agent = self.peer.agent();
        let answer = self.work.loss_and_grad(agent, &self.at, &mut self.grad)?;
        self.loss = answer.loss;
        self.gradient_at = self.observer.now();
        self.times.compute += (self.gradient_at - started).as_secs_f64();
        let eta = self.work.eta(round);
        self.peer.gradient(self.gradient_at, &self.grad, eta)?;
        Ok(())
    }

    fn wait(&mut self, transport: &mut dyn Transport, until: Duration) {
        let now = self.observer.now();
        if now >= until {
            self.peer.tick(now);
        }
        match transport.wait(until.saturating_sub(now).min(NAP)) {
            Some(event) => self.happened(event),
            None => {
                self.observer.waiting(&self.whom_we_wait_for());
                self.peer.tick(self.observer.now());
            }
        }
    }

    fn whom_we_wait_for(&self) -> Waiting {
        let present: Vec<usize> = self.peer.present().collect();
        Waiting {
            round: self.peer.agent().round(),
            rounds: self.work.rounds(),
            awaited: self.peer.awaited(),
            absent: self.peer.neighbours().filter(|id| !present.contains(id)).collect(),
        }
    }

    /// True if the agent was started again after its last round, and nobody is there to need it.
    fn is_left_alone(&self) -> bool {
        self.started_finished
            && self.peer.agent().round() >= self.work.rounds()
            && self.peer.present().next().is_none()
            && self.observer.now() > NOBODY_NEEDS_IT
    }

    /// What the agent ends with; written now if it was started again after its last round.
    fn finished_summary(&mut self) -> Result<TrialSummary, NodeError> {
        match self.finished.take() {
            Some(summary) => Ok(summary),
            None => self.finish(),
        }
    }

    fn save_is_due(&self) -> bool {
        let every = self.settings.save_every_seconds;
        let since = self.observer.now().saturating_sub(self.saved_at).as_secs_f64();
        every > 0.0 && since > every
    }

    fn save(&mut self) -> Result<(), NodeError> {
        if let Some(records) = &self.records {
            records.sync()?;
        }
        let (since, seconds) = (self.work.since(), self.seconds());
        self.folder.save(self.peer.agent_mut(), since, seconds)?;
        self.saved_at = self.observer.now();
        self.peer.saved();
        Ok(())
    }

    /// A neighbour lost rounds that this agent does not keep any more: both do them again.
    fn roll_back(&mut self, at_most: u64) -> Result<(), NodeError> {
        let observer = &mut self.observer;
        let agent = self.peer.agent_mut();
        let restored =
            self.folder.restore_at_most(agent, at_most, &mut |text| observer.tell(text))?;
        if restored.is_none() {
            put_into(&mut self.work.agent()?, agent);
        }
        self.finished = None;
        self.records = None;
        self.open_records(restored)?;
        self.round = self.peer.agent().round();
        self.peer.rolled_back();
        Ok(())
    }

    /// Continues the records after a checkpoint, or begins them.
    fn open_records(&mut self, restored: Option<Restored>) -> Result<(), NodeError> {
        let (records, kept) = self.folder.open_records(restored.as_ref())?;
        self.records = Some(records);
        match restored {
            Some(restored) => {
                self.before = restored.seconds - self.observer.now().as_secs_f64();
                self.work.restore_since(restored.since);
                self.observer.resumed(restored.round, self.work.rounds(), &kept);
                self.last_record = kept.last().cloned();
            }
            None => {
                self.work.restore_since(Default::default());
                self.evaluate()?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), NodeError> {
        let seconds = self.seconds();
        let agent = self.peer.agent();
        let record = self.work.evaluate(agent.params(), agent.round(), seconds)?;
        // A model that is not finite is no file; the next gradient says what happened.
        if self.settings.keep_evaluated
            && let Ok(model) = self.work.model_file(self.peer.agent().params())
        {
            self.folder.keep_evaluated(record.round, &model)?;
        }
        if let Some(records) = &mut self.records {
            records.append(&record)?;
        }
        self.observer.recorded(&record);
        self.last_record = Some(record);
        Ok(())
    }

    /// All rounds are over here: the results are written before the neighbours are waited for.
    fn finish(&mut self) -> Result<TrialSummary, NodeError> {
        let results = self.work.results(self.peer.agent().params(), self.last_record.as_ref())?;
        Ok(self.folder.finish(results)?)
    }

    fn write_links(&mut self, transport: &dyn Transport) -> Result<(), NodeError> {
        let statistics = self.peer.neighbours().map(|id| (id, transport.statistics(id)));
        let record = LinkRecord::new(self.round, self.seconds(), &self.links, statistics);
        self.links.append(&record)?;
        Ok(())
    }

    /// Between two rounds, or once the rest of a round has not come for a while: the round whose
    /// state is saved.
    fn may_stop(&mut self) -> Result<Option<u64>, NodeError> {
        if !self.observer.wants_to_stop() {
            return Ok(None);
        }
        let now = self.observer.now();
        let since = *self.stop_since.get_or_insert(now);
        if self.peer.agent().is_between_rounds() {
            self.save()?;
            return Ok(Some(self.peer.agent().round()));
        }
        // A state in the middle of a round cannot be saved; the last one that was is as good.
        let saved = self.folder.saved_rounds()?.last().copied().unwrap_or(0);
        let Waiting { awaited, absent, .. } = self.whom_we_wait_for();
        let in_vain = !awaited.is_empty() && awaited.iter().all(|id| absent.contains(id));
        Ok((in_vain || now > since + LAST_ROUND).then_some(saved))
    }

    fn seconds(&self) -> f64 {
        self.before + self.observer.now().as_secs_f64()
    }
}

/// Copies the state of `from` into `to`: both are the same method at the same agent.
pub(crate) fn put_into(from: &mut Agent, to: &mut Agent) {
    for (from, to) in from.tensors().into_iter().zip(to.tensors()) {
        to.values.copy_from_slice(from.values);
    }
    to.restore_round(from.round());
}
