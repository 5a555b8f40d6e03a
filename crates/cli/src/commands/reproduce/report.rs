//! `--report`: writes the generated part of RESULTS.md and its tables and plots. They depend only
//! on the ledger, so a test can check that they are up to date.

mod ordering;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use consort_records::folder::write_file;
use consort_reproduce::{Comparison, Experiment, Ledger, experiments, to_latex, to_markdown};

use super::{consensus, pictures};
use crate::arguments::ComparisonFormat;
use crate::failure::{Blame, Failure, tell};

const RESULTS: &str = "RESULTS.md";
const FOLDER: &str = "docs/results";
const BEGIN: &str = "<!-- from the ledger: begin -->";
const END: &str = "<!-- from the ledger: end -->";

/// A generated file.
struct Wanted {
    path: PathBuf,
    bytes: Vec<u8>,
}

pub(super) fn run(ledger: &Ledger, check: bool) -> Result<(), Failure> {
    let old = fs::read_to_string(RESULTS).map_err(|error| {
        Failure::input(format!(
            "cannot read {RESULTS}: {error}; run --report in the root of the repository"
        ))
    })?;
    let (before, after) = around(&old)
        .ok_or_else(|| Failure::input(format!("{RESULTS} has no lines `{BEGIN}` and `{END}`")))?;
    let mut wanted = Vec::new();
    let body = body(ledger, &mut wanted)?;
    let text = format!("{before}{BEGIN}\n\n{body}\n{END}{after}");
    wanted.push(Wanted { path: RESULTS.into(), bytes: text.into_bytes() });
    if check {
        return compare(&wanted);
    }
    fs::create_dir_all(FOLDER).or_work()?;
    for path in left_over(&wanted)? {
        fs::remove_file(path).or_work()?;
    }
    for file in &wanted {
        write_file(&file.path, &file.bytes).or_work()?;
    }
    tell(&format!("wrote {RESULTS} and {} files in {FOLDER}", wanted.len() - 1));
    Ok(())
}

fn around(text: &str) -> Option<(&str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after))
}

fn compare(wanted: &[Wanted]) -> Result<(), Failure> {
    // PNG files may differ by rounding between machines; SVG files must not.
    let text = |file: &&Wanted| file.path.extension().is_none_or(|ending| ending != "png");
    for file in wanted.iter().filter(text) {
        if fs::read(&file.path).ok().as_deref() != Some(&file.bytes[..]) {
            return Err(Failure::Work(anyhow::anyhow!(
                "{} does not match the ledger; run: consort reproduce --report",
                file.path.display()
            )));
        }
    }
    if let Some(path) = left_over(wanted)?.first() {
        return Err(Failure::Work(anyhow::anyhow!(
            "{} is from an older ledger; run: consort reproduce --report",
            path.display()
        )));
    }
    tell(&format!("{RESULTS} and {FOLDER} are up to date"));
    Ok(())
}

/// Files in the folder that are no longer generated. The folder has only generated files.
fn left_over(wanted: &[Wanted]) -> Result<Vec<PathBuf>, Failure> {
    if !Path::new(FOLDER).exists() {
        return Ok(Vec::new());
    }
    let files = fs::read_dir(FOLDER).or_work()?.map(|file| file.map(|file| file.path()));
    let files = files.collect::<Result<Vec<PathBuf>, _>>().or_work()?;
    Ok(files.into_iter().filter(|path| wanted.iter().all(|file| file.path != *path)).collect())
}

/// The generated part of RESULTS.md. Adds the files that it shows to `wanted`.
fn body(ledger: &Ledger, wanted: &mut Vec<Wanted>) -> Result<String, Failure> {
    let experiments = experiments().or_work()?;
    let mut text = headline(&experiments, ledger)?;
    let shown = worth_showing(&experiments, ledger)?;
    for (experiment, shown) in experiments.iter().zip(shown) {
        for scale in shown {
            section(experiment, ledger, scale, &mut text, wanted)?;
        }
    }
    Ok(text)
}

/// The lengths at which each experiment has a section: where the ledger has trials that no larger
/// section shows. Tables share trials, and a part of a table that is already there says nothing
/// new.
fn worth_showing(experiments: &[Experiment], ledger: &Ledger) -> Result<Vec<Vec<f64>>, Failure> {
    let mut shown = vec![Vec::new(); experiments.len()];
    for scale in scales(ledger) {
        let mut trials: Vec<BTreeSet<(String, u64)>> = Vec::new();
        for experiment in experiments {
            let cells = experiment.cells(scale).or_work()?;
            let entries = cells.iter().flat_map(|cell| ledger.seeds_of(&cell.trial(1)));
            trials.push(entries.map(|entry| (entry.hash.clone(), entry.seed)).collect());
        }
        for (k, own) in trials.iter().enumerate() {
            let covers = |(other, all): (usize, &BTreeSet<_>)| {
                other != k && own.is_subset(all) && (all.len() > own.len() || other < k)
            };
            let is_figure = experiments[k].consensus.is_some();
            if is_figure || !own.is_empty() && !trials.iter().enumerate().any(covers) {
                shown[k].push(scale);
            }
        }
    }
    Ok(shown)
}

/// The lengths in the ledger, the full length first.
fn scales(ledger: &Ledger) -> Vec<f64> {
    let mut scales: Vec<f64> = ledger.iter().map(|entry| entry.scale).collect();
    scales.sort_by(|a, b| b.total_cmp(a));
    scales.dedup();
    scales
}

/// The paper's numbers and ours at full length.
fn headline(experiments: &[Experiment], ledger: &Ledger) -> Result<String, Failure> {
    let mut rows = String::new();
    let (mut near, mut all) = (0, 0);
    let mut tables = Vec::new();
    for name in ["table-3", "table-1", "table-2"] {
        let Some(experiment) = experiments.iter().find(|e| e.name == name) else { continue };
        tables.push(Comparison::new(experiment, ledger, 1.0).or_work()?);
    }
    for table in &tables {
        for row in &table.rows {
            let (Some((mean, std)), Some(within)) = (row.paper, row.within_two_std()) else {
                continue;
            };
            all += 1;
            near += usize::from(within);
            let ours = row.ours.accuracy();
            let spread = ours.std.map_or(String::new(), |std| format!(" ± {std:.2}"));
            let column = if row.column == "all" { "" } else { &row.column };
            let _ = writeln!(
                rows,
                "| {} | {column} | {} | {mean:.2} ± {std:.2} | {:.2}{spread} | {} | {} |",
                row.block,
                row.label,
                ours.mean,
                ours.n,
                if within { "yes" } else { "**no**" },
            );
        }
    }
    Ok(format!(
        "## The paper's numbers and ours\n\nTest accuracy of the averaged model in %, with the paper's \
         number of epochs; mean ± sample standard deviation over the seeds. {near} of {all} means \
         are within two of the paper's standard deviations. `consort reproduce --report` writes \
         this part of the file from the {} trials in [results/](results); `consort reproduce \
         --verify 3` runs three of them again and compares the bits.\n\n\
         | what | data | method | paper | ours | seeds | within 2 std |\n\
         |---|---|---|---|---|---|---|\n{rows}{}",
        ledger.iter().len(),
        ordering::text(&tables)
    ))
}

fn section(
    experiment: &Experiment,
    ledger: &Ledger,
    scale: f64,
    text: &mut String,
    wanted: &mut Vec<Wanted>,
) -> Result<(), Failure> {
    let comparison = Comparison::new(experiment, ledger, scale).or_work()?;
    let figure = experiment.consensus.is_some();
    if !(comparison.has_results() || figure && scale == 1.0) {
        return Ok(());
    }
    let length = if figure { "the paper's dimensions".into() } else { comparison.length() };
    let Experiment { name, title, paper, about, .. } = experiment;
    let flag = if scale == 1.0 { String::new() } else { format!(" --scale {scale}") };
    let _ = write!(text, "\n## {title} ({paper}; {length})\n\n{about} ");
    let _ = write!(text, "Command: `consort reproduce {name}{flag}`.");
    let commits = commits(&comparison);
    if !commits.is_empty() {
        let _ = write!(text, " Commits: {commits}. The number of seeds is in brackets.");
    }
    text.push_str("\n\n");
    if figure {
        text.push_str(&consensus::text(experiment, ledger, ComparisonFormat::Markdown));
    } else {
        text.push_str(&to_markdown(&comparison));
        let scaled = if scale == 1.0 { String::new() } else { format!("-scaled-{scale}") };
        wanted.push(Wanted {
            path: Path::new(FOLDER).join(format!("{name}{scaled}.tex")),
            bytes: to_latex(&comparison).into_bytes(),
        });
    }
    for (stem, picture) in pictures::draw_all(experiment, ledger, scale)? {
        let file = |ending: &str| Path::new(FOLDER).join(format!("{stem}.{ending}"));
        let _ = write!(text, "\n![{title}]({FOLDER}/{stem}.png)\n");
        wanted.push(Wanted { path: file("svg"), bytes: picture.svg().as_bytes().to_vec() });
        wanted.push(Wanted { path: file("png"), bytes: picture.png(2.0).or_work()? });
    }
    Ok(())
}

fn commits(comparison: &Comparison) -> String {
    let mut all: Vec<&str> = Vec::new();
    for commit in comparison.rows.iter().flat_map(|row| &row.ours.commits) {
        if !all.contains(&commit.as_str()) {
            all.push(commit);
        }
    }
    all.join(", ")
}
