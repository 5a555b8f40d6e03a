//! Heat maps of a partition: how many samples of which class each agent has.
//!
//! ```text
//!               title                       few agents: one row per agent
//!              subtitle                     many agents: one column per agent
//!        ┌──────────────────┐  ┌─┐ 100
//!      A │ ░░ ▓▓    ░░      │  │█│
//!      g │    ░░ ██         │  │▓│ 50       the colour of a cell is its number, white for zero;
//!      t │ ▒▒       ▒▒ ▒▒   │  │░│          large cells show the number itself
//!        └──────────────────┘  └─┘ 0
//!          0  1  2  3  4  5
//! ```
//!
//! All cells of one colour are one path, and neighbours of the same colour one rectangle. So the
//! file stays small even with a thousand agents.

use crate::canvas::{Anchor, Canvas, Pen, Sheet, TextStyle, ink};
use crate::chart::{check_width, too_narrow};
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
    /// The number that is shown.
    pub shade: Shade,
}

/// The number of a cell, which its colour shows and which is written into large cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The number of samples.
    Samples,
    /// The share of the agent's samples in percent: which classes an agent has.
    OfAgent,
    /// The share of the class's samples in percent: which agents have a class.
    OfClass,
}

/// The style of a heat map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeatMapStyle {
    /// The largest width of all cells together; a cell is never narrower than a pixel.
    pub width: f64,
    /// The width of the whole picture in pixels (96 to an inch); cells become as large as they can
    /// be. `None` lets the cells decide.
    pub sheet_width: Option<f64>,
    /// Whether title and subtitle are drawn.
    pub title: bool,
    /// The font size of labels in pixels; all other font sizes are multiples of it.
    pub font_size: f64,
}

impl Default for HeatMapStyle {
    fn default() -> Self {
        Self { width: 900.0, sheet_width: None, title: true, font_size: 11.0 }
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
    let (down, across) =
        if upright { (Side::Agents, Side::Classes) } else { (Side::Classes, Side::Agents) };
    let sizes = TextSizes::from_base(style.font_size);
    let mut cell = cell_size(rows, columns, style.width);
    let beside = |cell: (f64, f64)| {
        let labels = labels::down(&down.names(map), cell.1, sizes.tick);
        let bar = bar::Bar::new(&shares, map.shade.label(), rows as f64 * cell.1, sizes);
        let left = MARGIN + sizes.label * LEADING + 6.0 + labels.depth + 6.0;
        (labels, bar, left)
    };
    if let Some(asked) = style.sheet_width {
        let (_, bar, left) = beside(cell);
        let room = Sheet::room(asked) - left - bar.width() - MARGIN;
        if room < columns as f64 {
            return Err(too_narrow(asked));
        }
        // In print a cell need not be a whole number of pixels.
        let wide = room / columns as f64;
        cell = (wide, cell.1.min((wide * 1.1).max(460.0 / rows as f64).min(22.0)).max(1.0));
    }
    let (left_labels, bar, left) = beside(cell);
    let bottom_labels = labels::across(&across.names(map), cell.0, sizes.tick);

    let size = (columns as f64 * cell.0, rows as f64 * cell.1);
    let needed = left + size.0 + bar.width() + MARGIN;
    // At least room for a title; a narrower map is in the middle.
    let sheet_width = match style.sheet_width {
        Some(asked) => Sheet::room(asked),
        None => needed.max(320.0),
    };
    let shift = ((sheet_width - needed) / 2.0).max(0.0);
    let room = sheet_width - 2.0 * MARGIN;
    let [title, subtitle] =
        [&map.title, &map.subtitle].map(|text| if style.title { text } else { "" });
    let title = wrapped(title, sizes.title, Weight::Bold, room);
    let subtitle = wrapped(subtitle, sizes.tick, Weight::Regular, room);
    let title_height = title.len() as f64 * sizes.title * LEADING;
    let subtitle_height = subtitle.len() as f64 * sizes.tick * LEADING;
    let head = if style.title { 10.0 } else { 2.0 };
    let frame = PlotArea {
        // Whole pixels, so that cells begin and end at pixels.
        left: (left + shift).round(),
        top: (MARGIN + title_height + subtitle_height + head).round(),
        width: size.0,
        height: size.1,
    };

    let mut canvas = Canvas::new();
    let places = Places { frame, cell, rows, columns, upright };
    draw_cells(&mut canvas, &places, &shares, sizes);
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
    let sheet = Sheet::around((sheet_width, bottom + MARGIN), style.sheet_width);
    Picture::from_canvas(canvas, &map.title, &description(map), sheet)
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
            Shade::Samples => "Samples",
            Shade::OfAgent => "Share of the agent's samples (%)",
            Shade::OfClass => "Share of the class's samples (%)",
        }
    }
}

/// The number of every cell, and the largest number, which is the darkest.
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
        let number = |agent: usize, class: usize| {
            let count = map.counts[agent][class] as f64;
            // The share of an empty set is zero.
            match map.shade {
                Shade::Samples => count,
                Shade::OfAgent => 100.0 * count / by_agent[agent].max(1) as f64,
                Shade::OfClass => 100.0 * count / by_class[class].max(1) as f64,
            }
        };
        let of: Vec<Vec<f64>> =
            (0..by_agent.len()).map(|a| (0..classes).map(|c| number(a, c)).collect()).collect();
        let largest = of.iter().flatten().copied().fold(0.0, f64::max);
        Self { of, largest }
    }

    /// The number as it is written into a cell; nothing for zero, and never "0" for a little.
    fn text(&self, agent: usize, class: usize) -> String {
        match self.of[agent][class] {
            0.0 => String::new(),
            few if few < 0.5 => "<1".to_owned(),
            number => format!("{number:.0}"),
        }
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

fn draw_cells(canvas: &mut Canvas, at: &Places, shares: &Shares, sizes: TextSizes) {
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
    draw_numbers(canvas, at, shares, sizes);
}

/// Writes the numbers into the cells, in the largest size at which all of them fit; not at all if
/// they would be too small to read.
fn draw_numbers(canvas: &mut Canvas, at: &Places, shares: &Shares, sizes: TextSizes) {
    let cells = || (0..at.rows).flat_map(|row| (0..at.columns).map(move |column| (row, column)));
    let text = |(row, column): (usize, usize)| {
        let (agent, class) = at.held(row, column);
        shares.text(agent, class)
    };
    let widest =
        cells().map(|cell| width(&text(cell), 1.0, Weight::Regular)).fold(0.0, f64::max).max(0.1);
    let size = sizes.note.min((at.cell.0 - 4.0) / widest).min((at.cell.1 - 3.0) / 1.05);
    if size < 0.62 * sizes.tick {
        return;
    }
    for (row, column) in cells() {
        let text = text((row, column));
        if text.is_empty() {
            continue;
        }
        let (agent, class) = at.held(row, column);
        let (x, y) = at.corner(row, column);
        let ground = ramp::level_shade(ramp::level(shares.of[agent][class] / shares.largest));
        // Whichever has more contrast: with the square root of 21 to white, both have the same.
        let color = if ground.contrast_on_white() >= 4.58 { "#ffffff" } else { "#000000" };
        let how = TextStyle { size, weight: Weight::Regular, color, anchor: Anchor::Middle };
        let middle = (x + at.cell.0 / 2.0, y + at.cell.1 / 2.0 + size * 0.36);
        canvas.text(middle, &text, how, false);
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
    let number = match map.shade {
        Shade::Samples => "number of samples",
        Shade::OfAgent => "share of the agent's samples",
        Shade::OfClass => "share of the class's samples",
    };
    format!(
        "Heat map of {agents} agents and {classes} classes: each cell's {number}. \
         An agent holds samples of {least} to {most} classes. {}",
        map.subtitle
    )
}

fn check(map: &HeatMap, style: &HeatMapStyle) -> Result<(), ViewError> {
    let bad = |what, got: String, expected| Err(ViewError::BadMeasure { what, got, expected });
    if !(40.0..=10_000.0).contains(&style.width) {
        return bad("the width of a heat map", style.width.to_string(), "40 to 10000 pixels");
    }
    check_width(style.sheet_width)?;
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
