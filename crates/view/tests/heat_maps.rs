//! Heat maps: every sample is shown in its place, from two classes to a thousand agents.

use consort_view::{HeatMap, HeatMapStyle, Shade, TextAs, ViewError, heat_map_svg};
use resvg::tiny_skia::Pixmap;

fn map(counts: Vec<Vec<u64>>) -> HeatMap {
    HeatMap {
        title: "Partition & <co>".into(),
        subtitle: "Dirichlet, α = 0.1".into(),
        counts,
        classes: vec![],
        shade: Shade::OfAgent,
    }
}

/// A repeatable partition in which most cells are empty.
fn skewed(agents: usize, classes: usize) -> Vec<Vec<u64>> {
    let count = |a: usize, c: usize| {
        let mixed = (a * 7919 + c * 104_729 + 13) % 101;
        if mixed < 70 { 0 } else { (mixed * mixed / 10) as u64 }
    };
    (0..agents).map(|a| (0..classes).map(|c| count(a, c)).collect()).collect()
}

fn drawn(map: &HeatMap) -> (String, Pixmap) {
    let picture = heat_map_svg(map, &HeatMapStyle::default()).expect("a heat map");
    let svg = picture.svg_with(TextAs::Outlines);
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    assert!(!document.descendants().any(|n| n.has_tag_name("text")));
    assert!(!picture.svg().contains("NaN"));
    let png = picture.png(1.0).expect("a PNG");
    (svg, Pixmap::decode_png(&png).expect("pixels"))
}

/// The rectangle that the largest outline encloses: left, top, right, bottom.
fn frame(svg: &str) -> [f64; 4] {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    let outlines = document.descendants().filter(|n| n.attribute("stroke") == Some("#4d4d4d"));
    let extents = outlines.filter_map(|n| n.attribute("d")).map(|d| {
        let numbers: Vec<f64> = d
            .split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .filter_map(|v| v.parse().ok())
            .collect();
        let (x, y): (Vec<f64>, Vec<f64>) = numbers.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
        let ends = |v: &[f64]| {
            (v.iter().copied().fold(f64::MAX, f64::min), v.iter().copied().fold(0.0, f64::max))
        };
        let ((left, right), (top, bottom)) = (ends(&x), ends(&y));
        [left, top, right, bottom]
    });
    extents.max_by(|a, b| area(a).total_cmp(&area(b))).expect("an outline")
}

fn area([left, top, right, bottom]: &[f64; 4]) -> f64 {
    (right - left) * (bottom - top)
}

#[test]
fn a_cell_is_white_exactly_where_there_is_nothing() {
    for (agents, classes) in
        [(16, 10), (16, 2), (1, 1), (32, 100), (1024, 10), (1024, 100), (200, 2)]
    {
        let mut counts = skewed(agents, classes);
        counts[0][0] = 5;
        let (svg, png) = drawn(&map(counts.clone()));
        let [left, top, right, bottom] = frame(&svg);
        let upright = agents <= 32;
        let (rows, columns) = if upright { (agents, classes) } else { (classes, agents) };
        let (wide, high) = ((right - left) / columns as f64, (bottom - top) / rows as f64);
        assert!(wide >= 1.0 && wide.fract() == 0.0 && high.fract() == 0.0, "{wide} {high}");
        assert!(right < f64::from(png.width()) && bottom < f64::from(png.height()));
        for row in 0..rows {
            for column in 0..columns {
                // Near the corner, where no count is written; the outline covers the last pixel.
                let near = |size: f64| if size > 4.0 { 2.0 } else { (size - 1.0) / 2.0 };
                let x = (left + column as f64 * wide + near(wide)) as u32;
                let y = (top + row as f64 * high + near(high)) as u32;
                let at_the_edge = x <= left as u32 || x + 1 >= right as u32;
                let at_the_edge = at_the_edge || y <= top as u32 || y + 1 >= bottom as u32;
                if at_the_edge {
                    continue;
                }
                let p = png.pixel(x, y).unwrap();
                let white = (p.red(), p.green(), p.blue()) == (255, 255, 255);
                let (agent, class) = if upright { (row, column) } else { (column, row) };
                assert_eq!(white, counts[agent][class] == 0, "{agents} {classes} {agent} {class}");
            }
        }
    }
}

#[test]
fn darker_means_more() {
    let (svg, png) = drawn(&map(vec![vec![10, 20, 70]]));
    let [left, top, right, _] = frame(&svg);
    let cell = (right - left) / 3.0;
    let light: Vec<u32> = (0..3)
        .map(|i| png.pixel((left + cell * f64::from(i) + 3.0) as u32, (top + 3.0) as u32).unwrap())
        .map(|p| u32::from(p.red()) + u32::from(p.green()) + u32::from(p.blue()))
        .collect();
    assert!(light[0] > light[1] && light[1] > light[2], "{light:?}");
}

#[test]
fn shares_are_of_the_agent_or_of_the_class() {
    // The agent's samples are all of one class; the class is shared by two agents.
    let both = |shade| drawn(&HeatMap { shade, ..map(vec![vec![9, 0], vec![1, 10]]) }).0;
    assert_ne!(both(Shade::OfAgent), both(Shade::OfClass));
    assert!(both(Shade::OfClass).contains("class's samples. An agent holds samples of 1 to 2"));
}

/// The number in a cell is the one that its colour shows.
#[test]
fn numbers_and_colours_show_the_same() {
    // The second agent has few samples, all of one class: dark as a share, light as a number.
    let counts = vec![vec![60, 40], vec![5, 0]];
    let texts = |shade| {
        let picture =
            heat_map_svg(&HeatMap { shade, ..map(counts.clone()) }, &HeatMapStyle::default());
        let svg = picture.unwrap().svg().to_owned();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        let inside = texts.filter(|n| n.attribute("font-size") == Some("9.46"));
        inside.filter_map(|n| n.text()).map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(texts(Shade::Samples), ["60", "40", "5"]);
    assert_eq!(texts(Shade::OfAgent), ["60", "40", "100"]);
    assert_eq!(texts(Shade::OfClass), ["92", "100", "8"]);
}

#[test]
fn a_thousand_agents_stay_a_small_file_and_sheet() {
    let picture = heat_map_svg(&map(skewed(1024, 100)), &HeatMapStyle::default()).unwrap();
    assert!(picture.svg().len() < 1_500_000, "{}", picture.svg().len());
    assert!(picture.size().0 < 1230.0 && picture.size().1 < 700.0, "{:?}", picture.size());
}

#[test]
fn bad_partitions_are_named() {
    let error = |map: &HeatMap| heat_map_svg(map, &HeatMapStyle::default()).unwrap_err();
    for empty in [vec![], vec![vec![]], vec![vec![0, 0]]] {
        assert!(matches!(error(&map(empty)), ViewError::NothingToDraw { .. }));
    }
    let uneven = error(&map(vec![vec![1, 2], vec![1]])).to_string();
    assert!(uneven.contains("1 for agent 1 and 2 for agent 0"), "{uneven}");
    let names = HeatMap { classes: vec!["cat".into()], ..map(vec![vec![1, 2]]) };
    assert!(error(&names).to_string().contains("1 for 2 classes"));
    let style = HeatMapStyle { width: f64::NAN, ..HeatMapStyle::default() };
    assert!(heat_map_svg(&map(vec![vec![1]]), &style).is_err());
}
