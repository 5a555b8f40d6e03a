//! Follows all agents of a launch to their end: what is done about one that dies.
//!
//! ```text
//!   ended with     what is done
//!   0              it has finished
//!   130            it was stopped, and saved
//!   2, 3           wrong input, or it diverged: it would end so again. All stop if they need it
//!   anything else  it is started again, after a pause that doubles each time, so many times; then
//!                  the command to go on is printed, and the others do what the policy says
//! ```
//!
//! An agent that fails tells its neighbours, and under `wait` they end with its reason, and are started
//! again with it. One that is killed cannot: the others wait for it, whoever starts it again.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use consort_protocol::{LEFT_FOR_GOOD, Policy};

use super::children::{Children, Line};
use super::display::Display;
use super::report::Report;
use super::words::{agents, capital};

/// How long agents have to stop once they are told to.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// How often to check whether agents have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The pause before an agent is started again for the first time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The pause of an agent that ended because another failed, which may take a little longer to end.
const PAUSE_WITH_ANOTHER: Duration = Duration::from_secs(4);

/// Exit codes of an agent.
const DONE: i32 = 0;
const FAILED: i32 = 1;
const WRONG_INPUT: i32 = 2;
const DIVERGED: i32 = 3;
const STOPPED: i32 = 130;

/// How an agent ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// All rounds are over.
    Done,
    /// It was told to stop, and saved its state.
    Stopped,
    /// The numbers of its model grew beyond all bounds.
    Diverged(String),
    /// It died or failed, for this reason, and was not started again.
    Dead(String),
}

/// One agent.
enum State {
    Running,
    /// It died, and is started again then.
    Dead {
        until: Duration,
    },
    Ended(Outcome),
}

/// Follows the agents of a launch.
pub(crate) struct Supervision<'a> {
    children: Children,
    policy: Policy,
    /// How often an agent that dies is started again.
    restarts: u32,
    /// True once the user wants to stop.
    stop: &'a dyn Fn() -> bool,
    /// Called when an agent has evaluated its model.
    evaluated: &'a dyn Fn(),
    display: Display,
    started: Instant,
    states: Vec<State>,
    /// How often each agent has died.
    deaths: Vec<u32>,
    /// What each process wrote on its standard error.
    errors: Vec<Vec<String>>,
    /// Since when all agents have been told to stop.
    stopping: Option<Duration>,
}

impl<'a> Supervision<'a> {
    pub(crate) fn new(
        children: Children,
        policy: Policy,
        restarts: u32,
        stop: &'a dyn Fn() -> bool,
        evaluated: &'a dyn Fn(),
    ) -> Self {
        let agents = children.agents();
        Supervision {
            display: Display::new(agents),
            started: now(),
            states: (0..agents).map(|_| State::Dead { until: Duration::ZERO }).collect(),
            deaths: vec![0; agents],
            errors: vec![Vec::new(); agents],
            stopping: None,
            children,
            policy,
            restarts,
            stop,
            evaluated,
        }
    }

    /// Starts all agents, and follows them until all have ended for good.
    pub(crate) fn run(mut self) -> Vec<Outcome> {
        loop {
            self.start_those_due();
            let mut line = self.children.next_line(POLL_INTERVAL);
            while let Some((agent, what)) = line {
                self.heard(agent, what);
                line = self.children.next_line(Duration::ZERO);
            }
            self.look_for_ends();
            self.display.tick(self.now());
            let outcomes = self.states.iter().map(|state| match state {
                State::Ended(outcome) => Some(outcome.clone()),
                _ => None,
            });
            if let Some(outcomes) = outcomes.collect::<Option<Vec<_>>>() {
                self.display.close();
                return outcomes;
            }
            if (self.stop)() && self.stopping.is_none() {
                self.display.say(
                    "the agents finish their round and save; press Ctrl-C again to end at once",
                );
                self.stop_all();
            }
            if self.stopping.is_some_and(|since| self.now() > since + STOP_TIMEOUT) {
                self.children.kill();
            }
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn start_those_due(&mut self) {
        let now = self.now();
        for agent in 0..self.states.len() {
            if !matches!(self.states[agent], State::Dead { until } if until <= now) {
                continue;
            }
            self.errors[agent].clear();
            match self.children.start(agent) {
                Ok(()) => {
                    self.states[agent] = State::Running;
                    self.display.state(agent, None);
                }
                Err(error) => self.died(agent, &format!("cannot be started: {error}"), None),
            }
        }
    }

    fn heard(&mut self, agent: usize, line: Line) {
        match line {
            Line::Report(report) => {
                if matches!(report, Report::Evaluated { .. } | Report::Done { .. }) {
                    (self.evaluated)();
                }
                self.display.report(agent, report);
            }
            Line::Error(line) if line.starts_with("warning: ") => {
                self.display.say(&format!("agent {agent}: {line}"));
            }
            Line::Error(line) => self.errors[agent].push(line),
            Line::Last => {}
        }
    }

    fn look_for_ends(&mut self) {
        for agent in 0..self.states.len() {
            let Some(status) = self.children.ended(agent) else { continue };
            // Its last words have been sent by now.
            while let Some((agent, line)) = self.children.next_line(Duration::ZERO) {
                self.heard(agent, line);
            }
            match status {
                Ok(status) => self.ended(agent, status),
                Err(error) => self.died(agent, &format!("cannot be followed: {error}"), None),
            }
        }
    }

    /// The process of `agent` has ended.
    fn ended(&mut self, agent: usize, status: ExitStatus) {
        let words = self.errors[agent].join("\n");
        let words = words.trim_start_matches("error: ").to_string();
        let after =
            self.display.round(agent).map_or(String::new(), |k| format!(" after round {k}"));
        let how = match status.code() {
            Some(code) if words.is_empty() => format!("ended with exit code {code}{after}"),
            Some(code) => format!("ended with exit code {code}{after}: {words}"),
            // For example `signal: 9 (SIGKILL)`.
            None => {
                format!("was killed by {}{after}", status.to_string().replace("signal:", "signal"))
            }
        };
        match status.code() {
            Some(DONE) => self.states[agent] = State::Ended(Outcome::Done),
            Some(STOPPED) => self.stopped(agent),
            Some(WRONG_INPUT) => {
                self.states[agent] = State::Ended(Outcome::Dead(how));
                self.display.state(agent, Some("dead"));
                self.stop_all();
            }
            Some(DIVERGED) => {
                self.display.say(&format!("agent {agent} diverged: {words}"));
                self.states[agent] = State::Ended(Outcome::Diverged(words));
                self.display.state(agent, Some("diverged"));
                if self.policy == Policy::Wait {
                    self.stop_all();
                }
            }
            Some(FAILED) if words.contains(LEFT_FOR_GOOD) => self.ended_with_another(agent, &words),
            code => self.died(agent, &how, code),
        }
    }

    /// `agent` was stopped, by us or by itself.
    fn stopped(&mut self, agent: usize) {
        // A Ctrl-C in the terminal reaches all processes, in any order.
        std::thread::sleep(POLL_INTERVAL);
        self.states[agent] = State::Ended(Outcome::Stopped);
        if self.stopping.is_none() && !(self.stop)() {
            self.display.state(agent, Some("stopped"));
            self.display.say(&format!(
                "agent {agent} was stopped and has saved its state. {}",
                self.how_to_go_on(agent)
            ));
        }
    }

    /// `agent` ended because a neighbour failed, and starts again with it. That does not count: how
    /// often the neighbour is started is bounded.
    fn ended_with_another(&mut self, agent: usize, words: &str) {
        self.display.state(agent, Some("stopped"));
        if self.stopping.is_some() {
            self.states[agent] = State::Ended(Outcome::Stopped);
            return;
        }
        let why = words.split_once(':').map_or(words, |(why, _)| why);
        self.display.say(&format!("agent {agent} ends for now, because {why}"));
        self.states[agent] = State::Dead { until: self.now() + PAUSE_WITH_ANOTHER };
    }

    /// `agent` died: it is started again, or not.
    fn died(&mut self, agent: usize, how: &str, code: Option<i32>) {
        self.display.state(agent, Some("dead"));
        if self.stopping.is_some() {
            self.states[agent] = State::Ended(Outcome::Dead(how.to_string()));
            return;
        }
        self.deaths[agent] += 1;
        let deaths = self.deaths[agent];
        if deaths <= self.restarts {
            let doubled = FIRST_PAUSE.saturating_mul(1 << (deaths - 1).min(16));
            let pause = doubled.min(LONGEST_PAUSE);
            self.display.say(&format!(
                "agent {agent} {how}; starting it again in {} s (restart {deaths} of {})",
                pause.as_secs(),
                self.restarts
            ));
            self.states[agent] = State::Dead { until: self.now() + pause };
            return;
        }
        let bound = match self.restarts {
            0 => String::new(),
            1 => ", after 1 restart".to_string(),
            count => format!(", after {count} restarts"),
        };
        self.states[agent] = State::Ended(Outcome::Dead(how.to_string()));
        // One that failed has told its neighbours; under `wait` they cannot go on.
        if code == Some(FAILED) && self.policy == Policy::Wait {
            self.display.say(&format!("agent {agent} {how}{bound}; the others stop"));
            self.stop_all();
        } else {
            let go_on = self.how_to_go_on(agent);
            self.display.say(&format!("agent {agent} {how}{bound}. {go_on}"));
        }
    }

    /// What the others do without `agent`, and the command that brings it back.
    fn how_to_go_on(&self, agent: usize) -> String {
        let others: Vec<usize> = (0..self.states.len())
            .filter(|&other| !matches!(self.states[other], State::Ended(_)))
            .collect();
        let others = match (&others[..], self.policy) {
            ([], _) => "No other agent runs.".to_string(),
            ([_], Policy::Wait) => format!("{} waits for it.", capital(&agents(&others))),
            (_, Policy::Wait) => format!("{} wait for it.", capital(&agents(&others))),
            ([_], Policy::Continue) => {
                format!("{} continues without it.", capital(&agents(&others)))
            }
            (_, Policy::Continue) => format!("{} continue without it.", capital(&agents(&others))),
        };
        let command = self.children.commands().to_type(agent);
        format!("{others} To start it again, run this elsewhere:\n  {command}")
    }

    /// Tells all agents to save and stop, once.
    fn stop_all(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.stopping = Some(self.now());
        self.display.ending();
        self.children.ask_to_stop();
        for state in &mut self.states {
            if matches!(state, State::Dead { .. }) {
                *state = State::Ended(Outcome::Stopped); // its last checkpoint is there
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the clock of the launch")]
fn now() -> Instant {
    Instant::now()
}
