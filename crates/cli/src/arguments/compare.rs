//! The flags of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use consort_records::table_columns::Column;
use consort_records::{Quantity, XAxis};

use super::TableFormat;
use super::figures::{ChartOptions, FigureOptions, PictureFiles};

#[derive(Debug, Args)]
#[command(
    after_help = "Without --out, --svg, --pdf or --png this writes no files. docs/figures.md has more examples.

Examples:
  consort compare runs/digits-ring-16 runs/digits-ring-16-2
  consort compare runs/a --format latex --columns method,accuracy,spread,bytes
  consort compare runs/a --target 0.85 --target 0.9       rounds, MB and seconds to 85 % and 90 %
  consort compare runs/a --against dsgd                   differences, paired by seed
  consort compare runs/a runs/b --out figures             all plots and tables
  consort compare runs/a --metric loss --along rounds --log-y --pdf loss.pdf
  consort compare runs/a --pdf accuracy.pdf --width 3.3in --no-title"
)]
pub(crate) struct CompareOptions {
    /// Folders of the runs
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Format of the table
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Columns of the table, in order, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN")]
    pub(crate) columns: Vec<ColumnName>,
    /// Accuracy of the averaged model, for example 0.85 or 85%: show what each method needs to
    /// reach it; repeat it for several
    #[arg(long = "target", value_name = "ACCURACY", value_parser = accuracy, allow_negative_numbers = true)]
    pub(crate) targets: Vec<f64>,
    /// Method that the others are tested against, paired by seed [default: the first]
    #[arg(long, value_name = "METHOD")]
    pub(crate) against: Option<String>,
    /// Folder for plots (SVG, PDF, PNG) and tables [default: write no files]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it is not empty
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// What plots show, separated by commas [default: all with --out, else accuracy]
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Pictures")]
    pub(crate) metric: Vec<Metric>,
    /// The x axis [default: epochs, with --out also bytes where methods differ in bytes]
    #[arg(long, value_enum, help_heading = "Pictures")]
    pub(crate) along: Option<Along>,
    #[command(flatten)]
    pub(crate) files: PictureFiles,
    #[command(flatten)]
    pub(crate) figure: FigureOptions,
    #[command(flatten)]
    pub(crate) chart: ChartOptions,
}

/// What a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metric {
    /// Test accuracy of the averaged model
    Accuracy,
    /// Test loss of the averaged model
    Loss,
    /// Loss on training data, mean over agents
    TrainLoss,
    /// Test accuracy of the agents' own models: their mean, and bands from the worst to the best
    AgentsAccuracy,
    /// Test loss of the agents' own models: their mean, and bands from the best to the worst
    AgentsLoss,
    /// Distance of the agents' models from their average
    Consensus,
    /// Root mean square of the agents' gradient norms
    GradientNorm,
}

impl Metric {
    /// The quantity, and whether its bands show the agents instead of the seeds.
    pub(crate) fn quantity(self) -> (Quantity, bool) {
        match self {
            Metric::Accuracy => (Quantity::TestAccuracy, false),
            Metric::Loss => (Quantity::TestLoss, false),
            Metric::TrainLoss => (Quantity::TrainLoss, false),
            Metric::AgentsAccuracy => (Quantity::AgentsAccuracy, true),
            Metric::AgentsLoss => (Quantity::AgentsLoss, true),
            Metric::Consensus => (Quantity::ConsensusDistance, false),
            Metric::GradientNorm => (Quantity::GradientNorm, false),
        }
    }
}

/// The x axis of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Along {
    /// Passes over the training data
    Epochs,
    /// Rounds of communication
    Rounds,
    /// Megabytes that one agent sent
    Bytes,
    /// Seconds of training
    Seconds,
}

impl From<Along> for XAxis {
    fn from(along: Along) -> Self {
        match along {
            Along::Epochs => XAxis::Epochs,
            Along::Rounds => XAxis::Rounds,
            Along::Bytes => XAxis::Megabytes,
            Along::Seconds => XAxis::Seconds,
        }
    }
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColumnName {
    /// Name of the method
    Method,
    /// Final test accuracy of the averaged model
    Accuracy,
    /// Best test accuracy of the averaged model
    Best,
    /// Final test loss of the averaged model
    Loss,
    /// Final root mean squared error of the averaged model, of a regression
    Rmse,
    /// Final accuracy of the averaged model on samples set apart for validation
    Validation,
    /// Final loss of the averaged model on samples set apart for validation
    ValidationLoss,
    /// Mean test accuracy of the agents' own models
    Agents,
    /// Mean test loss of the agents' own models
    AgentsLoss,
    /// What averaging the agents' models gains, in points of accuracy
    Gain,
    /// Test accuracy of the worst and of the best agent
    Spread,
    /// Distance of the agents' models from their average
    Consensus,
    /// Megabytes that one agent sent
    Bytes,
    /// Gradients that an agent takes in a round
    Gradients,
    /// Megabytes that an agent keeps
    Memory,
    /// Graphs that the method accepts
    Graphs,
    /// Seconds of training
    Seconds,
    /// Number of seeds, and what happened to them
    Seeds,
    /// Difference in accuracy to --against, paired by seed
    Difference,
    /// p of the exact sign-flip test of that difference
    P,
    /// p of the paired t-test of that difference
    #[value(name = "p-t")]
    PT,
    /// Rounds to each --target
    RoundsTo,
    /// Epochs to each --target
    EpochsTo,
    /// Megabytes that an agent sends until each --target
    BytesTo,
    /// Seconds to each --target
    SecondsTo,
}

impl ColumnName {
    /// The column, if it comes from the summaries alone.
    pub(crate) fn own(self) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.key() == self.key())
    }

    /// Its name, as typed.
    pub(crate) fn key(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Whether it needs a --target.
    pub(crate) fn needs_target(self) -> bool {
        use ColumnName::{BytesTo, EpochsTo, RoundsTo, SecondsTo};
        [RoundsTo, EpochsTo, BytesTo, SecondsTo].contains(&self)
    }
}

/// An accuracy from 0 to 1, or in percent with its sign.
fn accuracy(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    let value = number.parse::<f64>().map(|value| value / unit);
    match value {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        Ok(value) if value > 1.0 && value <= 100.0 => {
            Err(format!("expected an accuracy up to 1, or in percent: {text}%"))
        }
        _ => Err("expected an accuracy above 0 and up to 1, as in 0.85 or 85%".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn targets_are_shares_or_percent() {
        assert_eq!([accuracy("0.85").unwrap(), accuracy("85 %").unwrap()], [0.85, 0.85]);
        assert!(accuracy("85").unwrap_err().contains("85%"));
        for text in ["0", "-0.5", "nan", "much", "101%"] {
            assert!(accuracy(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_column_of_the_table_can_be_named() {
        let own: Vec<Column> =
            ColumnName::value_variants().iter().filter_map(|c| c.own()).collect();
        assert_eq!(own, Column::ALL);
    }
}
