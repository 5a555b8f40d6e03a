//! What a launch shows of its agents: a table on a terminal, elsewhere a line every so often.

use std::time::Duration;

use consort_records::Quality;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::report::Report;
use super::words::{agents, who_waits};
use crate::failure::tell;

/// Time between two lines about the run if there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);
/// How long the same agents must have waited for the same before that is a line of its own.
const LONG_WAIT: Duration = Duration::from_secs(3);

/// All agents, as far as their reports tell.
pub(crate) struct Display {
    bars: MultiProgress,
    rows: Vec<Row>,
    /// When the last line about the run was written.
    last_line: Duration,
    /// Who waits for whom, and since when.
    waits: (String, Duration),
    /// The waits that the last line told.
    waits_told: String,
    /// All agents end: what they say of each other is no news.
    ending: bool,
}

struct Row {
    bar: ProgressBar,
    /// Rounds that are over, and all; none before the first round.
    rounds: Option<(u64, u64)>,
    /// For whom the agent waits.
    waits_for: Vec<usize>,
    /// How good its own model is.
    own: Option<Quality>,
    /// What it is if it does not run, such as `dead`.
    state: Option<&'static str>,
}

impl Display {
    pub(crate) fn new(agents: usize) -> Self {
        let bars = MultiProgress::new();
        let style = "{prefix:>9} [{bar:24}] {pos:>6}/{len:6} {msg}";
        let style = ProgressStyle::with_template(style)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let row = |agent: usize| {
            let bar = bars.add(ProgressBar::new(1).with_style(style.clone()));
            bar.set_prefix(format!("agent {agent}"));
            Row { bar, rounds: None, waits_for: Vec::new(), own: None, state: None }
        };
        Display {
            rows: (0..agents).map(row).collect(),
            bars,
            last_line: Duration::ZERO,
            waits: (String::new(), Duration::ZERO),
            waits_told: String::new(),
            ending: false,
        }
    }

    /// Writes a line, above the table if there is one.
    pub(crate) fn say(&self, text: &str) {
        if self.has_table() { drop(self.bars.println(text)) } else { tell(text) }
    }

    /// Shows what `agent` reports.
    pub(crate) fn report(&mut self, agent: usize, report: Report) {
        let row = &mut self.rows[agent];
        let shown = |own: Option<Quality>| {
            own.map_or(String::new(), |own| format!("  own {}", own.short()))
        };
        match report {
            Report::Round { round, rounds, loss, used, neighbours } => {
                row.rounds = Some((round, rounds));
                row.waits_for.clear();
                row.bar.set_length(rounds);
                row.bar.set_position(round);
                let own = shown(row.own);
                row.bar.set_message(format!("loss {loss:.3}{own}  {used}/{neighbours}"));
            }
            Report::Evaluated { own, .. } => row.own = own.quality(),
            Report::Waiting { awaited, absent, .. } => {
                row.waits_for = if awaited.is_empty() { absent } else { awaited };
                row.bar.set_message(match &row.waits_for[..] {
                    [] => "waiting".into(),
                    whom => format!("waiting for {}", agents(whom)),
                });
            }
            Report::Met { peer } => self.returned(peer),
            Report::Note { routine: true, .. } => {}
            Report::Note { text, .. } if !self.ending => {
                self.say(&format!("agent {agent}: {text}"))
            }
            Report::Note { .. } => {}
            Report::Done { own, seconds, .. } => {
                row.bar.set_message(format!("finished in {seconds:.1} s{}", shown(own.quality())));
                row.waits_for.clear();
            }
        }
    }

    /// `agent` does not run, but is `dead`, for example; or it runs again.
    pub(crate) fn state(&mut self, agent: usize, state: Option<&'static str>) {
        let row = &mut self.rows[agent];
        row.waits_for.clear();
        row.state = state;
        row.bar.set_message(state.unwrap_or("starting"));
    }

    /// A neighbour is connected to `agent`; if it did not run here, somebody started it elsewhere.
    fn returned(&mut self, agent: usize) {
        if let Some(row) = self.rows.get_mut(agent)
            && row.state.take().is_some()
        {
            row.bar.set_message("started elsewhere");
            if !self.has_table() {
                self.say(&format!("agent {agent} takes part again, started elsewhere"));
            }
        }
    }

    /// From now on the agents end.
    pub(crate) fn ending(&mut self) {
        self.ending = true;
    }

    /// Rounds of `agent` that are over, if it has had any in this launch.
    pub(crate) fn round(&self, agent: usize) -> Option<u64> {
        self.rows[agent].rounds.map(|(round, _)| round)
    }

    /// Writes the lines that are due, unless there is a table.
    pub(crate) fn tick(&mut self, now: Duration) {
        if self.has_table() || self.ending {
            return;
        }
        let waits: Vec<Vec<usize>> = self.rows.iter().map(|row| row.waits_for.clone()).collect();
        let waits = who_waits(&waits);
        if waits != self.waits.0 {
            self.waits = (waits, now);
        }
        let new_waits = now >= self.waits.1 + LONG_WAIT && self.waits.0 != self.waits_told;
        if new_waits {
            self.waits_told.clone_from(&self.waits.0);
        }
        if (new_waits && !self.waits_told.is_empty()) || now >= self.last_line + LINE_INTERVAL {
            self.last_line = now;
            tell(&self.line());
        }
    }

    /// The run in one line: `rounds 118 to 120 of 500; agent 2 is dead; agent 1 waits for agent 2`.
    fn line(&self) -> String {
        let rounds: Vec<(u64, u64)> = self.rows.iter().filter_map(|row| row.rounds).collect();
        let least = rounds.iter().map(|(round, _)| *round).min();
        let most = rounds.iter().max();
        let mut parts = vec![match (least, most) {
            (Some(least), Some((most, all))) if least < *most => {
                format!("rounds {least} to {most} of {all}")
            }
            (_, Some((most, all))) => format!("round {most} of {all}"),
            _ => "before the first round".to_string(),
        }];
        let own = self.rows.iter().map(|row| row.own).collect::<Option<Vec<Quality>>>();
        if let Some(mean) = own.and_then(|own| mean(&own)) {
            parts.push(format!("own models {} on average", mean.short()));
        }
        for (agent, row) in self.rows.iter().enumerate() {
            parts.extend(row.state.map(|state| format!("agent {agent} is {state}")));
        }
        parts.extend(Some(self.waits.0.clone()).filter(|waits| !waits.is_empty()));
        parts.join("; ")
    }

    /// Removes the table.
    pub(crate) fn close(&self) {
        let _ = self.bars.clear();
    }

    fn has_table(&self) -> bool {
        self.rows.first().is_some_and(|row| !row.bar.is_hidden())
    }
}

/// The mean over agents, whose models are all of the same kind.
fn mean(own: &[Quality]) -> Option<Quality> {
    let mean = own.iter().map(|own| own.value()).sum::<f64>() / own.len() as f64;
    own.first().map(|first| match first {
        Quality::Accuracy(_) => Quality::Accuracy(mean),
        Quality::R2(_) => Quality::R2(mean),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_tells_the_rounds_the_dead_and_who_waits_for_whom() {
        let mut display = Display::new(4);
        assert_eq!(display.line(), "before the first round");
        for (agent, round) in [(0, 119), (1, 118), (2, 118), (3, 118)] {
            let report = Report::Round { round, rounds: 500, loss: 1.0, used: 2, neighbours: 2 };
            display.report(agent, report);
        }
        for (agent, awaited) in [(0, vec![1, 3]), (1, vec![2]), (3, vec![2])] {
            display.report(agent, Report::Waiting { round: 118, awaited, absent: vec![] });
        }
        display.state(2, Some("dead"));
        display.tick(Duration::ZERO);
        assert_eq!(
            display.line(),
            "rounds 118 to 119 of 500; agent 2 is dead; agent 0 waits for agents 1 and 3; \
             agents 1 and 3 wait for agent 2"
        );
    }

    #[test]
    fn one_line_tells_the_mean_of_the_own_models_of_either_task() {
        let line = |own: [Quality; 2]| {
            let mut display = Display::new(2);
            for (agent, own) in own.into_iter().enumerate() {
                let own = own.into();
                let report = Report::Evaluated { round: 10, own, own_test_loss: 1.0 };
                display.report(agent, report);
            }
            display.line()
        };
        let told = "before the first round; own models";
        let accuracies = [Quality::Accuracy(0.5), Quality::Accuracy(0.75)];
        assert_eq!(line(accuracies), format!("{told} 62.5 % on average"));
        let r2 = [Quality::R2(-0.5), Quality::R2(0.75)];
        assert_eq!(line(r2), format!("{told} R² 0.125 on average"));
    }
}
