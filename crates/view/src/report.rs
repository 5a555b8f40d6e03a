//! The report of a run: one HTML page without network access, scripts or fonts.
//!
//! ```text
//!   title, provenance        when the run was made, from which commit, with which command
//!   warnings                 diverged and collapsed seeds and the warnings of the analysis, before
//!                            all results
//!   results                  table of methods, mean ± std, the best in bold; every seed below it;
//!                            separate columns for the averaged model and the agents' own models
//!   curves                   as SVG in the page; a method has the same colour everywhere
//!   data, network            heat map of the partition, picture of the graph
//!   set-up                   the complete configuration
//! ```
//!
//! The page follows the light or dark setting of the reader. Figures keep a white background, for
//! which their colours were chosen. All text is escaped: the name of a method is never markup.

use crate::canvas::escaped;
use crate::chart::{ChartStyle, chart_svg};
use crate::error::ViewError;
use crate::heat_map::{HeatMap, HeatMapStyle, heat_map_svg};
use crate::network::{NetworkPicture, NetworkStyle, network_svg};
use crate::palette::{Look, looks};
use crate::picture::Picture;
use consort_records::table_text::{OWN_NOTE, cells, headings, score_text};
use consort_records::{CurveSet, MethodTable, Quality, TrialSummary};
use std::fmt::Write;

const STYLE: &str = include_str!("report/report.css");

/// The contents of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportData {
    /// The heading.
    pub title: String,
    /// Where the results come from.
    pub provenance: ReportProvenance,
    /// The result of every trial. Diverged and collapsed trials are also listed in the warnings.
    pub trials: Vec<TrialSummary>,
    /// Other warnings, for example the verdicts of the analysis.
    pub warnings: Vec<String>,
    /// The curves in the order of the page.
    pub plots: Vec<CurveSet>,
    /// The distribution of the data over the agents.
    pub partition: Option<HeatMap>,
    /// The graph.
    pub network: Option<NetworkPicture>,
    /// A summary of the set-up: names and values.
    pub setup: Vec<(String, String)>,
    /// The complete configuration, verbatim; may be empty.
    pub config: String,
}

/// Where results come from. Empty texts are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportProvenance {
    /// The command.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The commit of the program.
    pub commit: String,
    /// When the run started, as text.
    pub date: String,
    /// The machine.
    pub machine: String,
}

/// The report as one HTML page.
///
/// A figure without data (for example because every seed diverged at once) is replaced by a
/// sentence.
///
/// # Errors
/// If the numbers of a curve, a partition or a network do not match.
pub fn report_html(data: &ReportData) -> Result<String, ViewError> {
    let mut page = Page::default();
    page.provenance(data);
    page.warnings(data);
    page.results(&data.trials);
    page.curves(&data.plots)?;
    page.scene(data)?;
    page.setup(data);
    let (title, body) = (escaped(&data.title), page.body);
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    ))
}

/// The page under construction. Writing to a `String` cannot fail, so its results are ignored.
#[derive(Default)]
struct Page {
    body: String,
    pictures: usize,
}

impl Page {
    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escaped(text));
    }

    fn provenance(&mut self, data: &ReportData) {
        let _ = writeln!(self.body, "<header>\n<h1>{}</h1>", escaped(&data.title));
        let from = &data.provenance;
        let lines = [
            ("Date", &from.date),
            ("Command", &from.command),
            ("Version", &from.version),
            ("Commit", &from.commit),
            ("Machine", &from.machine),
        ];
        if lines.iter().any(|(_, text)| !text.is_empty()) {
            self.body.push_str("<dl>\n");
            for (name, text) in lines.into_iter().filter(|(_, text)| !text.is_empty()) {
                let text = escaped(text);
                let text = match name {
                    "Command" | "Commit" => format!("<code>{text}</code>"),
                    _ => text,
                };
                let _ = writeln!(self.body, "<dt>{name}</dt><dd>{text}</dd>");
            }
            self.body.push_str("</dl>\n");
        }
        self.body.push_str("</header>\n");
    }

    fn warnings(&mut self, data: &ReportData) {
        let lost = data.trials.iter().filter_map(|trial| {
            let (word, reason) = match (&trial.diverged, &trial.collapsed) {
                (Some(reason), _) => ("diverged", reason),
                (None, Some(how)) => ("collapsed", how),
                (None, None) => return None,
            };
            Some(format!("{}, seed {}, {word}: {reason}", trial.shown_label(), trial.seed))
        });
        let all: Vec<String> = data.warnings.iter().cloned().chain(lost).collect();
        if all.is_empty() {
            return;
        }
        self.heading("Warnings");
        self.body.push_str("<ul class=\"warnings\">\n");
        for warning in all {
            let _ = writeln!(self.body, "<li>{}</li>", escaped(&warning));
        }
        self.body.push_str("</ul>\n");
    }

    fn results(&mut self, trials: &[TrialSummary]) {
        if trials.is_empty() {
            return;
        }
        self.heading("Results");
        let table = MethodTable::new(trials);
        let methods: Vec<&str> = table.rows.iter().map(|row| row.look.as_str()).collect();
        let looks = looks(&methods);
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let mut cells: Vec<String> =
                    cells(&table, row).iter().map(|cell| escaped(cell)).collect();
                cells[0] = format!("{}{}", swatch(looks[i]), cells[0]);
                if table.is_best(i) {
                    cells[1] = format!("<strong>{}</strong>", cells[1]);
                }
                cells
            })
            .collect();
        self.table("methods", &headings(&table), &rows);
        let several = table.rows.iter().any(|row| row.seeds > 1);
        let lost = table.rows.iter().any(|row| row.diverged > 0);
        let collapsed = table.rows.iter().any(|row| row.collapsed > 0);
        let (regressions, classifications) = table.tasks();
        let measure = match (regressions, classifications) {
            (true, false) => "R²",
            (true, true) => "Accuracy or R²",
            (false, _) => "Accuracy",
        };
        let mut note = format!(
            "{measure} and loss of the averaged model on the test set, and the consensus distance, \
             at the last evaluation. "
        );
        if regressions {
            note.push_str(
                "R² is 1 for a perfect prediction and 0 for the mean of the targets. RMSE, the root \
                 mean squared error, is in the unit of the target; the loss is its square with the \
                 target scaled to a standard deviation of 1. ",
            );
        }
        if table.shows_own() {
            note.push_str(OWN_NOTE);
            note.push(' ');
        }
        if table.rows.iter().any(|row| row.score().n > 0 && row.best_score().n == 0) {
            note.push_str(
                "\"Its best\" is missing if the averaged model was measured only at the end. ",
            );
        }
        if several {
            note.push_str("Mean ± sample standard deviation over the seeds. ");
        }
        if lost {
            note.push_str(
                "Diverged seeds are not in the means, and a method with a diverged seed is not \
                 marked as the best. ",
            );
        }
        if collapsed {
            note.push_str(
                "Collapsed seeds ended at chance level: they learned nothing. They are in the \
                 means. ",
            );
            if regressions {
                note.push_str("At chance level, a regression knows no more than the mean. ");
            }
        }
        if table.rows.len() > 1 {
            let highest = if classifications { "accuracy" } else { "R²" };
            let _ = write!(note, "Bold: the averaged model with the highest mean {highest}. ");
        }
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", note.trim_end());
        if several {
            self.seeds(trials, &table);
        }
    }

    /// One row per seed, in a section that is closed at first.
    fn seeds(&mut self, trials: &[TrialSummary], table: &MethodTable) {
        self.body.push_str("<details>\n<summary>All seeds</summary>\n");
        let all = headings(table);
        let [with_rmse, with_own] = [table.tasks().0, table.shows_own()];
        // Those of the models, between the method and the consensus distance.
        let measured = 4 + usize::from(with_rmse) + 2 * usize::from(with_own);
        let mut headings = vec!["Method", "Seed"];
        headings.extend(&all[1..measured]);
        headings.push("Outcome");
        let text = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let score = |quality: Option<Quality>| {
            quality.map_or("–".to_owned(), |quality| score_text(table, quality))
        };
        let row = |trial: &TrialSummary| {
            let mut cells = vec![
                escaped(trial.shown_label()),
                trial.seed.to_string(),
                score(trial.quality()),
                score(trial.best_quality()),
                text(trial.final_loss, 4),
                match (&trial.diverged, &trial.collapsed) {
                    (Some(_), _) => "diverged",
                    (None, Some(_)) => "collapsed",
                    (None, None) => "finished",
                }
                .to_owned(),
            ];
            if with_own {
                let loss = text(trial.agents_loss.map(|own| own.mean), 4);
                cells.splice(5..5, [score(trial.own_quality()), loss]);
            }
            if with_rmse {
                cells.insert(5, text(trial.final_rmse, 4));
            }
            cells
        };
        let rows: Vec<Vec<String>> = trials.iter().map(row).collect();
        self.table("plain", &headings, &rows);
        self.body.push_str("</details>\n");
    }

    /// A table whose cells are already escaped.
    fn table(&mut self, class: &str, headings: &[&str], rows: &[Vec<String>]) {
        let _ = writeln!(self.body, "<div class=\"wide\"><table class=\"{class}\">\n<thead><tr>");
        for heading in headings {
            let _ = write!(self.body, "<th scope=\"col\">{}</th>", escaped(heading));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            let _ = writeln!(self.body, "<tr><td>{}</td></tr>", row.join("</td><td>"));
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    fn curves(&mut self, plots: &[CurveSet]) -> Result<(), ViewError> {
        if plots.is_empty() {
            return Ok(());
        }
        self.heading("Curves");
        self.body.push_str("<div class=\"figures\">\n");
        for plot in plots {
            self.figure(chart_svg(plot, &ChartStyle::default()))?;
        }
        self.body.push_str("</div>\n");
        Ok(())
    }

    /// The partition of the data and the graph.
    fn scene(&mut self, data: &ReportData) -> Result<(), ViewError> {
        let heading = match (&data.partition, &data.network) {
            (None, None) => return Ok(()),
            (Some(_), None) => "Data",
            (None, Some(_)) => "Network",
            (Some(_), Some(_)) => "Data and network",
        };
        self.heading(heading);
        self.body.push_str("<div class=\"beside\">\n");
        if let Some(map) = &data.partition {
            self.figure(heat_map_svg(map, &HeatMapStyle::default()))?;
        }
        if let Some(network) = &data.network {
            self.figure(network_svg(network, &NetworkStyle::default()))?;
        }
        self.body.push_str("</div>\n");
        Ok(())
    }

    fn figure(&mut self, picture: Result<Picture, ViewError>) -> Result<(), ViewError> {
        match picture {
            Ok(picture) => {
                self.pictures += 1;
                let svg = picture.svg_in_page(&format!("figure{}-", self.pictures));
                let _ = writeln!(self.body, "<figure>\n{svg}</figure>");
            }
            Err(nothing @ ViewError::NothingToDraw { .. }) => {
                let _ =
                    writeln!(self.body, "<p class=\"note\">{}</p>", escaped(&nothing.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn setup(&mut self, data: &ReportData) {
        if data.setup.is_empty() && data.config.is_empty() {
            return;
        }
        self.heading("Set-up");
        if !data.setup.is_empty() {
            self.body.push_str("<dl>\n");
            for (name, value) in &data.setup {
                let (name, value) = (escaped(name), escaped(value));
                let _ = writeln!(self.body, "<dt>{name}</dt><dd>{value}</dd>");
            }
            self.body.push_str("</dl>\n");
        }
        if !data.config.is_empty() {
            // Line by line, because escaping turns a line break into a space.
            let lines: Vec<String> = data.config.lines().map(escaped).collect();
            let _ = writeln!(self.body, "<pre>{}</pre>", lines.join("\n"));
        }
    }
}

/// A sample of the line of a method, as in the legends.
fn swatch(look: Look) -> String {
    let (color, dash) = (look.color.hex(), look.dash);
    format!(
        "<svg width=\"24\" height=\"10\" viewBox=\"0 0 24 10\" aria-hidden=\"true\"><path \
         d=\"M1 5H23\" stroke=\"{color}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/></svg>"
    )
}
