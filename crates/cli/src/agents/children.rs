//! The processes of all agents: started, read, told to stop, killed.
//!
//! The standard input of an agent is open as long as it is to run. If this process ends, however it
//! ends, the system closes it, and the agent saves and stops.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::commands::AgentCommands;
use super::report::Report;

/// The agents of one plan.
pub(crate) struct Children {
    commands: AgentCommands,
    running: Running,
    stdins: Vec<Option<ChildStdin>>,
    readers: Vec<Vec<JoinHandle<()>>>,
    sender: Sender<(usize, Line)>,
    lines: Receiver<(usize, Line)>,
}

/// The processes that have not ended, as far as we know.
#[derive(Clone)]
pub(crate) struct Running(Arc<Mutex<Vec<Option<Child>>>>);

/// What an agent wrote.
pub(crate) enum Line {
    /// A line on its standard output.
    Report(Report),
    /// A line on its standard error.
    Error(String),
    /// Its standard output is closed: it ends.
    Last,
}

impl Running {
    /// Ends all of them at once.
    pub(crate) fn kill(&self) {
        for child in self.lock().iter_mut().flatten() {
            // Fails only if the process has just ended.
            let _ = child.kill();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Child>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Children {
    /// So many agents, none of which runs yet.
    pub(crate) fn new(commands: AgentCommands, agents: usize) -> Self {
        let (sender, lines) = mpsc::channel();
        let running = Running(Arc::new(Mutex::new((0..agents).map(|_| None).collect())));
        let stdins = (0..agents).map(|_| None).collect();
        let readers = (0..agents).map(|_| Vec::new()).collect();
        Children { commands, running, stdins, readers, sender, lines }
    }

    /// How many agents there are.
    pub(crate) fn agents(&self) -> usize {
        self.stdins.len()
    }

    /// How they are started.
    pub(crate) fn commands(&self) -> &AgentCommands {
        &self.commands
    }

    /// What another thread needs to end them all.
    pub(crate) fn running(&self) -> Running {
        self.running.clone()
    }

    /// Starts the process of `agent`.
    pub(crate) fn start(&mut self, agent: usize) -> std::io::Result<()> {
        let mut child = self.commands.child(agent).spawn()?;
        self.stdins[agent] = child.stdin.take();
        let (reports, errors) = (child.stdout.take(), child.stderr.take());
        let to_report = |line: String| serde_json::from_str(&line).ok().map(Line::Report);
        let reports = reports.map(|output| self.read(agent, output, to_report, true));
        let errors = errors.map(|output| self.read(agent, output, |s| Some(Line::Error(s)), false));
        self.readers[agent] = reports.into_iter().chain(errors).collect();
        self.running.lock()[agent] = Some(child);
        Ok(())
    }

    /// Passes on the lines of one output of `agent`, up to its end.
    fn read(
        &self,
        agent: usize,
        output: impl Read + Send + 'static,
        line: impl Fn(String) -> Option<Line> + Send + 'static,
        says_last: bool,
    ) -> JoinHandle<()> {
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok).filter_map(line);
            for line in lines.chain(says_last.then_some(Line::Last)) {
                let _ = sender.send((agent, line));
            }
        })
    }

    /// The next line that an agent wrote, if there is one within this time.
    pub(crate) fn next_line(&self, timeout: Duration) -> Option<(usize, Line)> {
        self.lines.recv_timeout(timeout).ok()
    }

    /// How the process of `agent` has ended, once; all its lines are there to be read then.
    pub(crate) fn ended(&mut self, agent: usize) -> Option<std::io::Result<ExitStatus>> {
        let mut running = self.running.lock();
        let ended = running[agent].as_mut()?.try_wait().transpose()?;
        running[agent] = None;
        drop(running);
        self.stdins[agent] = None;
        for reader in self.readers[agent].drain(..) {
            let _ = reader.join();
        }
        Some(ended)
    }

    /// Tells all of them to save and stop.
    pub(crate) fn ask_to_stop(&mut self) {
        self.stdins.iter_mut().for_each(|stdin| *stdin = None);
    }

    /// Ends all of them at once.
    pub(crate) fn kill(&self) {
        self.running.kill();
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.kill();
    }
}
