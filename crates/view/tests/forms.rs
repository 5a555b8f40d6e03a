//! What every picture promises as a file: text that is text, PDF that a reader accepts, the width
//! that was asked for, and axes that tell no nonsense.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_records::{Curve, CurveSet, Panel};
use consort_view::{
    Arrangement, ChartStyle, ComparisonPlot, Estimate, HeatMap, HeatMapStyle, LegendPlace,
    NetworkPicture, NetworkStyle, Picture, PictureEdge, PictureEdgeShape, PlotGroup, PlotRow,
    Shade, TextAs, ViewError, band_chart_svg, chart_svg, comparison_svg, heat_map_svg,
    named_methods, network_svg,
};
use flate2::read::ZlibDecoder;
use std::io::Read;

fn curve(method: &str, runs: &[Vec<f64>]) -> Curve {
    Curve {
        method: method.into(),
        label: method.to_uppercase(),
        x: (0..runs[0].len()).map(|i| i as f64).collect(),
        runs: runs.to_vec(),
        seeds: (0..runs.len() as u64).collect(),
    }
}

fn set(curves: Vec<Curve>) -> CurveSet {
    CurveSet {
        title: "Loss (μ = 0.9) \\ of <all>".into(),
        x_label: "Epoch".into(),
        y_label: "Training loss".into(),
        log_y: false,
        panels: vec![Panel { title: String::new(), curves }],
    }
}

fn falling(rate: f64) -> Vec<f64> {
    (0..60).map(|i| (-rate * f64::from(i)).exp()).collect()
}

fn few() -> CurveSet {
    let methods = ["dsgd", "gut", "qg-dsgdm", "qg-gutm"];
    set(methods
        .iter()
        .enumerate()
        .map(|(k, m)| curve(m, &[falling(0.02 * (k + 1) as f64), falling(0.03 * (k + 1) as f64)]))
        .collect())
}

fn many() -> CurveSet {
    let methods: Vec<&str> = named_methods().filter(|m| !m.contains("gossip")).take(45).collect();
    set(methods.iter().enumerate().map(|(k, m)| curve(m, &[falling(0.01 * k as f64)])).collect())
}

fn one_of_each(width: Option<f64>) -> Vec<(&'static str, Picture)> {
    let chart = ChartStyle { width, ..ChartStyle::default() };
    let estimate = |mean: f64| Some(Estimate { mean, std: Some(0.4) });
    let row = |method: &str| PlotRow {
        label: method.to_uppercase(),
        method: method.into(),
        paper: estimate(84.0),
        ours: estimate(85.5),
    };
    let group = |title: &str| PlotGroup { title: title.into(), rows: vec![row("gut"), row("d2")] };
    let comparison = ComparisonPlot {
        title: "Table".into(),
        quantity: "Test accuracy (%)".into(),
        groups: ["Ring", "Dyck", "Torus", "Chain"].map(group).to_vec(),
    };
    let map = HeatMap {
        title: "Partition".into(),
        subtitle: String::new(),
        counts: (0..16).map(|a| (0..10).map(|c| a * c).collect()).collect(),
        classes: vec![],
        shade: Shade::Samples,
    };
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / 16.0;
    let network = NetworkPicture {
        title: "Ring".into(),
        nodes: (0..16).map(|i| (turn(i).cos(), turn(i).sin())).collect(),
        edges: (0..16)
            .map(|from| PictureEdge {
                from,
                to: (from + 1) % 16,
                shape: PictureEdgeShape::Arc,
                dashed: from == 3,
                directed: from == 5,
            })
            .collect(),
        labels: true,
    };
    let beside = ChartStyle { legend: LegendPlace::Right, ..chart.clone() };
    let map_style = HeatMapStyle { sheet_width: width, ..HeatMapStyle::default() };
    let network_style = NetworkStyle { width, ..NetworkStyle::default() };
    vec![
        ("chart", chart_svg(&few(), &chart).unwrap()),
        ("chart with its legend on the right", chart_svg(&few(), &beside).unwrap()),
        (
            "panels",
            chart_svg(&CurveSet { panels: vec![few().panels[0].clone(); 3], ..few() }, &chart)
                .unwrap(),
        ),
        ("forty-five methods", chart_svg(&many(), &chart).unwrap()),
        ("comparison", comparison_svg(&comparison, &chart).unwrap()),
        ("heat map", heat_map_svg(&map, &map_style).unwrap()),
        ("network", network_svg(&network, &network_style).unwrap()),
    ]
}

/// All texts of an SVG.
fn texts(picture: &Picture) -> Vec<String> {
    let document = roxmltree::Document::parse(picture.svg()).expect("well-formed XML");
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    texts.filter_map(|n| n.text()).map(str::to_owned).collect()
}

#[test]
fn text_is_text_and_names_its_fonts_or_brings_them_or_is_outlines() {
    let picture = chart_svg(&few(), &ChartStyle::default()).unwrap();
    for word in ["QG-DSGDM", "Training loss", "Loss (μ = 0.9) \\ of <all>"] {
        assert!(texts(&picture).iter().any(|t| t == word), "{word}: {:?}", texts(&picture));
    }
    assert!(picture.svg().contains("font-family=\"'DejaVu Sans', "));
    assert_eq!(picture.svg_with(TextAs::Text), picture.svg());
    let embedded = picture.svg_with(TextAs::Embedded);
    roxmltree::Document::parse(&embedded).expect("well-formed XML");
    assert_eq!(embedded.matches("@font-face").count(), 2, "the title is bold");
    let outlines = picture.svg_with(TextAs::Outlines);
    assert!(!outlines.contains("<text") && !outlines.contains("font-"), "no font is needed");
    // Text is much shorter than its outlines.
    assert!(2 * picture.svg().len() < outlines.len());
}

/// A reader of PDF that knows what this crate writes: the cross-reference table must point at the
/// objects, and every stream must unpack to what its length says.
fn streams(pdf: &[u8]) -> Vec<(String, Vec<u8>)> {
    let find = |part: &[u8], from: usize| {
        pdf[from..].windows(part.len()).position(|w| w == part).map(|at| at + from)
    };
    let number = |at: usize| -> usize {
        let digits = pdf[at..].iter().take_while(|b| b.is_ascii_digit());
        String::from_utf8(digits.copied().collect()).unwrap().parse().unwrap()
    };
    let start = find(b"startxref\n", 0).expect("startxref") + 10;
    let table = number(start);
    assert!(pdf[table..].starts_with(b"xref\n0 "), "startxref points at the table");
    let count = number(table + 7);
    let first = find(b"\n", table + 7).unwrap() + 1;
    let mut found = Vec::new();
    for k in 1..count {
        let place = number(first + 20 * k);
        assert!(pdf[place..].starts_with(format!("{k} 0 obj\n").as_bytes()), "object {k}");
        let end = find(b"\nendobj", place).unwrap();
        let Some(stream) = find(b">>stream\n", place).filter(|at| *at < end) else { continue };
        let head = String::from_utf8_lossy(&pdf[place..stream]).into_owned();
        let length = number(find(b"/Length ", place).unwrap() + 8);
        let data = stream + 9;
        assert!(pdf[data + length..].starts_with(b"\nendstream"), "the length of object {k}");
        let mut plain = Vec::new();
        ZlibDecoder::new(&pdf[data..data + length]).read_to_end(&mut plain).unwrap();
        found.push((head, plain));
    }
    found
}

#[test]
fn every_kind_of_picture_is_a_pdf_with_vectors_and_text() {
    for (kind, picture) in one_of_each(None) {
        let pdf = picture.pdf(TextAs::Text).unwrap();
        assert!(pdf.starts_with(b"%PDF-1.7\n") && pdf.ends_with(b"%%EOF\n"), "{kind}");
        assert_eq!(pdf, picture.pdf(TextAs::Text).unwrap(), "{kind}: the same bytes");
        let streams = streams(&pdf);
        let page = String::from_utf8(streams[0].1.clone()).unwrap();
        assert!(page.contains("BT\n") && page.contains(" l\n") && !page.contains("NaN"), "{kind}");
        assert_eq!(page.matches("q\n").count(), page.matches("Q\n").count(), "{kind}");
        let fonts = streams.iter().filter(|(head, _)| head.contains("/Length1")).count();
        assert!((1..=2).contains(&fonts), "{kind}: {fonts}");
        let (width, height) = picture.size();
        let sheet = format!("/MediaBox[0 0 {} {}]", 0.75 * width, 0.75 * height);
        let whole = String::from_utf8_lossy(&pdf).into_owned();
        assert!(whole.contains(&sheet), "{kind}: {sheet}");
        // The same kinds measured in the gallery: 4 to 45 kB; a chart of 21 methods: 29 kB.
        assert!(pdf.len() < 120_000, "{kind}: {}", pdf.len());

        let outlines = picture.pdf(TextAs::Outlines).unwrap();
        let outlines = self::streams(&outlines);
        assert!(!outlines.iter().any(|(head, _)| head.contains("/Length1")), "{kind}: no font");
        assert!(!String::from_utf8_lossy(&outlines[0].1).contains("BT\n"), "{kind}");
    }
}

/// The font file in a PDF has the outlines of the used glyphs and no others.
#[test]
fn a_pdf_contains_what_it_uses_of_its_fonts_and_its_text_can_be_found() {
    let picture = chart_svg(&few(), &ChartStyle::default()).unwrap();
    let streams = streams(&picture.pdf(TextAs::Text).unwrap());
    let maps = streams.iter().filter(|(_, data)| data.starts_with(b"/CIDInit"));
    let maps: String = maps.map(|(_, data)| String::from_utf8_lossy(data).into_owned()).collect();
    for letter in "QGDSMTrainlo0259μ".chars() {
        let unit = format!("> <{:04X}>", letter as u32);
        assert!(maps.contains(&unit), "{letter:?} can be copied");
    }
    let font = &streams.iter().find(|(head, _)| head.contains("/Length1")).unwrap().1;
    let zeros = font.iter().filter(|byte| **byte == 0).count();
    assert!(2 * zeros > font.len(), "{zeros} of {} bytes", font.len());
}

#[test]
fn a_picture_has_the_width_that_was_asked_for_and_its_text_keeps_its_size() {
    let sizes = |picture: &Picture| -> Vec<f64> {
        let document = roxmltree::Document::parse(picture.svg()).unwrap();
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        let mut sizes: Vec<f64> =
            texts.filter_map(|n| n.attribute("font-size")).map(|s| s.parse().unwrap()).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        sizes
    };
    for inches in [3.3, 5.0, 6.75] {
        let width = inches * 96.0;
        for (kind, picture) in one_of_each(Some(width)) {
            assert!((f64::from(picture.size().0) - width).abs() < 0.01, "{kind} at {inches} in");
            // 5.1 points are the smallest, in the cells of a narrow heat map and in small nodes.
            assert!(sizes(&picture)[0] >= 5.0, "{kind} at {inches} in: {:?}", sizes(&picture));
            let document = roxmltree::Document::parse(picture.svg()).unwrap();
            let root = document.root_element();
            let bounds: Vec<f64> = root
                .attribute("viewBox")
                .unwrap()
                .split(' ')
                .map(|number| number.parse().unwrap())
                .collect();
            for text in document.descendants().filter(|n| n.has_tag_name("text")) {
                let at = |name| text.attribute(name).unwrap().parse::<f64>().unwrap();
                let inside = (bounds[0]..=bounds[0] + bounds[2]).contains(&at("x"))
                    && (bounds[1]..=bounds[1] + bounds[3]).contains(&at("y"));
                assert!(inside, "{kind}: {:?} is at {} {}", text.text(), at("x"), at("y"));
            }
        }
    }
    let narrow = ChartStyle { width: Some(101.0), font_size: 30.0, ..ChartStyle::default() };
    let error = chart_svg(&few(), &narrow).unwrap_err();
    assert!(matches!(error, ViewError::BadMeasure { .. }), "{error}");
    for width in [f64::NAN, -1.0, 10.0, 1e9] {
        let style = ChartStyle { width: Some(width), ..ChartStyle::default() };
        assert!(chart_svg(&few(), &style).is_err(), "{width}");
    }
}

#[test]
fn a_png_says_its_density() {
    let picture = chart_svg(&few(), &ChartStyle::default()).unwrap();
    let png = picture.png(300.0 / 96.0).unwrap();
    let at = png.windows(4).position(|w| w == b"pHYs").unwrap();
    let per_metre = u32::from_be_bytes(png[at + 4..at + 8].try_into().unwrap());
    assert_eq!(per_metre, 11811, "300 dots per inch");
    assert!(resvg::tiny_skia::Pixmap::decode_png(&png).is_ok());
}

#[test]
fn without_a_title_the_words_are_still_there_for_screen_readers() {
    let style = ChartStyle { title: false, ..ChartStyle::default() };
    let picture = chart_svg(&few(), &style).unwrap();
    assert!(!texts(&picture).iter().any(|t| t.starts_with("Loss")));
    assert!(picture.svg().contains("<title>Loss (μ = 0.9)"));
    assert!(picture.size().1 < chart_svg(&few(), &ChartStyle::default()).unwrap().size().1);
}

#[test]
fn many_curves_have_a_panel_each_and_few_share_one() {
    let frames = |picture: &Picture| {
        let color = "stroke=\"#4d4d4d\" stroke-width=\"1\"";
        let lines = picture.svg().lines().filter(|l| l.contains(color));
        lines.filter(|l| l.matches('L').count() == 2).count()
    };
    let each = chart_svg(&many(), &ChartStyle::default()).unwrap();
    assert_eq!(frames(&each), 45);
    for method in many().panels[0].curves.iter().map(Curve::shown_label) {
        assert_eq!(texts(&each).iter().filter(|t| *t == method).count(), 1, "{method}");
    }
    assert!(texts(&each).concat().contains("Grey: all other curves."));
    assert!(each.svg().len() < 300_000, "{}", each.svg().len());
    assert_eq!(frames(&chart_svg(&few(), &ChartStyle::default()).unwrap()), 1);
    let asked = |arrangement, set: &CurveSet| {
        let style = ChartStyle { arrangement, ..ChartStyle::default() };
        frames(&chart_svg(set, &style).unwrap())
    };
    assert_eq!(asked(Arrangement::Each, &few()), 4);
    assert_eq!(asked(Arrangement::Together, &many()), 1);
}

/// The curve in front and those behind it are on the same axes, however short it is.
#[test]
fn a_short_curve_has_the_axes_of_those_behind_it() {
    let mut set = few();
    let short = &mut set.panels[0].curves[0];
    short.x.truncate(9);
    short.runs.iter_mut().for_each(|run| run.truncate(9));
    let style = ChartStyle { arrangement: Arrangement::Each, ..ChartStyle::default() };
    let all = texts(&chart_svg(&set, &style).unwrap());
    assert_eq!(all.iter().filter(|text| *text == "40").count(), 4, "{all:?}");
}

/// The labels of the y axis: texts that end at its ticks.
fn numbers(picture: &Picture) -> Vec<String> {
    let document = roxmltree::Document::parse(picture.svg()).unwrap();
    let texts = document.descendants().filter(|n| n.attribute("text-anchor") == Some("end"));
    texts.filter_map(|n| n.text()).map(str::to_owned).collect()
}

#[test]
fn a_loss_is_never_below_zero_and_no_share_above_a_hundred_percent() {
    // Two seeds that differ much: the mean minus the deviation is below zero.
    let loss = set(vec![curve("gut", &[vec![0.01; 9], vec![1.0; 9]])]);
    let picture = chart_svg(&loss, &ChartStyle::default()).unwrap();
    assert!(!numbers(&picture).iter().any(|n| n.starts_with('−')), "{:?}", numbers(&picture));
    let mut share = set(vec![curve("gut", &[vec![99.9; 9], vec![60.0; 9]])]);
    share.y_label = "Test accuracy of the averaged model (%)".into();
    let highest = numbers(&chart_svg(&share, &ChartStyle::default()).unwrap());
    assert!(!highest.iter().any(|n| n.parse::<f64>().is_ok_and(|v| v > 100.0)), "{highest:?}");
    // What may be negative stays so.
    let any = set(vec![curve("gut", &[vec![-1.0, 1.0]])]);
    assert!(numbers(&chart_svg(&any, &ChartStyle::default()).unwrap()).contains(&"−1.0".into()));
}

#[test]
fn axes_are_logarithmic_where_it_is_asked_for() {
    let style = ChartStyle { log_x: true, log_y: Some(true), ..ChartStyle::default() };
    let picture = chart_svg(&few(), &style).unwrap();
    let all = texts(&picture);
    assert!(numbers(&picture).contains(&"10⁻²".into()), "{all:?}");
    assert!(all.contains(&"10".into()) || all.contains(&"10¹".into()), "{all:?}");
    assert!(picture.svg().contains("logarithmic y axis"));
    let linear = ChartStyle { log_y: Some(false), ..ChartStyle::default() };
    let picture = chart_svg(&CurveSet { log_y: true, ..few() }, &linear).unwrap();
    assert!(numbers(&picture).contains(&"0.5".into()) || numbers(&picture).contains(&"0.4".into()));
}

#[test]
fn given_bands_are_drawn_and_must_fit_their_curves() {
    let set = set(vec![curve("gut", &[falling(0.02)])]);
    let band = vec![vec![vec![(0.1, 0.9); 60]]];
    let words = "from the worst to the best agent";
    let picture = band_chart_svg(&set, &band, words, &ChartStyle::default()).unwrap();
    assert_eq!(picture.svg().matches("fill-opacity=\"0.16\"").count(), 2, "curve and legend");
    assert!(texts(&picture).concat().contains("Bands: from the worst to the best agent."));
    let short = vec![vec![vec![(0.1, 0.9); 59]]];
    let error = band_chart_svg(&set, &short, words, &ChartStyle::default()).unwrap_err();
    assert!(error.to_string().contains("one for every curve"), "{error}");
}
