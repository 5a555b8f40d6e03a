//! All agents of a plan as processes of this machine, shown in one table.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use consort_records::Quality;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::report::Report;
use crate::failure::{Failure, tell};

/// How long agents have to stop once they are told to.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// How often to check whether agents have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// One agent's process.
struct Process {
    child: Child,
    /// The agent runs as long as this is open.
    stdin: Option<ChildStdin>,
    bar: ProgressBar,
    /// How good its own model is.
    own: Option<Quality>,
    ended: Option<Outcome>,
}

/// How an agent's process ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// All rounds are over.
    Done,
    /// It was told to stop, and saved its state.
    Stopped,
    /// It failed, with this message.
    Failed(String),
}

/// The agents of one plan.
pub(crate) struct Children {
    processes: Vec<Process>,
    reports: Receiver<(usize, Line)>,
    bars: MultiProgress,
}

enum Line {
    Report(Report),
    /// A line on its standard error.
    Error(String),
}

impl Children {
    /// Starts one process per agent, each with its own `arguments`.
    pub(crate) fn start(
        program: &Path,
        arguments: impl Fn(usize) -> Vec<PathBuf>,
        agents: usize,
    ) -> Result<Self, Failure> {
        let (sender, reports) = mpsc::channel();
        let bars = MultiProgress::new();
        let style = "{prefix:>9} [{bar:24}] {pos:>6}/{len:6} {msg}";
        let style = ProgressStyle::with_template(style)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let mut children = Children { processes: Vec::new(), reports, bars };
        for agent in 0..agents {
            let mut command = Command::new(program);
            command.args(arguments(agent)).stdin(Stdio::piped());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().map_err(|error| {
                Failure::Work(anyhow::anyhow!("cannot start agent {agent}: {error}"))
            })?;
            let bar = children.bars.add(ProgressBar::new(1).with_style(style.clone()));
            bar.set_prefix(format!("agent {agent}"));
            if let Some(output) = child.stdout.take() {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    for line in BufReader::new(output).lines().map_while(Result::ok) {
                        if let Ok(report) = serde_json::from_str(&line) {
                            let _ = sender.send((agent, Line::Report(report)));
                        }
                    }
                });
            }
            if let Some(output) = child.stderr.take() {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    for line in BufReader::new(output).lines().map_while(Result::ok) {
                        let _ = sender.send((agent, Line::Error(line)));
                    }
                });
            }
            let stdin = child.stdin.take();
            let (own, ended) = (None, None);
            children.processes.push(Process { child, stdin, bar, own, ended });
        }
        Ok(children)
    }

    /// Follows all agents until they end. If one fails, or if `stop` returns true, stops all.
    pub(crate) fn follow(mut self, stop: impl Fn() -> bool) -> Vec<Outcome> {
        let mut errors: Vec<Vec<String>> = vec![Vec::new(); self.processes.len()];
        let mut stopping: Option<Duration> = None;
        loop {
            match self.reports.recv_timeout(POLL_INTERVAL) {
                Ok((agent, Line::Report(report))) => self.show(agent, report),
                Ok((agent, Line::Error(line))) => errors[agent].push(line),
                Err(RecvTimeoutError::Timeout) => {
                    stopping = stopping.map(|waited| waited + POLL_INTERVAL)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(POLL_INTERVAL);
                    stopping = stopping.map(|waited| waited + POLL_INTERVAL);
                }
            }
            self.check_for_ends(&errors);
            let ended = |process: &Process| process.ended.clone();
            if let Some(outcomes) = self.processes.iter().map(ended).collect() {
                let _ = self.bars.clear();
                return outcomes;
            }
            let failed = self.processes.iter().any(|p| matches!(p.ended, Some(Outcome::Failed(_))));
            if stopping.is_none() && (failed || stop()) {
                // The end of its standard input tells an agent to save and stop.
                self.processes.iter_mut().for_each(|process| process.stdin = None);
                stopping = Some(Duration::ZERO);
            }
            if stopping.is_some_and(|waited| waited > STOP_TIMEOUT) {
                self.kill();
            }
        }
    }

    fn show(&mut self, agent: usize, report: Report) {
        let process = &mut self.processes[agent];
        let shown = |own: Option<Quality>| {
            own.map_or(String::new(), |own| format!("  own {}", own.short()))
        };
        match report {
            Report::Round { round, rounds, loss, used, neighbours } => {
                process.bar.set_length(rounds);
                process.bar.set_position(round);
                let own = shown(process.own);
                process.bar.set_message(format!("loss {loss:.3}{own}  {used}/{neighbours}"));
            }
            Report::Evaluated { own, .. } => process.own = own.quality(),
            Report::Waiting { awaited, .. } if !awaited.is_empty() => {
                process.bar.set_message(format!("waiting for agents {awaited:?}"));
            }
            Report::Waiting { .. } => process.bar.set_message("waiting"),
            Report::Note { text } => {
                let line = format!("agent {agent}: {text}");
                if process.bar.is_hidden() { tell(&line) } else { drop(self.bars.println(line)) }
            }
            Report::Done { own, seconds, .. } => {
                let own = shown(own.quality());
                process.bar.set_message(format!("done {seconds:.1} s{own}"));
            }
        }
    }

    fn check_for_ends(&mut self, errors: &[Vec<String>]) {
        for (process, errors) in self.processes.iter_mut().zip(errors) {
            if process.ended.is_some() {
                continue;
            }
            process.ended = match process.child.try_wait() {
                Ok(None) => None,
                Ok(Some(status)) => Some(match status.code() {
                    Some(0) => Outcome::Done,
                    Some(130) => Outcome::Stopped,
                    _ if errors.is_empty() => Outcome::Failed(format!("ended with {status}")),
                    _ => Outcome::Failed(errors.join("\n")),
                }),
                Err(error) => Some(Outcome::Failed(error.to_string())),
            };
        }
    }

    fn kill(&mut self) {
        for process in self.processes.iter_mut().filter(|process| process.ended.is_none()) {
            // Fails only if the process has just ended, which the next check finds.
            let _ = process.child.kill();
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.kill();
    }
}
