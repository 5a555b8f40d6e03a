//! From a set of curves to the series of each panel: lines, bands, looks, and what the legend says.

use super::{Arrangement, ChartStyle, MOST_TOGETHER};
use crate::axis::AxisScale;
use crate::legend::LegendEntry;
use crate::palette::looks;
use crate::trace::Series;
use consort_records::{Curve, CurveSet};

/// What the bands of a chart show.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bands<'a> {
    /// One standard deviation over the seeds.
    OverSeeds,
    /// What the caller says.
    Given { ends: &'a [Vec<Vec<(f64, f64)>>], meaning: &'a str },
}

/// The contents of a chart.
pub(super) struct Prepared {
    /// The series of each panel.
    pub(super) panels: Vec<Vec<Series>>,
    /// The title of each panel.
    pub(super) titles: Vec<String>,
    pub(super) entries: Vec<LegendEntry>,
    /// Whether every curve has a panel of its own, because there are many.
    pub(super) own_panels: bool,
    /// Whether lines have markers: a single line needs none.
    pub(super) marked: bool,
    /// The note that explains lines and bands; `None` if every curve is a single run.
    pub(super) note: Option<String>,
}

impl Prepared {
    pub(super) fn new(
        set: &CurveSet,
        bands: Bands<'_>,
        scale: AxisScale,
        style: &ChartStyle,
    ) -> Self {
        let curves: Vec<&Curve> = set.panels.iter().flat_map(|p| &p.curves).collect();
        let methods: Vec<&str> = curves.iter().map(|c| c.method.as_str()).collect();
        let mut looks = looks(&methods).into_iter();
        let mut entries: Vec<LegendEntry> = Vec::new();
        let mut panels = Vec::with_capacity(set.panels.len());
        for (p, panel) in set.panels.iter().enumerate() {
            let mut series = Vec::with_capacity(panel.curves.len());
            for ((c, curve), look) in panel.curves.iter().enumerate().zip(&mut looks) {
                let mut band = if scale == AxisScale::Log10 {
                    curve.log_mean_and_band()
                } else {
                    within_its_limits(curve, &set.y_label)
                };
                let mut seeds = curve.runs.len();
                if let Bands::Given { ends, .. } = bands {
                    seeds = 2; // there is a band, whatever the number of seeds
                    for (point, (low, high)) in band.iter_mut().zip(&ends[p][c]) {
                        (point.1, point.2) = (*low, *high);
                    }
                }
                let label = curve.shown_label().to_owned();
                let many = seeds > 1;
                match entries.iter_mut().find(|e| e.label == label && e.look == look) {
                    Some(entry) => entry.band |= many,
                    None => entries.push(LegendEntry { label, look, band: many, marked: true }),
                }
                series.push(Series { x: curve.x.clone(), band, seeds, look });
            }
            panels.push(series);
        }
        let note = note(set, bands, scale);
        let marked = entries.len() > 1;
        entries.iter_mut().for_each(|entry| entry.marked = marked);
        let own_panels = panels.len() == 1
            && match style.arrangement {
                Arrangement::Auto => entries.len() > MOST_TOGETHER,
                Arrangement::Together => false,
                Arrangement::Each => entries.len() > 1,
            };
        let mut titles: Vec<String> = set.panels.iter().map(|p| p.title.clone()).collect();
        let mut note = note;
        if own_panels {
            titles = curves.iter().map(|c| c.shown_label().to_owned()).collect();
            panels = panels.into_iter().flatten().map(|series| vec![series]).collect();
            let behind = "Grey: all other curves.";
            note = Some(note.map_or(behind.to_owned(), |note| format!("{note} {behind}")));
        }
        Self { panels, titles, entries, own_panels, marked: marked && !own_panels, note }
    }

    /// Whether there is something that a legend must tell apart or name.
    pub(super) fn has_legend(&self) -> bool {
        !self.entries.is_empty()
    }
}

/// Mean and band, and the band within what the quantity can be: a mean loss of 0.1 ± 0.2 is not
/// sometimes negative, and no accuracy is above 100 %.
fn within_its_limits(curve: &Curve, quantity: &str) -> Vec<(f64, f64, f64)> {
    let values = || curve.runs.iter().flatten().filter(|v| v.is_finite());
    let least = if values().all(|v| *v >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let share = quantity.contains("(%)") && values().all(|v| *v <= 100.0);
    let most = if share { 100.0 } else { f64::INFINITY };
    let bounded = |(mean, low, high): (f64, f64, f64)| (mean, low.max(least), high.min(most));
    let with_nan = |point: (f64, f64, f64)| if point.0.is_nan() { point } else { bounded(point) };
    curve.mean_and_band().into_iter().map(with_nan).collect()
}

fn note(set: &CurveSet, bands: Bands<'_>, scale: AxisScale) -> Option<String> {
    let counts = || set.panels.iter().flat_map(|p| &p.curves).map(|c| c.runs.len());
    let (least, most) = (counts().min()?, counts().max()?);
    let seeds = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let geometric = scale == AxisScale::Log10;
    if let Bands::Given { meaning, .. } = bands {
        let mean = if geometric { "geometric mean" } else { "mean" };
        let lines =
            if most > 1 { format!("Lines: {mean} over {seeds} seeds. ") } else { String::new() };
        return Some(format!("{lines}Bands: {meaning}."));
    }
    if most < 2 {
        return None;
    }
    Some(if geometric {
        format!(
            "Lines: geometric mean over {seeds} seeds. Bands: ± one standard deviation of log₁₀."
        )
    } else {
        format!("Lines: mean over {seeds} seeds. Bands: ± one standard deviation.")
    })
}
