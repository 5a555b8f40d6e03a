//! What every chart promises, whatever the data: a sound file, visible text, nothing outside.

use consort_records::{Curve, CurveSet, Panel};
use consort_view::{ChartStyle, LegendPlace, Picture, TextAs, ViewError, chart_svg};
use resvg::tiny_skia::Pixmap;

fn curve(method: &str, x: &[f64], runs: &[Vec<f64>]) -> Curve {
    Curve {
        method: method.into(),
        label: method.to_uppercase(),
        x: x.to_vec(),
        runs: runs.to_vec(),
        seeds: (0..runs.len() as u64).collect(),
    }
}

fn set(log_y: bool, curves: Vec<Curve>) -> CurveSet {
    CurveSet {
        title: "Consensus <error> & \"more\"".into(),
        x_label: "Round".into(),
        y_label: "‖x − x̄‖²".into(),
        log_y,
        panels: vec![Panel { title: "Ring".into(), curves }],
    }
}

fn drawn(set: &CurveSet) -> Picture {
    chart_svg(set, &ChartStyle::default()).expect("a chart")
}

/// Well-formed in both forms, no number that is none, and outlines without a text.
fn assert_sound(picture: &Picture) {
    let outlines = picture.svg_with(TextAs::Outlines);
    let outlines = roxmltree::Document::parse(&outlines).expect("well-formed XML");
    assert!(!outlines.descendants().any(|n| n.has_tag_name("text")));
    let document = roxmltree::Document::parse(picture.svg()).expect("well-formed XML");
    for node in document.descendants().filter(|n| n.is_element()) {
        for attribute in node.attributes().filter(|a| a.name() != "aria-label") {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
        }
    }
}

fn decay(n: usize, rate: f64) -> Vec<f64> {
    (0..n).map(|i| (-rate * i as f64).exp()).collect()
}

fn positions(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

#[test]
fn the_file_is_sound_and_describes_itself() {
    let picture =
        drawn(&set(true, vec![curve("gut", &positions(50), &[decay(50, 0.1), decay(50, 0.2)])]));
    assert_sound(&picture);
    let document = roxmltree::Document::parse(picture.svg()).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.attribute("aria-label"), Some("Consensus <error> & \"more\""));
    assert!(root.attribute("viewBox").is_some());
    let text = |tag: &str| {
        root.children().find(|n| n.has_tag_name(tag)).and_then(|n| n.text()).unwrap().to_owned()
    };
    assert_eq!(text("title"), "Consensus <error> & \"more\"");
    assert!(text("desc").contains("logarithmic") && text("desc").contains("2 seeds"));
}

#[test]
fn the_png_shows_the_title_without_any_installed_font() {
    let picture = drawn(&set(false, vec![curve("gut", &positions(9), &[decay(9, 0.3)])]));
    let png = Pixmap::decode_png(&picture.png(2.0).unwrap()).unwrap();
    let (width, height) = picture.size();
    assert_eq!((png.width(), png.height()), ((width * 2.0) as u32, (height * 2.0) as u32));
    let dark = |top: u32, bottom: u32| {
        let rows = top..bottom;
        rows.flat_map(|y| (0..png.width()).map(move |x| (x, y)))
            .filter(|(x, y)| png.pixel(*x, *y).is_some_and(|p| p.red() < 90 && p.alpha() == 255))
            .count()
    };
    assert!(dark(28, 56) > 300, "title: {}", dark(28, 56));
    assert_eq!(dark(0, 20), 0, "margin");
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let set = set(true, vec![curve("gut", &positions(50), &[decay(50, 0.1), decay(50, 0.2)])]);
    assert_eq!(drawn(&set).svg(), drawn(&set).svg());
    assert_eq!(drawn(&set).png(1.0).unwrap(), drawn(&set).png(1.0).unwrap());
}

#[test]
fn every_kind_of_bad_value_still_makes_a_sound_file() {
    let nasty =
        vec![1.0, f64::NAN, 0.0, -3.0, f64::INFINITY, 1e308, 5e-324, f64::NEG_INFINITY, 2.0];
    let mut x = positions(9);
    x[8] = f64::NAN;
    for log_y in [false, true] {
        let curves = vec![
            curve("gut", &x, &[nasty.clone(), nasty.iter().rev().copied().collect()]),
            curve("d2", &x, std::slice::from_ref(&nasty)),
            curve("gossip", &positions(9), &[decay(9, 0.5)]),
            curve("empty", &[], &[vec![]]),
            curve("no runs", &positions(3), &[]),
        ];
        assert_sound(&drawn(&set(log_y, curves)));
    }
}

#[test]
fn constant_single_and_extreme_curves_are_drawn() {
    for value in [0.0, 1.0, -5.0, 1e-300, 1e300, 1e16] {
        for n in [1, 2, 40] {
            for log_y in [false, true] {
                let result = chart_svg(
                    &set(log_y, vec![curve("gut", &positions(n), &[vec![value; n]])]),
                    &ChartStyle::default(),
                );
                match result {
                    Ok(picture) => assert_sound(&picture),
                    Err(e) => assert!(log_y && value <= 0.0, "{value}: {e}"),
                }
            }
        }
    }
}

#[test]
fn a_single_point_is_a_marker() {
    let picture = drawn(&set(true, vec![curve("gut", &[5.0], &[vec![0.5]])]));
    assert!(picture.svg().contains("fill=\"#d55e00\""));
}

#[test]
fn nothing_to_draw_is_an_error_that_says_so() {
    let empty = CurveSet { panels: vec![], ..set(false, vec![]) };
    for set in
        [empty, set(false, vec![]), set(false, vec![curve("gut", &[0.0], &[vec![f64::NAN]])])]
    {
        let error = chart_svg(&set, &ChartStyle::default()).unwrap_err();
        assert!(matches!(error, ViewError::NothingToDraw { .. }), "{error}");
    }
    let mut uneven = set(false, vec![curve("gut", &[0.0, 1.0], &[vec![1.0, 2.0]])]);
    uneven.panels[0].curves[0].runs[0].pop();
    assert!(matches!(chart_svg(&uneven, &ChartStyle::default()), Err(ViewError::Curves(_))));
}

#[test]
fn impossible_styles_are_refused() {
    let set = set(true, vec![curve("gut", &[0.0, 1.0], &[vec![1.0, 2.0]])]);
    let default = ChartStyle::default;
    for style in [
        ChartStyle { font_size: f64::NAN, ..default() },
        ChartStyle { columns: 0, ..default() },
        ChartStyle { panel_size: Some((0.0, 100.0)), ..default() },
        ChartStyle { y_range: Some((0.0, 1.0)), ..default() },
        ChartStyle { y_range: Some((2.0, 1.0)), ..default() },
    ] {
        assert!(matches!(chart_svg(&set, &style), Err(ViewError::BadMeasure { .. })), "{style:?}");
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e4] {
        assert!(drawn(&set).png(scale).is_err(), "{scale}");
    }
}

#[test]
fn many_panels_long_texts_and_every_placement_are_sound() {
    let mut set = set(false, vec![curve("gut", &positions(5), &[vec![-1.0; 5], vec![1.0; 5]])]);
    set.title = "A very long title with many words ".repeat(8);
    set.y_label = "a long label ".repeat(9);
    set.panels = vec![set.panels[0].clone(); 7];
    set.panels[3].curves.clear();
    set.panels[0].curves[0].label = "unreasonably long label ".repeat(30);
    for legend in [LegendPlace::Below, LegendPlace::Right] {
        for share_y in [false, true] {
            let style = ChartStyle { legend, share_y, columns: 3, ..ChartStyle::default() };
            let picture = chart_svg(&set, &style).unwrap();
            assert_sound(&picture);
            assert!(picture.size().0 < 1400.0, "{:?}", picture.size());
        }
    }
}

#[test]
fn a_long_curve_makes_a_small_file() {
    let n = 200_000;
    let values: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 0.37).sin()).collect();
    let picture = drawn(&set(false, vec![curve("gut", &positions(n), &[values.clone(), values])]));
    assert!(picture.svg().len() < 250_000, "{}", picture.svg().len());
}
