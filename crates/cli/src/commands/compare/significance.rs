//! The differences between methods, paired by seed, and what they show.

use consort_records::significance::{PairedTest, least_p};
use consort_records::table_columns::ExtraColumn;
use consort_records::{MethodTable, TrialSummary};

use crate::failure::Failure;
use crate::table;
use crate::training::Trials;

/// Every method against one of them.
pub(super) struct Tests {
    /// The name of the method that the others are compared with.
    against: String,
    /// Name and test of every row; `None` for the method itself, for other data, and where nothing
    /// can be compared.
    rows: Vec<(String, Option<PairedTest>)>,
}

impl Tests {
    /// `None` if no two methods have results on two common seeds.
    ///
    /// # Errors
    /// If no row is called `against`.
    pub(super) fn new(
        trials: &Trials,
        table: &MethodTable,
        against: Option<&str>,
    ) -> Result<Option<Self>, Failure> {
        let summaries = trials.summaries();
        let base = match against {
            None => 0,
            Some(name) => {
                let called = |own: &str| own.eq_ignore_ascii_case(name);
                let found = table.rows.iter().position(|row| called(&row.label));
                let found = found.or_else(|| table.rows.iter().position(|row| called(&row.method)));
                found.ok_or_else(|| unknown(name, table))?
            }
        };
        let Some(base) = table.rows.get(base) else { return Ok(None) };
        let results = |method: &str, label: &str| -> Vec<(u64, f64)> {
            let of_row = |t: &&TrialSummary| t.method == method && t.shown_label() == label;
            let ended = |t: &&TrialSummary| t.diverged.is_none() && t.unfinished.is_none();
            let result = |t: &TrialSummary| Some((t.seed, 100.0 * t.final_accuracy?));
            summaries.iter().filter(of_row).filter(ended).filter_map(result).collect()
        };
        let own = results(&base.method, &base.label);
        let test = |row: &consort_records::MethodRow| {
            let other = row.label != base.label || row.method != base.method;
            let same_data = row.data == base.data;
            let test = (other && same_data)
                .then(|| PairedTest::new(&results(&row.method, &row.label), &own))
                .flatten();
            (row.label.clone(), test)
        };
        let rows: Vec<(String, Option<PairedTest>)> = table.rows.iter().map(test).collect();
        let some = rows.iter().any(|(_, test)| test.as_ref().is_some_and(|t| t.seeds.len() > 1));
        if !some && against.is_some() {
            return Err(Failure::input(format!(
                "no method has results on two seeds that {} has too, so nothing can be tested",
                base.label
            )));
        }
        Ok(some.then(|| Self { against: base.label.clone(), rows }))
    }

    /// The columns `difference`, `p` and `p-t`.
    pub(super) fn columns(&self) -> Vec<ExtraColumn> {
        let column =
            |key: &str, heading: String, name: &str, pick: Pick, text: fn(f64) -> String| {
                let value = |test: &Option<PairedTest>| test.as_ref().and_then(pick);
                let cell = |(_, test): &(String, Option<PairedTest>)| match value(test) {
                    Some(v) => text(v),
                    None => "–".to_owned(),
                };
                let digits = |(_, test): &(String, Option<PairedTest>)| {
                    value(test).map_or(String::new(), |v| v.to_string())
                };
                ExtraColumn {
                    key: key.to_owned(),
                    heading,
                    cells: self.rows.iter().map(cell).collect(),
                    csv: vec![(name.to_owned(), self.rows.iter().map(digits).collect())],
                }
            };
        vec![
            column(
                "difference",
                format!("Minus {} (points)", self.against),
                "difference",
                |test| Some(test.difference.mean),
                signed,
            ),
            column("p", "p, sign flips".into(), "p_sign_flip", |test| test.sign_flip, probability),
            column("p-t", "p, paired t".into(), "p_paired_t", |test| test.student, probability),
        ]
    }

    /// The tests as a table, and what they can and cannot say.
    pub(super) fn text(&self) -> String {
        let row = |(name, test): &(String, Option<PairedTest>)| {
            let test = test.as_ref()?;
            let std = test.difference.std.map_or(String::new(), |std| format!(" ± {std:.2}"));
            let p = |p: Option<f64>| p.map_or("–".to_owned(), probability);
            Some(vec![
                name.clone(),
                format!("{}{std}", signed(test.difference.mean)),
                format!("{} of {}", test.larger, test.seeds.len()),
                p(test.sign_flip),
                p(test.student),
            ])
        };
        let rows: Vec<Vec<String>> = self.rows.iter().filter_map(row).collect();
        let header = ["Method", "Difference", "Better on", "p, sign flips", "p, paired t"];
        format!(
            "Differences to {}, paired by seed: final test accuracy of the averaged model, points\n{}{}",
            self.against,
            table::render(&header, &rows),
            self.what_it_says()
        )
    }

    fn what_it_says(&self) -> String {
        let counts = self.rows.iter().flat_map(|(_, test)| test).map(|test| test.seeds.len());
        let fewest = counts.min().unwrap_or(0);
        let least = least_p(fewest);
        let limit = if least > 0.05 {
            format!(
                "With {fewest} seeds it is never below {}: they cannot show a difference at the \
                 5 % level, six seeds can.",
                probability(least)
            )
        } else {
            format!("With {fewest} seeds it can be as small as {}.", probability(least))
        };
        format!(
            "p, sign flips: exact, two-sided, without assumptions. {limit}\n\
             p, paired t: two-sided; only right if differences are normally distributed, which few \
             seeds cannot show.\n\
             No p is corrected for the number of comparisons.\n"
        )
    }
}

type Pick = fn(&PairedTest) -> Option<f64>;

fn unknown(name: &str, table: &MethodTable) -> Failure {
    let known: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
    Failure::input(format!(
        "--against {name}: no such method here; there are: {}",
        known.join("; ")
    ))
}

fn signed(points: f64) -> String {
    let text = format!("{:.2}", points.abs());
    match points {
        p if p < 0.0 && text != "0.00" => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Two digits; small ones as a bound.
fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "<0.001".to_owned(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}
