//! `consort train --transport mpi`: every rank of an MPI job is one agent.
//!
//! The trials of the configuration run one after another. A rank that dies ends the job;
//! `consort resume --transport mpi` continues from the checkpoints.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use consort_data::DataDir;
use consort_node::{AgentEnding, AgentFolder, AgentWork, DriveSettings, LARGEST_UPDATE, run_agent};
use consort_protocol::Policy;
use consort_train::{Config, Plan};
use consort_transport::{MpiJob, MpiSettings};

use super::{AgentReporter, Whereabouts, agent_folders, limits, put_together, stop_signal};
use crate::failure::{Blame, Failure, tell};
use crate::provenance::Provenance;
use crate::training::{self, PlannedTrial, RunFolder, StartedWith};

/// The folder that a job writes to.
pub(crate) enum Place<'a> {
    /// A new folder.
    New(&'a Path),
    /// The folder of an interrupted run.
    Begun(&'a Path),
}

/// Runs this rank's agent through all trials. Rank 0 writes the results and returns them.
pub(crate) fn run(
    config: &Config,
    place: &Place<'_>,
    data_dir: &DataDir,
    threads: usize,
) -> Result<Option<training::Summary>, Failure> {
    let job = MpiJob::join().or_work()?;
    let rank = job.rank();
    let plan = training::plan(config, data_dir)?;
    let (expected, got) = (plan.network.topology.agents(), job.agents());
    if expected != got {
        return Err(Failure::input(format!(
            "{} has {expected} agents, the job has {got} ranks; use mpirun -n {expected}",
            config.graph
        )));
    }
    let partitions = training::partitions_of(&plan)?;
    let (Place::New(path) | Place::Begun(path)) = place;
    // Rank 0 makes the folder. The others do not use it before `connect`, which waits for all
    // ranks.
    let folder = match (rank, place) {
        (0, Place::New(path)) => {
            Some(RunFolder::create(Some(path), config, &Provenance::current())?)
        }
        (0, Place::Begun(path)) => Some(RunFolder::open(path, StartedWith::TheSame)?.0),
        _ => None,
    };
    if rank == 0 {
        tell(&format!("{} ({got} ranks)", path.display()));
    }
    let stop = stop_signal(false);
    for trial in training::planned_trials(&plan, &partitions) {
        let path = path.join("trials").join(&trial.name);
        one_trial(&job, &plan, &trial, &path, threads, &stop)?;
    }
    let summary =
        folder.map(|folder| training::write_results(&plan, &partitions, &folder, threads));
    job.leave().or_work()?;
    summary.transpose()
}

fn one_trial(
    job: &MpiJob,
    plan: &Plan,
    trial: &PlannedTrial<'_>,
    path: &Path,
    threads: usize,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let PlannedTrial { method, seed, partition, .. } = *trial;
    if path.join("summary.json").exists() {
        return Ok(()); // done by an earlier job
    }
    let work = AgentWork::from_trial(plan, method, seed, partition, job.rank(), threads);
    let mut work = work.or_input()?;
    let agent = work.agent().or_input()?;
    let message = agent.message_len();
    let mut settings = DriveSettings::usual(Policy::Wait, message, &plan.config.checkpoint);
    let limits = limits(&work, agent.exchanges(), job.agents())?;
    settings.accepted = Some((limits, LARGEST_UPDATE));
    let neighbours = work.neighbours();
    let links = MpiSettings { neighbours, limits, largest: LARGEST_UPDATE };
    let mut transport = job.connect(links).or_work()?;
    let kept = settings.checkpoints(&plan.network.topology);
    let own = path.join(format!("agent-{}", job.rank()));
    let folder = AgentFolder::open(&own, work.run_id(), job.rank(), kept).or_work()?;
    let _lock = folder.lock().or_input()?;
    let mut reporter = match job.rank() {
        0 => AgentReporter::new(false, work.rounds(), Whereabouts::default(), stop.clone()),
        _ => AgentReporter::silent(stop.clone()),
    };
    let ending = run_agent(&mut work, &folder, &mut transport, &settings, &mut reporter);
    reporter.close();
    match ending.or_work()? {
        // All agents have written their files.
        AgentEnding::Done(_) if job.rank() == 0 => {
            put_together(plan, method, seed, path, &agent_folders(path), Some(threads)).map(drop)
        }
        AgentEnding::Done(_) => Ok(()),
        AgentEnding::Stopped { .. } => Err(Failure::Stopped(
            "stopped; the state is saved. Continue with: consort resume RUN --transport mpi".into(),
        )),
    }
}
