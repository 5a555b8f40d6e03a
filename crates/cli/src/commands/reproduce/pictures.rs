//! Pictures of the results in the ledger: tables with error bars, figures along the columns of a
//! table, accuracy over epochs.

use std::collections::BTreeSet;
use std::path::Path;

use consort_records::{Curve, CurveSet, Panel, Quantity};
use consort_reproduce::{Cell, Comparison, Experiment, Ledger, LedgerEntry};
use consort_view::{
    ChartStyle, ComparisonPlot, Estimate, MOST_TOGETHER, Picture, PlotGroup, PlotRow, TextAs,
    chart_svg, comparison_svg,
};

use super::consensus;
use crate::failure::{Blame, Failure};

/// Every picture of an experiment at one length, with the stem of its file name.
pub(super) fn draw_all(
    experiment: &Experiment,
    ledger: &Ledger,
    scale: f64,
) -> Result<Vec<(String, Picture)>, Failure> {
    let name = |what: &str| {
        let scaled = if scale == 1.0 { String::new() } else { format!("-scaled-{scale}") };
        format!("{}{what}{scaled}", experiment.name)
    };
    let mut pictures = Vec::new();
    if experiment.consensus.is_some() {
        let curves = consensus::curves(experiment, ledger)?;
        if !curves.panels.is_empty() {
            pictures.push((name(""), chart_svg(&curves, &ChartStyle::default()).or_work()?));
        }
        return Ok(pictures);
    }
    if let Some(table) = with_error_bars(experiment, ledger, scale)? {
        let picture = comparison_svg(&table, &ChartStyle::default()).or_work()?;
        pictures.push((name(""), picture));
    }
    let mut draw = |what: &str, curves: CurveSet, y_range| -> Result<(), Failure> {
        if !curves.panels.is_empty() {
            let style = ChartStyle { y_range, ..ChartStyle::default() };
            pictures.push((name(what), chart_svg(&curves, &style).or_work()?));
        }
        Ok(())
    };
    let cells = experiment.cells(scale).or_input()?;
    if experiment.figure.is_some() {
        draw("-accuracy", along_columns(experiment, &cells, ledger, scale), None)?;
    }
    for (what, over_epochs) in all_over_epochs(experiment, &cells, ledger, scale) {
        let late = after_the_start(&over_epochs);
        draw(&what, over_epochs, late)?;
    }
    Ok(pictures)
}

/// Accuracy over epochs, with the ends of the names of the pictures. With more methods than one legend
/// can keep apart, every column has a picture of its own, in which every curve has a panel.
fn all_over_epochs(
    experiment: &Experiment,
    cells: &[Cell],
    ledger: &Ledger,
    scale: f64,
) -> Vec<(String, CurveSet)> {
    let together = over_epochs(experiment, cells, ledger, scale);
    let curves = together.panels.iter().flat_map(|panel| &panel.curves);
    let labels: BTreeSet<&str> = curves.map(|curve| curve.label.as_str()).collect();
    if labels.len() <= MOST_TOGETHER {
        return vec![("-epochs".into(), together)];
    }
    let mut columns: Vec<&str> = Vec::new();
    for cell in cells {
        if !columns.contains(&cell.column.as_str()) {
            columns.push(&cell.column);
        }
    }
    let picture = |(k, column): (usize, &&str)| {
        let own: Vec<Cell> = cells.iter().filter(|cell| cell.column == *column).cloned().collect();
        let set = over_epochs(experiment, &own, ledger, scale);
        let curves: Vec<Curve> = set.panels.into_iter().flat_map(|panel| panel.curves).collect();
        let panel = Panel { title: String::new(), curves };
        let panels = if panel.curves.is_empty() { Vec::new() } else { vec![panel] };
        let title = match panel_title("", column).as_str() {
            "" => set.title,
            column => format!("{}, {column}", set.title),
        };
        let number = if columns.len() == 1 { String::new() } else { format!("-{}", k + 1) };
        (format!("-epochs{number}"), CurveSet { title, panels, ..set })
    };
    columns.iter().enumerate().map(picture).collect()
}

/// Writes a picture as SVG, PDF and PNG.
pub(super) fn write(folder: &Path, name: &str, picture: &Picture) -> Result<(), Failure> {
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    consort_records::folder::write_file(file("svg"), picture.svg()).or_work()?;
    let pdf = picture.pdf(TextAs::Text).or_work()?;
    consort_records::folder::write_file(file("pdf"), pdf).or_work()?;
    consort_records::folder::write_file(file("png"), picture.png(2.0).or_work()?).or_work()
}

fn titled(experiment: &Experiment, scale: f64) -> String {
    if scale == 1.0 {
        return experiment.title.clone();
    }
    format!("{} ({scale} of the paper's epochs)", experiment.title)
}

/// The paper's numbers beside ours, by block and column. Columns without results are left out.
/// `None` if the paper has no numbers.
fn with_error_bars(
    experiment: &Experiment,
    ledger: &Ledger,
    scale: f64,
) -> Result<Option<ComparisonPlot>, Failure> {
    let table = Comparison::new(experiment, ledger, scale).or_input()?;
    let mut groups: Vec<PlotGroup> = Vec::new();
    let found = |block: &str, column: &str| {
        let own = table.rows.iter().filter(|row| row.block == block && row.column == column);
        own.map(|row| row.ours.accuracy().n).sum::<usize>() > 0
    };
    for row in table.rows.iter().filter(|row| found(&row.block, &row.column)) {
        let title = panel_title(&row.block, &row.column);
        let ours = row.ours.accuracy();
        // A label has one colour, even if its mu differs between columns.
        let first = table.rows.iter().find(|other| other.label == row.label).unwrap_or(row);
        let lost = if ours.n == 0 && row.ours.diverged > 0 { ": diverged" } else { "" };
        let line = PlotRow {
            label: format!("{}{lost}", row.label),
            method: first.method.clone(),
            paper: row.paper.map(|(mean, std)| Estimate { mean, std: Some(std) }),
            ours: (ours.n > 0).then_some(Estimate { mean: ours.mean, std: ours.std }),
        };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(line),
            None => groups.push(PlotGroup { title, rows: vec![line] }),
        }
    }
    let published = groups.iter().flat_map(|group| &group.rows).any(|row| row.paper.is_some());
    Ok(published.then(|| ComparisonPlot {
        title: titled(experiment, scale),
        quantity: Quantity::TestAccuracy.label().into(),
        groups,
    }))
}

/// The title of a panel: block and column, if they are not empty.
fn panel_title(block: &str, column: &str) -> String {
    let words: Vec<&str> =
        [block, column].into_iter().filter(|word| !word.is_empty() && *word != "all").collect();
    words.join(", ")
}

/// Final accuracy along the columns, one curve per row.
fn along_columns(experiment: &Experiment, cells: &[Cell], ledger: &Ledger, scale: f64) -> CurveSet {
    let mut curves: Vec<Curve> = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for cell in cells {
        if !labels.contains(&cell.label.as_str()) {
            labels.push(&cell.label);
        }
    }
    for label in labels {
        let of_row: Vec<&Cell> = cells.iter().filter(|cell| cell.label == label).collect();
        let finished = |cell: &Cell| -> Vec<(u64, f64)> {
            let entries = ledger.seeds_of(&cell.trial(1));
            entries.iter().filter_map(|e| Some((e.seed, e.outcome.final_accuracy?))).collect()
        };
        // Only seeds that all columns have: a mean over changing seeds would jump.
        let found: Vec<(f64, Vec<(u64, f64)>)> = of_row
            .iter()
            .filter_map(|cell| Some((cell.x?, finished(cell))))
            .filter(|(_, seeds)| !seeds.is_empty())
            .collect();
        let Some((_, first)) = found.first() else { continue };
        let seeds: Vec<u64> = first
            .iter()
            .map(|(seed, _)| *seed)
            .filter(|seed| found.iter().all(|(_, all)| all.iter().any(|(s, _)| s == seed)))
            .collect();
        let run = |seed: &u64| -> Vec<f64> {
            let value = |all: &Vec<(u64, f64)>| {
                all.iter().find(|(s, _)| s == seed).map_or(f64::NAN, |(_, accuracy)| *accuracy)
            };
            found.iter().map(|(_, all)| value(all)).collect()
        };
        curves.push(Curve {
            method: of_row.first().map_or(String::new(), |cell| cell.method.clone()),
            label: label.to_string(),
            x: found.iter().map(|(x, _)| *x).collect(),
            runs: seeds.iter().map(run).collect(),
            seeds,
        });
    }
    let x_label = experiment.figure.as_ref().map_or(String::new(), |f| f.x_label.clone());
    let panels =
        if curves.is_empty() { Vec::new() } else { vec![Panel { title: String::new(), curves }] };
    CurveSet {
        title: titled(experiment, scale),
        x_label,
        y_label: Quantity::TestAccuracy.label().into(),
        log_y: false,
        panels,
    }
}

/// Accuracy over epochs: one panel per block and column, one curve per row.
fn over_epochs(experiment: &Experiment, cells: &[Cell], ledger: &Ledger, scale: f64) -> CurveSet {
    let mut panels: Vec<Panel> = Vec::new();
    for cell in cells {
        let entries = ledger.seeds_of(&cell.trial(1));
        if entries.is_empty() {
            continue;
        }
        let title = panel_title(&cell.block, &cell.column);
        let curve = curve_of(cell, look_of(cell, cells), &entries);
        match panels.iter_mut().find(|panel| panel.title == title) {
            Some(panel) => panel.curves.push(curve),
            None => panels.push(Panel { title, curves: vec![curve] }),
        }
    }
    CurveSet {
        title: titled(experiment, scale),
        x_label: "Epoch".into(),
        y_label: Quantity::TestAccuracy.label().into(),
        log_y: false,
        panels,
    }
}

/// The range of the values after the first tenth of the run, in multiples of five: with the rise
/// from chance level, later differences would not be visible. `None` if there are no such values.
fn after_the_start(set: &CurveSet) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let curves = || set.panels.iter().flat_map(|panel| &panel.curves);
    // The end of the longest curve; others may have diverged early.
    let end = curves().filter_map(|curve| curve.x.last()).copied().fold(0.0, f64::max);
    for curve in curves() {
        for run in &curve.runs {
            let late = curve.x.iter().zip(run).filter(|&(&x, y)| x >= 0.1 * end && y.is_finite());
            for (_, &y) in late {
                (low, high) = (low.min(y), high.max(y));
            }
        }
    }
    (low < high).then(|| (5.0 * (low / 5.0).floor(), 5.0 * (high / 5.0).ceil()))
}

/// The key of the look of a curve: the first method with this label (its mu may differ between
/// columns), and the label too if the same method has several labels.
fn look_of(cell: &Cell, all: &[Cell]) -> String {
    let first = all.iter().find(|other| other.label == cell.label).unwrap_or(cell);
    let shares = |other: &Cell| other.method == first.method && other.label != first.label;
    if all.iter().any(shares) {
        format!("{}:{}", first.method, first.label)
    } else {
        first.method.clone()
    }
}

fn curve_of(cell: &Cell, method: String, entries: &[&LedgerEntry]) -> Curve {
    let longest = entries.iter().max_by_key(|entry| entry.curve.x.len());
    let x: Vec<f64> = longest
        .map_or(Vec::new(), |entry| entry.curve.x.iter().map(|x| x.unwrap_or(f64::NAN)).collect());
    let run = |entry: &&LedgerEntry| -> Vec<f64> {
        let mut run: Vec<f64> =
            entry.curve.accuracy.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        run.resize(x.len(), f64::NAN);
        run
    };
    Curve {
        method,
        label: cell.label.clone(),
        runs: entries.iter().map(run).collect(),
        seeds: entries.iter().map(|entry| entry.seed).collect(),
        x,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// With 45 methods in 9 blocks, one legend below 18 panels could not be read.
    #[test]
    fn many_methods_have_a_picture_for_each_column_and_a_panel_for_each_curve() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        let some = Ledger::open(results).unwrap().iter().next().unwrap().clone();
        let temp = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(temp.path()).unwrap();
        let experiment = consort_reproduce::experiment("all-methods").unwrap();
        for cell in experiment.cells(1.0).unwrap() {
            let settings = cell.trial(1).settings().to_vec();
            ledger.add(LedgerEntry { settings, seed: 1, ..some.clone() }).unwrap();
        }
        let pictures = draw_all(&experiment, &ledger, 1.0).unwrap();
        let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["all-methods-epochs-1", "all-methods-epochs-2"]);
        for ((_, picture), alpha) in pictures.iter().zip(["alpha = 0.1", "alpha = 0.01"]) {
            let svg = picture.svg();
            assert!(svg.contains("Grey: all other curves.") && svg.contains(alpha));
            assert!(svg.contains(">RelaySGDm-N<") && svg.contains(">Local SGD<"));
        }
    }
}
