//! Heat maps of a partition: how many samples of which class each agent has.
//!
//! ```text
//!               title                       few agents: one row per agent
//!              subtitle                     many agents: one column per agent
//!        ┌──────────────────┐  ┌─┐ 100
//!      A │ ░░ ▓▓    ░░      │  │█│
//!      g │    ░░ ██         │  │▓│ 50       the colour of a cell is its share, white for zero;
//!      t │ ▒▒       ▒▒ ▒▒   │  │░│          large cells show their count
//!        └──────────────────┘  └─┘ 0
//!          0  1  2  3  4  5
//! ```
//!
//! All cells of one colour are one path, and neighbours of the same colour one rectangle. So the
//! file stays small even with a thousand agents.

use crate::canvas::{Anchor, Canvas, Pen, TextStyle, ink};
use crate::error::ViewError;
use crate::layout::{LEADING, MARGIN, TextSizes};
use crate::picture::Picture;
use crate::ramp;
use crate::trace::PlotArea;
use crate::typeface::{Weight, width, wrapped};

mod bar;
mod labels;

/// A partition of data.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The title of the picture.
    pub title: String,
    /// The line below the title, for example how heterogeneous the partition is; may be empty.
    pub subtitle: String,
    /// `counts[agent][class]`: how many samples of the class the agent has.
    pub counts: Vec<Vec<u64>>,
    /// The names of the classes; if empty, they are numbered from 0.
    pub classes: Vec<String>,
    /// The meaning of the colour.
    pub shade: Shade,
}

/// The meaning of the colour of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The share of the agent's samples: which classes an agent has.
    OfAgent,
    /// The share of the class's samples: which agents have a class.
    OfClass,
}

/// The style of a heat map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeatMapStyle {
    /// The largest width of all cells together; a cell is never narrower than a pixel.
    pub width: f64,
    /// The font size of labels in pixels; all other font sizes are multiples of it.
    pub font_size: f64,
}

impl Default for HeatMapStyle {
    fn default() -> Self {
        Self { width: 900.0, font_size: 11.0 }
    }
}

/// With more agents than this, agents are columns instead of rows.
const MOST_ROWS: usize = 32;

/// Draws `map`.
///
/// # Errors
/// If there is no sample, the agents have different numbers of classes, or a size is out of range.
pub fn heat_map_svg(map: &HeatMap, style: &HeatMapStyle) -> Result<Picture, ViewError> {
    check(map, style)?;
    let (agents, classes) = (map.counts.len(), map.counts[0].len());
    let shares = Shares::new(map);
    let upright = agents <= MOST_ROWS;
    let (rows, columns) = if upright { (agents, classes) } else { (classes, agents) };
    let cell = cell_size(rows, columns, style.width);
    let (down, across) =
        if upright { (Side::Agents, Side::Classes) } else { (Side::Classes, Side::Agents) };
    let sizes = TextSizes::from_base(style.font_size);
    let left_labels = labels::down(&down.names(map), cell.1, sizes.tick);
    let bottom_labels = labels::across(&across.names(map), cell.0, sizes.tick);

    let size = (columns as f64 * cell.0, rows as f64 * cell.1);
    let bar = bar::Bar::new(shares.largest, map.shade.label(), size.1, sizes);
    let left = MARGIN + sizes.label * LEADING + 6.0 + left_labels.depth + 6.0;
    let needed = left + size.0 + bar.width() + MARGIN;
    // At least room for a title; a narrower map is in the middle.
    let sheet_width = needed.max(320.0);
    let shift = (sheet_width - needed) / 2.0;
    let room = sheet_width - 2.0 * MARGIN;
    let title = wrapped(&map.title, sizes.title, Weight::Bold, room);
    let subtitle = wrapped(&map.subtitle, sizes.tick, Weight::Regular, room);
    let title_height = title.len() as f64 * sizes.title * LEADING;
    let subtitle_height = subtitle.len() as f64 * sizes.tick * LEADING;
    let frame = PlotArea {
        // Whole pixels, so that cells begin and end at pixels.
        left: (left + shift).round(),
        top: (MARGIN + title_height + subtitle_height + 10.0).round(),
        width: size.0,
        height: size.1,
    };

    let mut canvas = Canvas::new();
    let places = Places { frame, cell, rows, columns, upright };
    draw_cells(&mut canvas, &places, &shares, map, sizes);
    draw_frame(&mut canvas, &places);
    left_labels.draw_down(&mut canvas, frame, cell.1, sizes.tick);
    bottom_labels.draw_across(&mut canvas, frame, cell.0, sizes.tick);
    bar.draw(&mut canvas, frame);

    let how = |size, weight, color| TextStyle { size, weight, color, anchor: Anchor::Middle };
    let middle = sheet_width / 2.0;
    let titled = how(sizes.title, Weight::Bold, ink::TEXT);
    draw_lines(&mut canvas, &title, (middle, MARGIN), titled);
    let noted = how(sizes.tick, Weight::Regular, ink::QUIET);
    draw_lines(&mut canvas, &subtitle, (middle, MARGIN + title_height), noted);
    let labelled = how(sizes.label, Weight::Regular, ink::TEXT);
    let below = frame.bottom() + 6.0 + bottom_labels.depth;
    canvas.text(
        (frame.left + size.0 / 2.0, below + 6.0 + sizes.label),
        across.title(),
        labelled,
        false,
    );
    let beside = (MARGIN + shift + sizes.label, frame.top + size.1 / 2.0);
    canvas.text(beside, down.title(), labelled, true);

    let bottom = (below + 6.0 + sizes.label * LEADING).max(frame.top + bar.height());
    Picture::from_canvas(canvas, &map.title, &description(map), (sheet_width, bottom + MARGIN))
}

/// Draws lines of text below each other, the first below `top`.
fn draw_lines(canvas: &mut Canvas, lines: &[String], (x, top): (f64, f64), how: TextStyle) {
    for (i, line) in lines.iter().enumerate() {
        canvas.text((x, top + how.size * (0.9 + i as f64 * LEADING)), line, how, false);
    }
}

/// What is along one side of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Agents,
    Classes,
}

impl Side {
    fn title(self) -> &'static str {
        match self {
            Side::Agents => "Agent",
            Side::Classes => "Class",
        }
    }

    fn names(self, map: &HeatMap) -> labels::Names<'_> {
        match self {
            Side::Agents => labels::Names::Numbers(map.counts.len()),
            Side::Classes if map.classes.is_empty() => labels::Names::Numbers(map.counts[0].len()),
            Side::Classes => labels::Names::Words(&map.classes),
        }
    }
}

impl Shade {
    fn label(self) -> &'static str {
        match self {
            Shade::OfAgent => "Share of the agent's samples (%)",
            Shade::OfClass => "Share of the class's samples (%)",
        }
    }
}

/// The share of every cell, and the largest share, which is the darkest.
struct Shares {
    of: Vec<Vec<f64>>,
    largest: f64,
}

impl Shares {
    fn new(map: &HeatMap) -> Self {
        let classes = map.counts[0].len();
        let by_agent: Vec<u64> = map.counts.iter().map(|row| row.iter().sum()).collect();
        let by_class: Vec<u64> =
            (0..classes).map(|c| map.counts.iter().map(|row| row[c]).sum()).collect();
        let share = |agent: usize, class: usize| {
            let whole = match map.shade {
                Shade::OfAgent => by_agent[agent],
                Shade::OfClass => by_class[class],
            };
            // The share of an empty set is zero.
            map.counts[agent][class] as f64 / whole.max(1) as f64
        };
        let of: Vec<Vec<f64>> =
            (0..by_agent.len()).map(|a| (0..classes).map(|c| share(a, c)).collect()).collect();
        let largest = of.iter().flatten().copied().fold(0.0, f64::max);
        Self { of, largest }
    }
}

/// The positions of the cells.
struct Places {
    frame: PlotArea,
    cell: (f64, f64),
    rows: usize,
    columns: usize,
    /// Whether agents are rows.
    upright: bool,
}

impl Places {
    fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        (self.frame.left + column as f64 * self.cell.0, self.frame.top + row as f64 * self.cell.1)
    }

    /// (agent, class) of a cell.
    fn held(&self, row: usize, column: usize) -> (usize, usize) {
        if self.upright { (row, column) } else { (column, row) }
    }
}

/// The size of a cell: whole pixels, as large as possible up to a limit. If there are few rows and
/// many columns, cells are higher, so that the map does not become a thin strip.
fn cell_size(rows: usize, columns: usize, room: f64) -> (f64, f64) {
    let fit = |room: f64, count: usize, most: f64| (room / count as f64).floor().clamp(1.0, most);
    let highest = if columns > MOST_ROWS { (130.0 / rows as f64).floor().max(22.0) } else { 22.0 };
    (fit(room, columns, 40.0), fit(460.0, rows, highest))
}

fn draw_cells(canvas: &mut Canvas, at: &Places, shares: &Shares, map: &HeatMap, sizes: TextSizes) {
    let mut by_level = vec![String::new(); ramp::LEVELS + 1];
    for row in 0..at.rows {
        let levels: Vec<usize> = (0..at.columns)
            .map(|column| {
                let (agent, class) = at.held(row, column);
                ramp::level(shares.of[agent][class] / shares.largest)
            })
            .collect();
        let mut column = 0;
        for run in levels.chunk_by(|a, b| a == b) {
            if run[0] > 0 {
                let (x, y) = at.corner(row, column);
                let [x, y, w, h] =
                    [x, y, run.len() as f64 * at.cell.0, at.cell.1].map(|v| canvas.number(v));
                by_level[run[0]].push_str(&format!("M{x} {y}h{w}v{h}h-{w}z"));
            }
            column += run.len();
        }
    }
    for (level, data) in by_level.iter().enumerate().filter(|(_, data)| !data.is_empty()) {
        canvas.mosaic(data, &ramp::level_shade(level).hex());
    }
    draw_counts(canvas, at, shares, map, sizes.note);
}

/// Writes the counts into the cells, if all of them fit.
fn draw_counts(canvas: &mut Canvas, at: &Places, shares: &Shares, map: &HeatMap, size: f64) {
    let widest = map
        .counts
        .iter()
        .flatten()
        .max()
        .map_or(0.0, |most| width(&most.to_string(), size, Weight::Regular));
    if widest + 6.0 > at.cell.0 || size + 4.0 > at.cell.1 {
        return;
    }
    for row in 0..at.rows {
        for column in 0..at.columns {
            let (agent, class) = at.held(row, column);
            let count = map.counts[agent][class];
            if count == 0 {
                continue;
            }
            let (x, y) = at.corner(row, column);
            let ground = ramp::level_shade(ramp::level(shares.of[agent][class] / shares.largest));
            // WCAG 2 requires 4.5 for text; below that, black has more contrast.
            let color = if ground.contrast_on_white() >= 4.5 { "#ffffff" } else { ink::TEXT };
            let how = TextStyle { size, weight: Weight::Regular, color, anchor: Anchor::Middle };
            let middle = (x + at.cell.0 / 2.0, y + at.cell.1 / 2.0 + size * 0.36);
            canvas.text(middle, &count.to_string(), how, false);
        }
    }
}

/// The outline, and lines between the cells if the cells are large enough.
fn draw_frame(canvas: &mut Canvas, at: &Places) {
    let frame = at.frame;
    let grid = Pen::solid(ink::GRID, 0.5);
    if at.cell.1 >= 6.0 {
        for row in 1..at.rows {
            let (x, y) = at.corner(row, 0);
            canvas.line((x, y), (frame.right(), y), grid);
        }
    }
    if at.cell.0 >= 6.0 {
        for column in 1..at.columns {
            let (x, y) = at.corner(0, column);
            canvas.line((x, y), (x, frame.bottom()), grid);
        }
    }
    outline(canvas, frame);
}

fn outline(canvas: &mut Canvas, frame: PlotArea) {
    let [left, top, right, bottom] =
        [frame.left, frame.top, frame.right(), frame.bottom()].map(|v| canvas.number(v));
    let data = format!("M{left} {top}H{right}V{bottom}H{left}Z");
    canvas.stroke(&data, Pen::solid(ink::AXIS, 1.0));
}

/// The map as text, for screen readers.
fn description(map: &HeatMap) -> String {
    let (agents, classes) = (map.counts.len(), map.counts[0].len());
    let held = map.counts.iter().map(|row| row.iter().filter(|c| **c > 0).count());
    let (least, most) = (held.clone().min().unwrap_or(0), held.max().unwrap_or(0));
    let of = match map.shade {
        Shade::OfAgent => "agent's",
        Shade::OfClass => "class's",
    };
    format!(
        "Heat map of {agents} agents and {classes} classes: each cell's share of the {of} samples. \
         An agent holds samples of {least} to {most} classes. {}",
        map.subtitle
    )
}

fn check(map: &HeatMap, style: &HeatMapStyle) -> Result<(), ViewError> {
    let bad = |what, got: String, expected| Err(ViewError::BadMeasure { what, got, expected });
    if !(40.0..=10_000.0).contains(&style.width) {
        return bad("the width of a heat map", style.width.to_string(), "40 to 10000 pixels");
    }
    if !(4.0..=100.0).contains(&style.font_size) {
        return bad("the font size", style.font_size.to_string(), "4 to 100 pixels");
    }
    if map.counts.iter().flatten().all(|count| *count == 0) {
        let reason = "no agent has a sample; expected at least one";
        return Err(ViewError::NothingToDraw { title: map.title.clone(), reason });
    }
    let (agents, classes) = (map.counts.len(), map.counts[0].len());
    if let Some(agent) = map.counts.iter().position(|row| row.len() != classes) {
        let got =
            format!("{} for agent {agent} and {classes} for agent 0", map.counts[agent].len());
        return bad("the number of classes", got, "the same for every agent");
    }
    if !map.classes.is_empty() && map.classes.len() != classes {
        let got = format!("{} for {classes} classes", map.classes.len());
        return bad("the number of class names", got, "one per class, or none");
    }
    if agents > 10_000 || classes > 10_000 {
        let got = format!("{agents} agents and {classes} classes");
        return bad("the size of a partition", got, "at most 10000 of each");
    }
    Ok(())
}
