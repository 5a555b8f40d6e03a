//! Pictures of graphs.
//!
//! The caller gives the positions of the nodes, in any unit. This file scales them to the picture
//! and chooses sizes by the number of nodes and their distances. Edges end at the borders of the
//! nodes, as in the papers. They are written as a few long paths, so that the file stays small.

use crate::canvas::{Anchor, Canvas, Pen, Point, Sheet, TextStyle, ink};
use crate::chart::check_width;
use crate::edge_route::Route;
use crate::error::ViewError;
use crate::layout::{LEADING, MARGIN};
use crate::picture::Picture;
use crate::typeface::{Weight, width, wrapped};

/// A graph with the positions of its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkPicture {
    /// The title above the picture; may be empty.
    pub title: String,
    /// The position of each node, y up.
    pub nodes: Vec<(f64, f64)>,
    /// The edges.
    pub edges: Vec<PictureEdge>,
    /// Whether nodes show their number (from 0), if they are large enough.
    pub labels: bool,
}

/// An edge and how it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureEdge {
    /// The node it leaves.
    pub from: usize,
    /// The node it reaches.
    pub to: usize,
    /// The shape of its line.
    pub shape: PictureEdgeShape,
    /// Whether its line is dashed.
    pub dashed: bool,
    /// Whether it ends in an arrow.
    pub directed: bool,
}

/// The shape of an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PictureEdgeShape {
    /// A straight line.
    Straight,
    /// The shorter arc of the circle around the origin; straight if the ends are not on one circle.
    Arc,
    /// Bent by an angle in degrees, as in TikZ: positive is `bend left`.
    Bend(f64),
}

/// The style of a picture of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkStyle {
    /// The larger side of the drawing in pixels, without margins and title.
    pub size: f64,
    /// The font size of the title in pixels.
    pub font_size: f64,
    /// The width of the whole picture in pixels (96 to an inch), instead of `size`.
    pub width: Option<f64>,
    /// Whether the title is drawn.
    pub title: bool,
}

impl Default for NetworkStyle {
    fn default() -> Self {
        Self { size: 320.0, font_size: 13.0, width: None, title: true }
    }
}

/// Draws `network`.
///
/// # Errors
/// If there is no node, a position is not finite, an edge does not join two different nodes of the
/// picture, or a size of the style is out of range.
pub fn network_svg(network: &NetworkPicture, style: &NetworkStyle) -> Result<Picture, ViewError> {
    check(network, style)?;
    let size = size_of(network, style);
    let (fit, radius) = fitted(network, size);
    let nodes: Vec<Point> = network.nodes.iter().map(|p| fit.place(*p)).collect();
    let edge_pen = edge_pen(network.edges.len(), nodes.len());

    let inner = fit.size.0 + 2.0 * radius;
    let title = if style.title { &network.title } else { "" };
    let room = match style.width {
        Some(asked) => Sheet::room(asked) - 2.0 * MARGIN,
        None => inner.max(size),
    };
    let title = wrapped(title, style.font_size, Weight::Regular, room);
    let title_height = match title.len() {
        0 => 0.0,
        lines => lines as f64 * style.font_size * LEADING + 8.0,
    };
    let title_width =
        title.iter().map(|t| width(t, style.font_size, Weight::Regular)).fold(0.0, f64::max);
    let sheet_width = inner.max(title_width) + 2.0 * MARGIN;
    let sheet_height = fit.size.1 + 2.0 * radius + title_height + 2.0 * MARGIN;
    // `place` puts the lower left corner at the origin with y up; this shift moves it into the
    // picture.
    let shift = ((sheet_width - fit.size.0) / 2.0, -(sheet_height - MARGIN - radius));
    let nodes: Vec<Point> = nodes.iter().map(|p| (p.0 + shift.0, p.1 + shift.1)).collect();
    let origin = fit.place((0.0, 0.0));
    let center = (origin.0 + shift.0, origin.1 + shift.1);

    let mut canvas = Canvas::new();
    draw_edges(&mut canvas, network, &nodes, radius, center, edge_pen);
    let outline = Pen::solid(ink::TEXT, (radius * 0.16).clamp(0.5, 1.2));
    for (i, &(x, y)) in nodes.iter().enumerate() {
        canvas.circle((x, -y), radius, "#ffffff", outline);
        let size = label_size(nodes.len(), radius);
        if network.labels && size >= 5.0 {
            let weight = Weight::Regular;
            let text_style = TextStyle { size, weight, color: ink::TEXT, anchor: Anchor::Middle };
            canvas.text((x, -y + size * 0.36), &i.to_string(), text_style, false);
        }
    }
    let titled = TextStyle {
        size: style.font_size,
        weight: Weight::Regular,
        color: ink::TEXT,
        anchor: Anchor::Middle,
    };
    for (i, line) in title.iter().enumerate() {
        let baseline = MARGIN + style.font_size + i as f64 * style.font_size * LEADING;
        canvas.text((sheet_width / 2.0, baseline), line, titled, false);
    }
    let description =
        format!("A graph of {} nodes and {} edges.", nodes.len(), network.edges.len());
    let sheet = Sheet::around((sheet_width, sheet_height), style.width);
    Picture::from_canvas(canvas, &network.title, &description, sheet)
}

/// One path for all solid and one for all dashed edges, and one for all arrow heads.
fn draw_edges(
    canvas: &mut Canvas,
    network: &NetworkPicture,
    nodes: &[Point],
    radius: f64,
    center: Point,
    pen: Pen,
) {
    let (mut solid, mut dashed, mut heads) = (String::new(), String::new(), String::new());
    let head = (radius * 0.9).clamp(3.0, 7.0);
    for edge in &network.edges {
        let (a, b) = (nodes[edge.from], nodes[edge.to]);
        let Some(route) = Route::between(a, b, edge.shape, radius, center) else { continue };
        let path = if edge.dashed { &mut dashed } else { &mut solid };
        path.push_str(&route.path(canvas));
        if edge.directed {
            let ((x, y), heading) = route.arrival();
            let corner =
                |angle: f64, by: f64| canvas.point((x - by * angle.cos(), -(y - by * angle.sin())));
            let (tip, left, right) =
                (corner(heading, 0.0), corner(heading + 0.38, head), corner(heading - 0.38, head));
            heads.push_str(&format!("M{tip}L{left}L{right}Z"));
        }
    }
    if !solid.is_empty() {
        canvas.stroke(&solid, Pen { dash: "", ..pen });
    }
    if !dashed.is_empty() {
        canvas.stroke(&dashed, pen);
    }
    if !heads.is_empty() {
        canvas.fill(&heads, pen.color, pen.opacity.max(0.6));
    }
}

/// The larger side of the drawing: as asked, or what gives the picture its width.
fn size_of(network: &NetworkPicture, style: &NetworkStyle) -> f64 {
    let Some(asked) = style.width else { return style.size };
    let room = Sheet::room(asked) - 2.0 * MARGIN;
    let mut size = room;
    // The radius of the nodes follows from the size.
    for _ in 0..8 {
        let (fit, radius) = fitted(network, size);
        let wide = fit.size.0 + 2.0 * radius;
        // A chain of nodes upright is never wide; it is as high as the picture is wide.
        let next = if fit.size.0 > 0.3 * fit.size.1 { size * room / wide } else { room };
        size = next.clamp(40.0, 4.0 * room);
    }
    size
}

/// Scale and radius of the nodes at a size of the drawing.
fn fitted(network: &NetworkPicture, size: f64) -> (Fit, f64) {
    let fit = Fit::new(network, size);
    let nodes: Vec<Point> = network.nodes.iter().map(|p| fit.place(*p)).collect();
    let radius = node_radius(&nodes, size, network.labels);
    (fit, radius)
}

/// The conversion from the caller's unit to pixels: one factor for both directions, with the lower
/// left corner at the origin.
struct Fit {
    low: Point,
    factor: f64,
    size: Point,
}

impl Fit {
    fn new(network: &NetworkPicture, size: f64) -> Self {
        let mut points = network.nodes.clone();
        for edge in network.edges.iter().filter(|e| e.shape != PictureEdgeShape::Straight) {
            let (a, b) = (network.nodes[edge.from], network.nodes[edge.to]);
            let route = Route::between(a, b, edge.shape, 0.0, (0.0, 0.0));
            points.extend(route.iter().flat_map(Route::samples));
        }
        let least = |pick: fn(&Point) -> f64| points.iter().map(pick).fold(f64::MAX, f64::min);
        let most = |pick: fn(&Point) -> f64| points.iter().map(pick).fold(f64::MIN, f64::max);
        let low = (least(|p| p.0), least(|p| p.1));
        let (wide, high) = (most(|p| p.0) - low.0, most(|p| p.1) - low.1);
        let larger = wide.max(high);
        // A single node, or nodes in one place, need no scaling.
        let factor = if larger > 0.0 { size / larger } else { 0.0 };
        Self { low, factor, size: (wide * factor, high * factor) }
    }

    fn place(&self, p: Point) -> Point {
        ((p.0 - self.low.0) * self.factor, (p.1 - self.low.1) * self.factor)
    }
}

/// A radius that leaves room between nodes. It follows from the distance to the nearest node that
/// nine in ten nodes have at least: in a random graph two nodes may almost coincide.
fn node_radius(nodes: &[Point], size: f64, labels: bool) -> f64 {
    let most = if labels { size / 26.0 } else { size / 45.0 };
    let mut sorted: Vec<Point> = nodes.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut nearest = vec![f64::MAX; sorted.len()];
    for i in 0..sorted.len() {
        for j in i + 1..sorted.len() {
            let across = sorted[j].0 - sorted[i].0;
            // Larger distances do not change the radius.
            if across > 4.0 * most {
                break;
            }
            let distance = across.hypot(sorted[j].1 - sorted[i].1);
            nearest[i] = nearest[i].min(distance);
            nearest[j] = nearest[j].min(distance);
        }
    }
    nearest.sort_by(f64::total_cmp);
    let kept = nearest[nearest.len() / 10];
    (kept * if labels { 0.38 } else { 0.3 }).clamp(1.2, most)
}

/// The font size at which the longest number fits into a node.
fn label_size(nodes: usize, radius: f64) -> f64 {
    let widest = width(&(nodes - 1).to_string().replace(|_: char| true, "0"), 1.0, Weight::Regular);
    (1.6 * radius / widest.max(1.1)).min(11.0)
}

/// The more edges, the thinner and lighter the lines, so that a dense graph does not become a blot.
fn edge_pen(edges: usize, nodes: usize) -> Pen<'static> {
    let density = edges as f64 / (nodes as f64).max(1.0);
    let (width, opacity) = match edges {
        0..=300 => (1.0, 1.0),
        301..=2000 if density <= 4.0 => (0.7, 1.0),
        301..=2000 => (0.6, 0.7),
        _ => (0.4, 0.45),
    };
    Pen { color: ink::TEXT, width, dash: "3.5 2.5", opacity }
}

fn check(network: &NetworkPicture, style: &NetworkStyle) -> Result<(), ViewError> {
    let bad = |what, got: f64, expected| {
        Err(ViewError::BadMeasure { what, got: got.to_string(), expected })
    };
    if !(40.0..=10_000.0).contains(&style.size) {
        return bad("the size of a network", style.size, "40 to 10000 pixels");
    }
    check_width(style.width)?;
    if !(4.0..=100.0).contains(&style.font_size) {
        return bad("the font size", style.font_size, "4 to 100 pixels");
    }
    let nodes = network.nodes.len();
    if nodes == 0 {
        let reason = "it has no node; expected at least one";
        return Err(ViewError::NothingToDraw { title: network.title.clone(), reason });
    }
    for (node, &(x, y)) in network.nodes.iter().enumerate() {
        if !(x.abs() < 1e12 && y.abs() < 1e12) {
            return Err(ViewError::BadNode { node, x, y });
        }
    }
    for (edge, e) in network.edges.iter().enumerate() {
        if e.from >= nodes || e.to >= nodes || e.from == e.to {
            return Err(ViewError::BadEdge { edge, from: e.from, to: e.to, nodes });
        }
        if let PictureEdgeShape::Bend(degrees) = e.shape
            && !(-180.0..=180.0).contains(&degrees)
        {
            return bad("the bend of an edge", degrees, "-180 to 180 degrees");
        }
    }
    Ok(())
}
