//! A report is one sound page that needs nothing from outside and shows every text as text.

use consort_records::{Curve, CurveSet, Panel, Spread, TrialSummary};
use consort_view::{HeatMap, NetworkPicture, ReportData, ReportProvenance, Shade, report_html};

const EVIL: &str = "<script>alert(\"1\")</script>&'";

fn outcome(method: &str, seed: u64, accuracy: f64, diverged: Option<&str>) -> TrialSummary {
    TrialSummary {
        method: method.into(),
        label: String::new(),
        seed,
        final_accuracy: Some(accuracy),
        best_accuracy: Some(accuracy),
        final_loss: Some(0.5),
        validation: None,
        agents_accuracy: None,
        agents_loss: None,
        final_r2: None,
        best_r2: None,
        final_rmse: None,
        agents_r2: None,
        averaging_gain: None,
        final_consensus_distance: 1e-3,
        bytes_sent: 1_000_000,
        seconds: 10.0,
        diverged: diverged.map(str::to_owned),
        collapsed: None,
        unfinished: None,
        data: String::new(),
        cost: None,
    }
}

fn plot(runs: Vec<Vec<f64>>) -> CurveSet {
    CurveSet {
        title: EVIL.into(),
        x_label: EVIL.into(),
        y_label: EVIL.into(),
        log_y: false,
        panels: vec![Panel {
            title: EVIL.into(),
            curves: vec![Curve {
                method: EVIL.into(),
                label: EVIL.into(),
                x: vec![0.0, 1.0],
                seeds: (0..runs.len() as u64).collect(),
                runs,
            }],
        }],
    }
}

fn data() -> ReportData {
    ReportData {
        title: EVIL.into(),
        provenance: ReportProvenance {
            command: EVIL.into(),
            version: EVIL.into(),
            commit: EVIL.into(),
            date: EVIL.into(),
            machine: EVIL.into(),
        },
        trials: vec![
            outcome("gut", 1, 0.75, None),
            outcome("gut", 2, 0.25, None),
            outcome(EVIL, 1, 0.125, None),
            outcome("d2", 7, f64::NAN, Some(EVIL)),
            TrialSummary {
                collapsed: Some("at chance level".into()),
                ..outcome("gt", 8, 0.1, None)
            },
        ],
        warnings: vec![EVIL.into()],
        plots: vec![plot(vec![vec![1.0, 2.0]]), plot(vec![vec![1.0, 2.0], vec![2.0, 3.0]])],
        partition: Some(HeatMap {
            title: EVIL.into(),
            subtitle: EVIL.into(),
            counts: vec![vec![1, 2], vec![3, 4]],
            classes: vec![EVIL.into(), "b".into()],
            shade: Shade::OfAgent,
        }),
        network: Some(NetworkPicture {
            title: EVIL.into(),
            nodes: vec![(0.0, 0.0), (1.0, 0.0)],
            edges: vec![],
            labels: true,
        }),
        setup: vec![(EVIL.into(), EVIL.into())],
        config: format!("a = 1\nb = \"{EVIL}\"\n"),
    }
}

/// The page's body as a tree; its markup is kept to what XML reads too.
fn body(page: &str) -> String {
    let from = page.find("<body>").expect("a body");
    let to = page.find("</body>").expect("its end") + "</body>".len();
    page[from..to].to_owned()
}

#[test]
fn no_text_becomes_markup() {
    let page = report_html(&data()).unwrap();
    assert!(!page.contains("<script"), "a name became markup");
    let body = body(&page);
    let document = roxmltree::Document::parse(&body).expect("sound markup");
    let texts = |tag: &str| {
        document
            .descendants()
            .filter(|n| n.has_tag_name(tag))
            .filter_map(|n| n.text())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("h1"), [EVIL]);
    assert_eq!(texts("pre"), [format!("a = 1\nb = \"{EVIL}\"")]);
    assert!(texts("li").contains(&EVIL));
    assert!(texts("li").contains(&format!("d2, seed 7, diverged: {EVIL}").as_str()));
    assert!(texts("li").contains(&"gt, seed 8, collapsed: at chance level"));
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let page = report_html(&data()).unwrap();
    for foreign in ["src=", "@import", "<link", "url(http"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let names = page.matches("http").count();
    assert_eq!(
        names,
        page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
            + page.matches("xmlns:xlink=\"http://www.w3.org/1999/xlink\"").count()
    );
}

#[test]
fn no_two_pictures_share_a_name() {
    let page = body(&report_html(&data()).unwrap());
    let document = roxmltree::Document::parse(&page).unwrap();
    let mut ids: Vec<&str> = document.descendants().filter_map(|n| n.attribute("id")).collect();
    assert!(ids.len() >= 2, "{ids:?}");
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    for node in document.descendants() {
        for used in node.attributes().filter_map(|a| a.value().strip_prefix("url(#")) {
            assert!(ids.contains(&used.trim_end_matches(')')), "{used}");
        }
    }
}

#[test]
fn only_the_best_method_is_bold() {
    let page = report_html(&data()).unwrap();
    // Mean of 75 and 25; deviations ±25, divisor 1.
    assert!(page.contains("<strong>50.00 ± 35.36</strong>"));
    assert_eq!(page.matches("<strong>").count(), 1);
    assert!(page.contains("1, all diverged"));
}

#[test]
fn own_results_are_said_to_be_own_and_never_bold() {
    let plain = report_html(&data()).unwrap();
    assert!(plain.contains("Averaged model (%)") && !plain.contains("Agents' own"));
    let own = TrialSummary {
        final_accuracy: None,
        best_accuracy: None,
        final_loss: None,
        agents_accuracy: Spread::from_values(&[0.9, 1.0]),
        agents_loss: Spread::from_values(&[0.25]),
        ..outcome("gt", 1, 0.5, None)
    };
    let trials = data().trials.into_iter().chain([own]).collect();
    let page = report_html(&ReportData { trials, ..data() }).unwrap();
    assert!(page.contains("<th scope=\"col\">Agents' own (%)</th>"), "{page}");
    assert!(page.contains("<td>–</td><td>–</td><td>–</td><td>95.00</td><td>0.2500</td>"), "{page}");
    assert!(page.contains("is not ranked"), "the note");
    assert!(
        page.contains("<strong>50.00 ± 35.36</strong>") && page.matches("<strong>").count() == 1
    );
}

#[test]
fn a_method_has_one_colour_in_table_and_curves() {
    let methods = ["gut:mu=0.1", "dsgd", "gut:mu=0.5", "mine"];
    let mut figure = plot(vec![vec![1.0, 2.0]]);
    let curve = figure.panels[0].curves[0].clone();
    figure.panels[0].curves =
        methods.map(|m| Curve { method: m.into(), label: m.into(), ..curve.clone() }).to_vec();
    let trials = methods.map(|m| outcome(m, 1, 0.5, None)).to_vec();
    let page = body(
        &report_html(&ReportData {
            trials,
            plots: vec![figure],
            partition: None,
            network: None,
            ..data()
        })
        .unwrap(),
    );
    let document = roxmltree::Document::parse(&page).unwrap();
    let strokes = |tag: &str| {
        let within = document.descendants().filter(|n| n.has_tag_name(tag));
        let mut strokes: Vec<&str> = within
            .flat_map(|n| n.descendants())
            .filter_map(|n| n.attribute("stroke"))
            .filter(|color| !["#4d4d4d", "#e4e4e4", "#ffffff", "none"].contains(color))
            .collect();
        strokes.sort_unstable();
        strokes.dedup();
        strokes.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(strokes("td").len(), 4);
    assert_eq!(strokes("td"), strokes("figure"));
}

#[test]
fn what_is_missing_is_left_out_or_said() {
    let bare = ReportData {
        title: "Nothing yet".into(),
        provenance: ReportProvenance::default(),
        trials: vec![],
        warnings: vec![],
        plots: vec![plot(vec![vec![f64::NAN; 2]])],
        partition: None,
        network: None,
        setup: vec![],
        config: String::new(),
    };
    let page = report_html(&bare).unwrap();
    assert!(page.contains("has nothing to draw"));
    for absent in ["Warnings", "Results", "Set-up", "<dl>"] {
        assert!(!page.contains(absent), "{absent}");
    }
}
