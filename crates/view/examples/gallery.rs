//! Draws one picture of each kind into a folder, each at its usual width and 3.3 inches wide:
//! `cargo run -p consort-view --example gallery -- some/folder`
//!
//! Expect 26 pictures, each as `.svg`, `.pdf` and `.png`; their names are printed.

use consort_records::{Curve, CurveSet, OutputFolder, Panel};
use consort_view::{
    ChartStyle, ComparisonPlot, Estimate, HeatMap, HeatMapStyle, LegendPlace, NetworkPicture,
    NetworkStyle, Picture, PictureEdge, PictureEdgeShape, PlotGroup, PlotRow, Shade, TextAs,
    ViewError, band_chart_svg, chart_svg, comparison_svg, heat_map_svg, named_methods, network_svg,
};
use std::error::Error;
use std::f64::consts::TAU;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: gallery <folder>")?;
    let folder = OutputFolder::claim(path, true)?;
    for (name, picture) in pictures(None)? {
        save(&folder, name, &picture, 2.0)?;
    }
    for (name, picture) in pictures(Some(3.3 * 96.0))? {
        save(&folder, &format!("{name}-narrow"), &picture, 300.0 / 96.0)?;
    }
    Ok(())
}

/// All pictures, `width` pixels wide and then without a title.
fn pictures(width: Option<f64>) -> Result<Vec<(&'static str, Picture)>, ViewError> {
    let title = width.is_none();
    let chart = ChartStyle { width, title, ..ChartStyle::default() };
    let network =
        |picture| network_svg(&picture, &NetworkStyle { width, title, ..NetworkStyle::default() });
    let beside = ChartStyle { legend: LegendPlace::Right, ..chart.clone() };
    let logs = ChartStyle { log_x: true, log_y: Some(true), ..chart.clone() };
    let (agents, bands) = over_agents();
    let meaning = "from the worst to the best agent";
    let map_style = HeatMapStyle { sheet_width: width, title, ..HeatMapStyle::default() };
    Ok(vec![
        ("consensus", chart_svg(&consensus(), &chart)?),
        ("accuracy", chart_svg(&accuracy(10), &chart)?),
        ("catalogue", chart_svg(&accuracy(45), &chart)?),
        ("sweep", chart_svg(&sweep(), &beside)?),
        ("log-log", chart_svg(&sweep(), &logs)?),
        ("agents", band_chart_svg(&agents, &bands, meaning, &chart)?),
        ("comparison", comparison_svg(&comparison(), &chart)?),
        ("partition", heat_map_svg(&partition(), &map_style)?),
        ("ring16", network(ring16())?),
        ("dyck32", network(dyck32())?),
        ("torus4x8", network(torus4x8())?),
        ("arrows", network(arrows())?),
        ("many-nodes", network(many_nodes())?),
    ])
}

fn save(
    folder: &OutputFolder,
    name: &str,
    picture: &Picture,
    scale: f32,
) -> Result<(), Box<dyn Error>> {
    folder.write(&format!("{name}.svg"), picture.svg())?;
    let pdf = picture.pdf(TextAs::Text)?;
    let path = folder.write(&format!("{name}.png"), picture.png(scale)?)?;
    println!("{} ({} bytes of SVG, {} of PDF)", path.display(), picture.svg().len(), pdf.len());
    folder.write(&format!("{name}.pdf"), pdf)?;
    folder.write(&format!("{name}-outlines.pdf"), picture.pdf(TextAs::Outlines)?)?;
    Ok(())
}

/// Repeatable noise between -1 and 1.
fn wobble(seed: u64, i: usize) -> f64 {
    let mut z =
        seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn curve(
    method: &str,
    label: &str,
    steps: usize,
    every: f64,
    f: impl Fn(u64, usize) -> f64,
) -> Curve {
    Curve {
        method: method.into(),
        label: label.into(),
        x: (0..=steps).map(|i| i as f64 * every).collect(),
        runs: (0..3).map(|seed| (0..=steps).map(|i| f(seed, i)).collect()).collect(),
        seeds: vec![0, 1, 2],
    }
}

/// Three panels with a log axis: curves that decay to a floor, decay without end, or diverge.
fn consensus() -> CurveSet {
    let decay = |rate: f64, floor: f64| {
        move |seed: u64, i: usize| {
            let drift = 1.0 + 0.12 * wobble(seed + 9, 0);
            let clean = (-(rate * drift) * i as f64).exp() + floor;
            clean * 10f64.powf(0.12 * wobble(seed, i))
        }
    };
    let panels =
        [("Ring, 16 agents", 0.6), ("Dyck graph, 32 agents", 1.0), ("Torus, 4 × 8 agents", 1.3)]
            .map(|(title, speed)| {
                let mut curves = vec![
                    curve("gossip", "Gossip", 400, 5.0, decay(0.03 * speed, 2e-3)),
                    curve("qg-gossip", "QG-Gossip", 400, 5.0, decay(0.035 * speed, 4e-4)),
                    curve("gut", "GUT", 400, 5.0, decay(0.04 * speed, 2e-7)),
                    curve("qg-gut", "QG-GUT", 400, 5.0, decay(0.06 * speed, 1e-8)),
                ];
                if speed > 1.2 {
                    curves.push(curve("d2", "D²", 400, 5.0, |seed, i| {
                        (0.12 * i as f64).exp() * 10f64.powf(0.1 * wobble(seed, i))
                    }));
                }
                Panel { title: title.into(), curves }
            });
    CurveSet {
        title: "Distance to the common mean under changing gradients".into(),
        x_label: "Communication round".into(),
        y_label: "Consensus error ‖x − x̄‖²".into(),
        log_y: true,
        panels: panels.into(),
    }
}

/// One panel, linear axis, many methods.
fn accuracy(count: usize) -> CurveSet {
    let few = [
        "dsgd",
        "dsgdm",
        "dsgdm-n",
        "qg-dsgdm",
        "qg-dsgdm-n",
        "gut",
        "gutm",
        "gutm-n",
        "qg-gutm",
        "qg-gutm-n",
    ];
    let methods: Vec<&str> = if count == few.len() {
        few.to_vec()
    } else {
        named_methods().filter(|name| !name.contains("gossip")).take(count).collect()
    };
    let curves = methods.iter().enumerate().map(|(k, method)| {
        let top = 52.0 + 36.0 * k as f64 / count as f64;
        curve(method, &method.to_uppercase(), 100, 3.0, move |seed, i| {
            let t = i as f64 / 100.0;
            let noise = 2.5 * wobble(seed + 31 * k as u64, i) * (1.0 - 0.6 * t);
            10.0 + (top - 10.0) * (1.0 - (-6.0 * t).exp()) + if i == 0 { 0.0 } else { noise }
        })
    });
    CurveSet {
        title: "CIFAR-10, ring of 16 agents, Dirichlet α = 0.1".into(),
        x_label: "Epoch".into(),
        y_label: "Test accuracy of the averaged model (%)".into(),
        log_y: false,
        panels: vec![Panel { title: String::new(), curves: curves.collect() }],
    }
}

/// The lowest and the highest value at every position, by curve and panel.
type Bands = Vec<Vec<Vec<(f64, f64)>>>;

/// Two methods with the range of their agents.
fn over_agents() -> (CurveSet, Bands) {
    let mut set = accuracy(10);
    set.y_label = "Mean test accuracy of the agents' own models (%)".into();
    set.panels[0].curves.retain(|c| ["dsgd", "qg-gutm"].contains(&c.method.as_str()));
    let bands = set.panels[0].curves.iter().map(|curve| {
        let ends = curve.mean_and_band().into_iter().enumerate();
        ends.map(|(i, (mean, ..))| (mean - 20.0 / (1.0 + 0.05 * i as f64), mean + 4.0)).collect()
    });
    let bands = vec![bands.collect()];
    (set, bands)
}

/// A partition of 16 agents with named classes.
fn partition() -> HeatMap {
    let classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse"];
    let count = |agent: usize, class: usize| {
        let share = (0.5 + 0.5 * wobble(class as u64 + 1, agent)).powf(6.0);
        (900.0 * share) as u64
    };
    HeatMap {
        title: "cifar10 over 16 agents: dirichlet:0.1".into(),
        subtitle: "seed 1: mean total variation from the whole 0.71".into(),
        counts: (0..16).map(|a| (0..classes.len()).map(|c| count(a, c)).collect()).collect(),
        classes: classes.map(str::to_owned).to_vec(),
        shade: Shade::Samples,
    }
}

/// One method with several parameters, a gap, and a method with a single point; legend on the
/// right.
fn sweep() -> CurveSet {
    let mut curves: Vec<Curve> = [0.0, 0.25, 0.5, 0.75, 1.0]
        .map(|mu| {
            curve(&format!("gut:mu={mu}"), &format!("GUT, µ = {mu}"), 60, 500.0, move |seed, i| {
                let gap = mu == 0.5 && (25..32).contains(&i);
                let clean = 0.2 + (2.1 - 0.9 * mu) * (-0.08 * i as f64).exp() + 0.4 * (1.0 - mu);
                if gap { f64::NAN } else { clean + 0.02 * wobble(seed, i) }
            })
        })
        .into();
    curves.push(Curve {
        method: "gt".into(),
        label: "Gradient tracking, last round only".into(),
        x: vec![30_000.0],
        runs: vec![vec![0.35], vec![0.5]],
        seeds: vec![0, 1],
    });
    CurveSet {
        title: "The weight of the tracked part".into(),
        x_label: "Step".into(),
        y_label: "Training loss".into(),
        log_y: false,
        panels: vec![Panel { title: String::new(), curves }],
    }
}

/// `n` positions on a circle, clockwise from the top.
fn circle(n: usize) -> Vec<(f64, f64)> {
    let place = |i: usize| {
        let angle = TAU / 4.0 - TAU * i as f64 / n as f64;
        (angle.cos(), angle.sin())
    };
    (0..n).map(place).collect()
}

fn edge(from: usize, to: usize, shape: PictureEdgeShape, dashed: bool) -> PictureEdge {
    PictureEdge { from, to, shape, dashed, directed: false }
}

/// Invented numbers for the paper and for us.
fn comparison() -> ComparisonPlot {
    let methods = [
        ("dsgdm-n", "DSGDm-N", 79.8),
        ("gutm-n", "GUTm-N", 83.1),
        ("qg-dsgdm-n", "QG-DSGDm-N", 84.6),
        ("qg-gutm-n", "QG-GUTm-N", 86.2),
        ("d2", "D²", 82.4),
    ];
    let graphs =
        [("Ring, 16 agents", 0.0), ("Dyck graph, 32 agents", 1.1), ("Torus, 32 agents", 1.9)];
    let groups = graphs.iter().enumerate().map(|(g, (title, gain))| {
        let rows = methods.iter().enumerate().map(|(m, (method, label, mean))| {
            let spread = |seed| Some(0.45 + 0.3 * wobble(seed, 5 * g + m));
            let paper = Estimate {
                mean: (100.0 * (mean + gain + 0.5 * wobble(1, 5 * g + m))).round() / 100.0,
                std: spread(2).map(|s| (100.0 * s).round() / 100.0),
            };
            let single = (g, m) == (2, 1);
            let ours = Estimate {
                mean: mean + gain - 0.1 + 0.6 * wobble(3, 5 * g + m),
                std: if single { None } else { spread(4) },
            };
            PlotRow {
                label: (*label).into(),
                method: (*method).into(),
                paper: (*method != "d2").then_some(paper),
                ours: ((g, m) != (1, 0)).then_some(ours),
            }
        });
        PlotGroup { title: (*title).into(), rows: rows.collect() }
    });
    ComparisonPlot {
        title: "Published and reproduced (invented numbers)".into(),
        quantity: "Test accuracy (%)".into(),
        groups: groups.collect(),
    }
}

fn ring16() -> NetworkPicture {
    let edges = (0..16).map(|i| edge(i, (i + 1) % 16, PictureEdgeShape::Arc, false)).collect();
    NetworkPicture { title: "Ring".into(), nodes: circle(16), edges, labels: true }
}

fn dyck32() -> NetworkPicture {
    let mut edges: Vec<_> =
        (0..32).map(|i| edge(i, (i + 1) % 32, PictureEdgeShape::Arc, false)).collect();
    for block in 0..8 {
        let at = |offset: usize| (4 * block + offset) % 32;
        edges.push(edge(at(1), at(6), PictureEdgeShape::Straight, true));
        edges.push(edge(at(0), at(19), PictureEdgeShape::Straight, true));
    }
    NetworkPicture { title: "Dyck graph".into(), nodes: circle(32), edges, labels: false }
}

fn torus4x8() -> NetworkPicture {
    let at = |row: usize, column: usize| 4 * row + column;
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for row in 0..8 {
        for column in 0..4 {
            nodes.push((column as f64, 0.5 * row as f64));
            if column < 3 {
                edges.push(edge(
                    at(row, column),
                    at(row, column + 1),
                    PictureEdgeShape::Straight,
                    false,
                ));
            }
            if row < 7 {
                edges.push(edge(
                    at(row, column),
                    at(row + 1, column),
                    PictureEdgeShape::Straight,
                    false,
                ));
            }
        }
        edges.push(edge(at(row, 3), at(row, 0), PictureEdgeShape::Bend(-20.0), true));
    }
    for column in 0..4 {
        edges.push(edge(at(0, column), at(7, column), PictureEdgeShape::Bend(30.0), true));
    }
    NetworkPicture { title: "Torus".into(), nodes, edges, labels: false }
}

/// A directed exponential graph with numbers.
fn arrows() -> NetworkPicture {
    let n = 12;
    let mut edges = Vec::new();
    for i in 0..n {
        for (hop, shape) in [
            (1, PictureEdgeShape::Arc),
            (2, PictureEdgeShape::Bend(-25.0)),
            (4, PictureEdgeShape::Straight),
        ] {
            edges.push(PictureEdge {
                from: i,
                to: (i + hop) % n,
                shape,
                dashed: false,
                directed: true,
            });
        }
    }
    let title = "Directed exponential graph".into();
    NetworkPicture { title, nodes: circle(n), edges, labels: true }
}

/// A thousand nodes and four thousand edges.
fn many_nodes() -> NetworkPicture {
    let nodes: Vec<(f64, f64)> = (0..1000).map(|i| (wobble(1, i), wobble(2, i))).collect();
    let mut edges = Vec::new();
    for a in 0..nodes.len() {
        for b in a + 1..nodes.len() {
            if (nodes[a].0 - nodes[b].0).hypot(nodes[a].1 - nodes[b].1) < 0.105 {
                edges.push(edge(a, b, PictureEdgeShape::Straight, false));
            }
        }
    }
    let title = format!("Random geometric graph, 1000 nodes, {} edges", edges.len());
    NetworkPicture { title, nodes, edges, labels: true }
}
