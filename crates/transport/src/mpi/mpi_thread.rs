//! The thread that makes all MPI calls: it joins the job, serves one run after another
//! ([`Session`]), and leaves.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

use super::link::LinkCounters;
use super::pace::Pace;
use super::session::{Order, Session};
use super::{MpiError, MpiSettings};
use crate::Event;

/// What the MPI thread does between `MPI_Init` and `MPI_Finalize`.
pub(super) enum Task {
    /// Serve the links of one run.
    Connect { settings: MpiSettings, end: ThreadEnd, answer: Sender<Result<(), MpiError>> },
    /// Leave the job: all runs are over.
    Leave,
}

/// The MPI thread's end of the channels; the links are sorted by peer.
pub(super) struct ThreadEnd {
    pub(super) links: Vec<(usize, Arc<LinkCounters>)>,
    pub(super) orders: Receiver<Order>,
    pub(super) events: Sender<Event>,
}

/// The main function of the thread.
pub(super) fn run(tasks: &Receiver<Task>, joined: &Sender<Result<(usize, usize), MpiError>>) {
    let universe = match mpi::initialize_with_threading(Threading::Funneled) {
        Some((universe, level)) if level >= Threading::Funneled => universe,
        refused => {
            let error = if refused.is_some() { MpiError::Threads } else { MpiError::Joined };
            let _ = joined.send(Err(error));
            return;
        }
    };
    let world = universe.world();
    let _ = joined.send(Ok((world.rank() as usize, world.size() as usize)));
    for task in tasks {
        match task {
            Task::Connect { settings, end, answer } => match meet(&world, &settings, &end) {
                Ok(communicator) => {
                    let _ = answer.send(Ok(()));
                    if !Session::new(&communicator, &settings, end).run() {
                        // Only all ranks together may free it.
                        std::mem::forget(communicator);
                    }
                }
                Err(error) => {
                    let _ = answer.send(Err(error));
                }
            },
            Task::Leave => return leave(universe),
        }
    }
    // There was no `Leave`, so this rank has failed. `MPI_Finalize` would wait for the others, which
    // wait for this one. An exit without it makes `mpirun` end them.
    std::mem::forget(universe);
}

/// Waits for all ranks, then links all of them or none, over a new communicator.
fn meet(
    world: &SimpleCommunicator,
    settings: &MpiSettings,
    end: &ThreadEnd,
) -> Result<SimpleCommunicator, MpiError> {
    wait_for_all(world);
    let checked = check(world, settings, end);
    let mut all_fit = 0u8;
    world.all_reduce_into(&u8::from(checked.is_ok()), &mut all_fit, SystemOperation::min());
    match checked {
        Ok(()) if all_fit == 1 => Ok(world.duplicate()),
        Ok(()) => Err(MpiError::Elsewhere),
        Err(error) => Err(error),
    }
}

/// Exchanges the neighbours with the other ranks, and checks them.
fn check(
    world: &SimpleCommunicator,
    settings: &MpiSettings,
    end: &ThreadEnd,
) -> Result<(), MpiError> {
    let (agent, ranks) = (world.rank() as usize, world.size() as usize);
    let peers = || end.links.iter().map(|&(peer, _)| peer);
    let mut listed = vec![0u8; ranks];
    peers().filter(|&peer| peer < ranks).for_each(|peer| listed[peer] = 1);
    let mut listing = vec![0u8; ranks];
    world.all_to_all_into(&listed[..], &mut listing[..]);

    if settings.limits.agents as usize != ranks {
        return Err(MpiError::Ranks { agents: settings.limits.agents, ranks });
    }
    if let Some(neighbour) = peers().find(|&peer| peer >= ranks || peer == agent) {
        return Err(MpiError::Neighbour { agent, neighbour, agents: ranks });
    }
    match (0..ranks).find(|&other| listed[other] != listing[other]) {
        Some(other) if listed[other] == 1 => Err(MpiError::OneSided { one: agent, other }),
        Some(one) => Err(MpiError::OneSided { one, other: agent }),
        None => Ok(()),
    }
}

fn leave(universe: Universe) {
    wait_for_all(&universe.world());
    drop(universe); // MPI_Finalize
}

/// A barrier that uses no core while it waits, unlike MPI's own.
fn wait_for_all(communicator: &SimpleCommunicator) {
    let pace = Pace::new();
    let mut barrier = communicator.immediate_barrier();
    while let Err(pending) = barrier.test() {
        barrier = pending;
        pace.nap(false).map_or_else(thread::yield_now, thread::sleep);
    }
}
