//! What every comparison promises, whatever the numbers: a sound file, every mark within its plot,
//! every number in words as well.

use consort_view::{
    ChartStyle, ComparisonPlot, Estimate, LegendPlace, Picture, PlotGroup, PlotRow, TextAs,
    ViewError, comparison_svg,
};

fn estimate(mean: f64, std: f64) -> Option<Estimate> {
    Some(Estimate { mean, std: Some(std) })
}

fn row(method: &str, paper: Option<Estimate>, ours: Option<Estimate>) -> PlotRow {
    PlotRow { label: method.to_uppercase(), method: method.into(), paper, ours }
}

fn group(title: &str, rows: Vec<PlotRow>) -> PlotGroup {
    PlotGroup { title: title.into(), rows }
}

fn comparison(groups: Vec<PlotGroup>) -> ComparisonPlot {
    ComparisonPlot {
        title: "Table <1> & \"ours\"".into(),
        quantity: "Test accuracy (%)".into(),
        groups,
    }
}

/// Three graphs, five methods.
fn table() -> ComparisonPlot {
    let methods = ["dsgd", "gut", "qg-dsgdm-n", "qg-gutm-n", "d2"];
    let rows = |shift: f64| {
        let rows = methods.iter().enumerate().map(|(i, method)| {
            let mean = shift + 1.5 * i as f64;
            row(method, estimate(mean, 0.36), estimate(mean - 0.4, 0.52))
        });
        rows.collect()
    };
    comparison(vec![
        group("Ring", rows(80.0)),
        group("Dyck graph", rows(81.0)),
        group("Torus", rows(83.44)),
    ])
}

fn one(paper: Option<Estimate>, ours: Option<Estimate>) -> ComparisonPlot {
    comparison(vec![group("Ring", vec![row("gut", paper, ours)])])
}

fn drawn(comparison: &ComparisonPlot) -> Picture {
    comparison_svg(comparison, &ChartStyle::default()).expect("a comparison")
}

fn words(picture: &Picture, tag: &str) -> String {
    let document = roxmltree::Document::parse(picture.svg()).expect("well-formed XML");
    let found = document.root_element().children().find(|n| n.has_tag_name(tag));
    found.and_then(|n| n.text()).unwrap_or_default().to_owned()
}

/// Left, top, right, bottom of a path's points.
fn bounds(data: &str) -> [f64; 4] {
    let numbers: Vec<f64> = data
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().expect("a number"))
        .collect();
    numbers.chunks_exact(2).fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |b, p| {
        [b[0].min(p[0]), b[1].min(p[1]), b[2].max(p[0]), b[3].max(p[1])]
    })
}

/// The file with its text as outlines, in which every line is a path of absolute points.
fn outlined(picture: &Picture) -> String {
    picture.svg_with(TextAs::Outlines)
}

/// The bounds of all paths that have `color` as fill or line.
fn paths(picture: &Picture, color: &str) -> Vec<[f64; 4]> {
    let svg = outlined(picture);
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let colored = document.descendants().filter(|n| {
        n.has_tag_name("path")
            && [n.attribute("fill"), n.attribute("stroke")].contains(&Some(color))
    });
    colored.filter_map(|n| n.attribute("d")).map(bounds).collect()
}

fn lies_in(inner: &[f64; 4], outer: &[f64; 4]) -> bool {
    inner[0] >= outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2] && inner[3] <= outer[3]
}

/// The data areas: the axes' corners, which alone of the axes' lines have width and height.
fn frames(picture: &Picture) -> Vec<[f64; 4]> {
    let lines = paths(picture, "#4d4d4d").into_iter();
    lines.filter(|b| b[2] - b[0] > 1.0 && b[3] - b[1] > 1.0).collect()
}

/// Well-formed, no text left to fonts, no number that is none, nothing beyond the sheet.
fn assert_sound(picture: &Picture) {
    let svg = outlined(picture);
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let (width, height) = picture.size();
    let sheet = [0.0, 0.0, f64::from(width), f64::from(height)];
    assert!(!document.descendants().any(|n| n.has_tag_name("text")));
    for path in document.descendants().filter(|n| n.has_tag_name("path")) {
        let data = path.attribute("d").unwrap_or_default();
        assert!(!data.contains("NaN") && !data.contains("inf"), "{data}");
        assert!(lies_in(&bounds(data), &sheet), "{data} is not within {sheet:?}");
    }
}

/// Dots and bars in the colour of GUT lie within one of the data areas; returns how many there are.
fn assert_marks_within(picture: &Picture) -> usize {
    let frames = frames(picture);
    let marks = paths(picture, "#d55e00");
    for mark in &marks {
        assert!(frames.iter().any(|f| lies_in(mark, f)), "{mark:?} in {frames:?}");
    }
    marks.len()
}

#[test]
fn the_file_is_sound_and_describes_itself() {
    let picture = drawn(&table());
    assert_sound(&picture);
    assert_eq!(words(&picture, "title"), "Table <1> & \"ours\"");
    let told = words(&picture, "desc");
    for part in ["Test accuracy (%)", "Torus: DSGD 83.44 ± 0.36 | 83.04 ± 0.52; GUT", "standard"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(frames(&picture).len(), 3);
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    assert_eq!(drawn(&table()).svg(), drawn(&table()).svg());
    assert_eq!(drawn(&table()).png(1.0).unwrap(), drawn(&table()).png(1.0).unwrap());
}

#[test]
fn every_mark_lies_within_its_plot() {
    // A dot, a bar and two caps for GUT in each of three panels.
    assert_eq!(assert_marks_within(&drawn(&table())), 12);
    for value in [0.0, 1.0, -5.0, 1e-300, 1e299, -1e299, 1e16] {
        for std in [None, Some(0.0), Some(1e-3), Some(1e299)] {
            let estimate = Some(Estimate { mean: value, std });
            for panel_size in [None, Some((40.0, 40.0)), Some((900.0, 300.0))] {
                let style = ChartStyle { panel_size, ..ChartStyle::default() };
                let picture = comparison_svg(&one(estimate, estimate), &style).unwrap();
                assert_sound(&picture);
                assert!(assert_marks_within(&picture) >= 1, "{value} ± {std:?}");
            }
        }
    }
}

#[test]
fn the_papers_mark_is_hollow_and_above_ours() {
    let picture = drawn(&one(estimate(86.4, 0.3), estimate(86.4, 0.3)));
    let svg = outlined(&picture);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let dot = |fill: &str, stroke: &str| {
        let found = document
            .descendants()
            .find(|n| n.attribute("fill") == Some(fill) && n.attribute("stroke") == Some(stroke));
        bounds(found.and_then(|n| n.attribute("d")).expect("a dot"))
    };
    let (paper, ours) = (dot("#ffffff", "#666666"), dot("#d55e00", "#d55e00"));
    assert_eq!(paper[0], ours[0], "equal numbers stand above each other");
    assert!(paper[3] < ours[1], "neither hides the other: {paper:?} {ours:?}");
}

#[test]
fn what_is_absent_is_a_dash_and_no_mark() {
    let single = Some(Estimate { mean: 86.5, std: None });
    let picture = drawn(&one(single, None));
    assert_eq!(assert_marks_within(&picture), 0);
    assert!(words(&picture, "desc").contains("GUT 86.50 | –."), "{}", words(&picture, "desc"));
    let picture = drawn(&one(None, single));
    assert_eq!(assert_marks_within(&picture), 1, "a dot without a bar");
    assert!(words(&picture, "desc").contains("GUT – | 86.50."));

    let mut with_gaps = table();
    with_gaps.groups[1].rows.clear();
    with_gaps.groups[2].rows[0] = row("dsgd", None, None);
    assert_sound(&drawn(&with_gaps));
}

#[test]
fn a_dot_beyond_the_range_is_an_arrow_at_its_edge() {
    let style = ChartStyle { y_range: Some((80.0, 90.0)), ..ChartStyle::default() };
    for ours in [10.0, 79.9, 90.1, 1e12] {
        for std in [0.0, 0.2, 30.0] {
            let picture = comparison_svg(&one(None, estimate(ours, std)), &style).unwrap();
            assert_sound(&picture);
            assert!(assert_marks_within(&picture) >= 1, "{ours} ± {std}");
        }
    }
}

#[test]
fn nothing_to_draw_is_an_error_that_says_so() {
    let empty = [comparison(vec![]), comparison(vec![group("Ring", vec![])]), one(None, None)];
    for comparison in empty {
        let error = comparison_svg(&comparison, &ChartStyle::default()).unwrap_err();
        assert!(matches!(error, ViewError::NothingToDraw { .. }), "{error}");
    }
}

#[test]
fn impossible_numbers_and_styles_are_refused() {
    let fine = estimate(86.0, 0.5);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        for comparison in [
            one(estimate(bad, 0.5), fine),
            one(fine, estimate(86.0, bad)),
            one(fine, Some(Estimate { mean: bad, std: None })),
            one(fine, estimate(86.0, -0.5)),
        ] {
            let error = comparison_svg(&comparison, &ChartStyle::default()).unwrap_err();
            assert!(matches!(error, ViewError::BadMeasure { .. }), "{error}");
            assert!(error.to_string().contains("\"GUT\" in \"Ring\""), "{error}");
        }
    }
    let default = ChartStyle::default;
    for style in [
        ChartStyle { font_size: f64::NAN, ..default() },
        ChartStyle { columns: 0, ..default() },
        ChartStyle { panel_size: Some((0.0, 100.0)), ..default() },
        ChartStyle { y_range: Some((2.0, 1.0)), ..default() },
    ] {
        let result = comparison_svg(&one(fine, fine), &style);
        assert!(matches!(result, Err(ViewError::BadMeasure { .. })), "{style:?}");
    }
}

#[test]
fn many_panels_long_texts_and_every_placement_are_sound() {
    let mut table = table();
    table.title = "A very long title with many words ".repeat(8);
    table.quantity = "a long label ".repeat(12);
    table.groups[0].title = "unreasonably long title ".repeat(9);
    table.groups[0].rows[1].label = "unreasonably <long> label ".repeat(30);
    table.groups[1].rows.truncate(2);
    let groups = table.groups.clone();
    for count in [1, 2, 4, 5, 9, 11] {
        table.groups = groups.iter().cloned().cycle().take(count).collect();
        for legend in [LegendPlace::Below, LegendPlace::Right] {
            for share_y in [false, true] {
                let style = ChartStyle { legend, share_y, ..ChartStyle::default() };
                let picture = comparison_svg(&table, &style).unwrap();
                assert_sound(&picture);
                assert_eq!(frames(&picture).len(), count);
                assert_marks_within(&picture);
            }
        }
    }
}
