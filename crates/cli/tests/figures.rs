//! Figures and tables that go straight into a paper: names, widths, formats, metrics, columns,
//! targets and tests, each through the binary (docs/figures.md).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{consort, consort_in, is_pdf, is_png, is_svg_with_text, names};

/// A small run with two readings of one method, evaluated often.
fn trained(methods: &str, seeds: &str) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let line = format!(
        "train --graph ring:4 --model mlp:8 --epochs 2 --batch 64 --methods {methods} --seeds \
         {seeds} --set evaluation.every=0.25 --out run"
    );
    consort_in(temp.path(), &line).done();
    temp
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Width and height of an SVG in pixels.
fn size(svg: &str) -> (f64, f64) {
    let attribute = |name: &str| {
        let start = svg.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        let end = svg[start..].find('"').unwrap() + start;
        svg[start..end].parse::<f64>().unwrap()
    };
    (attribute("width"), attribute("height"))
}

#[test]
fn legends_and_tables_have_the_papers_names() {
    let temp = trained("qg-gutm,gut:mu=0.5,gut", "1");
    let svg = text(temp.path(), "run/accuracy.svg");
    for name in ["QG-GUTm", "GUT, μ = 0.5", "GUT, μ = 0.9"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        assert!(text(temp.path(), "run/table.md").contains(name), "{name}");
        assert!(text(temp.path(), "run/table.csv").contains(name), "{name}");
    }
    assert!(!svg.contains(">gut"), "what was typed is not in the figure");
    assert!(svg.contains("Test accuracy of the averaged model (%)"));
    let latex = consort_in(temp.path(), "compare run --format latex").done().stdout;
    assert!(latex.contains("GUT, $\\mu$ = 0.5 &"), "{latex}");
    for part in ["% \\usepackage{booktabs}", "\\toprule", "\\midrule", "\\bottomrule"] {
        assert!(latex.contains(part), "{latex}");
    }
    // Files that programs read keep the method as it was typed.
    let json = consort_in(temp.path(), "compare run --format json").done().json();
    assert_eq!(
        (&json[1]["method"], &json[1]["label"]),
        (&"gut:mu=0.5".into(), &"GUT, μ = 0.5".into())
    );
}

#[test]
fn a_figure_for_a_column_of_a_paper() {
    let temp = trained("dsgd,gut", "1,2");
    let line = "compare run --metric loss --along rounds --log-y --svg a.svg --pdf a.pdf --png a.png \
                --width 3.3in --no-title --font-size 8pt";
    consort_in(temp.path(), line).done();
    let svg = text(temp.path(), "a.svg");
    assert!(is_svg_with_text(&svg) && (size(&svg).0 - 316.8).abs() < 0.01, "{:?}", size(&svg));
    assert!(svg.contains(">Round</text>"), "{svg}");
    assert!(svg.contains("Line chart of Test loss of the averaged model against Round"), "{svg}");
    assert!(svg.contains("font-size=\"10.67\"") && svg.contains("logarithmic y axis"));
    assert!(!svg.contains("over rounds</text>"), "no title");
    let pdf = fs::read(temp.path().join("a.pdf")).unwrap();
    assert!(is_pdf(&pdf) && String::from_utf8_lossy(&pdf).contains("/MediaBox[0 0 237.6 "));
    let png = fs::read(temp.path().join("a.png")).unwrap();
    assert!(is_png(&png));
    // 316.8 pixels at 300 instead of 96 to an inch; the width is in bytes 16 to 20.
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 990);

    consort_in(temp.path(), "compare run --svg b.svg --text outlines").done();
    let outlines = text(temp.path(), "b.svg");
    assert!(outlines.starts_with("<svg") && !outlines.contains("<text"));
    consort_in(temp.path(), "compare run --svg c.svg --text embedded").done();
    assert!(text(temp.path(), "c.svg").contains("@font-face"));
    consort_in(temp.path(), "compare run --panels each --svg d.svg").done();
    assert!(text(temp.path(), "d.svg").contains("Grey: all other curves."));
}

#[test]
fn a_folder_has_every_plot_in_three_formats_and_bytes_only_where_they_differ() {
    let temp = trained("dsgd,gut", "1");
    consort_in(temp.path(), "compare run --out same").done();
    let files = names(&temp.path().join("same"));
    for plot in ["accuracy", "test-loss", "train-loss", "consensus-distance"] {
        for ending in ["svg", "pdf", "png", "csv"] {
            assert!(files.contains(&format!("{plot}.{ending}")), "{plot}.{ending}: {files:?}");
        }
    }
    assert!(!files.iter().any(|name| name.contains("bytes")), "{files:?}");
    let doubled = trained("dsgd,gt", "1");
    let files = names(&doubled.path().join("run"));
    assert!(
        files.contains(&"accuracy-by-bytes.svg".to_owned()),
        "GT sends twice as much: {files:?}"
    );
    consort_in(temp.path(), "compare run --metric loss,gradient-norm --along bytes --out some")
        .done();
    let files = names(&temp.path().join("some"));
    let plots: Vec<&String> = files.iter().filter(|name| name.ends_with(".pdf")).collect();
    assert_eq!(plots, ["gradient-norm-by-bytes.pdf", "loss-by-bytes.pdf"]);
}

#[test]
fn agents_have_a_spread_in_the_table_and_bands_in_a_plot() {
    let temp = trained("dsgd,gut", "1");
    let table = consort_in(temp.path(), "compare run").done().stdout;
    assert!(table.contains("Worst to best agent (%)"), "{table}");
    let row = table.lines().find(|line| line.starts_with("DSGD")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    let to = words.iter().position(|word| *word == "to").unwrap();
    let [worst, best] = [words[to - 1], words[to + 1]].map(|n| n.parse::<f64>().unwrap());
    assert!(worst <= best && best <= 100.0, "{row}");
    consort_in(temp.path(), "compare run --metric agents-accuracy --svg agents.svg").done();
    let svg = text(temp.path(), "agents.svg");
    assert!(svg.contains("Mean test accuracy of the agents' own models (%)"), "whose it is");
    // Two methods, in the plot and in the legend; one seed has no other band.
    assert_eq!(svg.matches("fill-opacity=\"0.16\"").count(), 4);
}

#[test]
fn columns_are_chosen_and_ordered() {
    let temp = trained("dsgd,gut", "1,2");
    let line = "compare run --columns seeds,method,spread,accuracy --format markdown";
    let table = consort_in(temp.path(), line).done().stdout;
    let head = "| Seeds | Method | Worst to best agent (%) | Averaged model (%) |";
    assert!(table.starts_with(head), "{table}");
    let csv =
        consort_in(temp.path(), "compare run --columns method,loss --format csv").done().stdout;
    assert!(csv.starts_with("method,label,loss_mean,loss_std\ndsgd,DSGD,"), "{csv}");
    consort_in(temp.path(), "compare run --columns method,acuracy")
        .failed(2, &["acuracy", "accuracy"]);
    consort_in(temp.path(), "compare run --columns rounds-to").failed(2, &["add --target 0.85"]);
}

#[test]
fn a_target_tells_rounds_bytes_and_seconds() {
    let temp = trained("qg-dsgdm,gut", "1,2");
    let line =
        "compare run --target 0.2 --target 99.9% --columns method,rounds-to,bytes-to,seconds-to";
    let table = consort_in(temp.path(), line).done().stdout;
    for heading in ["Rounds to 20 %", "MB to 20 %", "Seconds to 20 %", "Rounds to 99.9 %"] {
        assert!(table.contains(heading), "{table}");
    }
    assert!(table.contains("– (0 of 2)"), "nothing reaches 99.9 % in two epochs: {table}");
    let csv = consort_in(temp.path(), &format!("{line} --format csv")).done().stdout;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let head = lines.next().unwrap();
    let place = head.iter().position(|name| *name == "rounds_to_0.2_mean").unwrap();
    // The first evaluation of each seed with at least a fifth right, from the records.
    let rounds = |seed: u32| {
        let records =
            text(temp.path(), &format!("run/trials/1-qg-dsgdm-seed-{seed}/records.jsonl"));
        let records =
            records.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        let mut there = records.filter(|r| r["test_accuracy"].as_f64().unwrap() >= 0.2);
        there.next().unwrap()["round"].as_f64().unwrap()
    };
    let expected = (rounds(1) + rounds(2)) / 2.0;
    assert_eq!(lines.next().unwrap()[place].parse::<f64>().unwrap(), expected, "{csv}");
    consort_in(temp.path(), "compare run --target 85").failed(2, &["in percent", "85%"]);
    consort_in(temp.path(), "compare run --target 0").failed(2, &["0.85 or 85%"]);
}

#[test]
fn differences_are_tested_in_pairs_and_few_seeds_are_not_oversold() {
    let temp = trained("dsgd,gut,qg-dsgdm", "1,2,3");
    let answer = consort_in(temp.path(), "compare run").done().stdout;
    assert!(answer.contains("Differences to DSGD, paired by seed"), "{answer}");
    assert!(answer.contains("With 3 seeds it is never below 0.25"), "{answer}");
    assert!(answer.contains("No p is corrected for the number of comparisons."), "{answer}");
    let line = "compare run --against qg-dsgdm --columns method,difference,p,p-t --format csv";
    let csv = consort_in(temp.path(), line).done().stdout;
    assert!(csv.starts_with("method,label,difference,p_sign_flip,p_paired_t\n"), "{csv}");
    let own = csv.lines().find(|line| line.starts_with("qg-dsgdm,")).unwrap();
    assert!(own.ends_with(",,,"), "nothing is tested against itself: {csv}");
    let accuracy = |method: &str| -> Vec<f64> {
        let json = consort_in(temp.path(), "compare run --format json").done().json();
        let all = json.as_array().unwrap().clone();
        let own = all.iter().filter(|trial| trial["method"] == method);
        own.map(|trial| trial["final_accuracy"].as_f64().unwrap()).collect()
    };
    let (gut, base) = (accuracy("gut"), accuracy("qg-dsgdm"));
    let mean = gut.iter().zip(&base).map(|(a, b)| 100.0 * (a - b)).sum::<f64>() / 3.0;
    let found = csv.lines().find(|line| line.starts_with("gut,")).unwrap();
    let found: Vec<f64> = found.split(',').skip(2).map(|f| f.parse().unwrap()).collect();
    assert!((found[0] - mean).abs() < 1e-9, "{csv}");
    assert!([0.25, 0.5, 0.75, 1.0].contains(&found[1]), "an eighth is one choice of signs: {csv}");
    consort_in(temp.path(), "compare run --against gutt").failed(2, &["there are: DSGD; GUT;"]);
    let single = trained("dsgd,gut", "1");
    let answer = consort_in(single.path(), "compare run").done().stdout;
    assert!(!answer.contains("paired by seed"), "one seed shows nothing: {answer}");
}

#[test]
fn graphs_have_numbers_rows_and_columns_and_every_format() {
    let temp = tempfile::tempdir().unwrap();
    let line = "graph torus:4x8 --svg t.svg --pdf t.pdf --png t.png --width 84mm --no-title";
    consort_in(temp.path(), line).done();
    let svg = text(temp.path(), "t.svg");
    let (width, height) = size(&svg);
    assert!((width - 84.0 / 25.4 * 96.0).abs() < 0.01, "{width}");
    assert!(height < 0.75 * width, "eight columns are wider than four rows are high: {height}");
    for agent in 0..32 {
        assert!(svg.contains(&format!(">{agent}</text>")), "{agent}");
    }
    assert!(is_pdf(&fs::read(temp.path().join("t.pdf")).unwrap()));
    // Irregular graphs: those who are joined stand together, the same way every time.
    for name in ["e.svg", "again.svg"] {
        consort_in(temp.path(), &format!("graph barabasi-albert:24:1 --svg {name}")).done();
    }
    assert_eq!(text(temp.path(), "e.svg"), text(temp.path(), "again.svg"));
}

#[test]
fn partitions_and_consensus_are_drawn_for_papers_too() {
    let temp = tempfile::tempdir().unwrap();
    let line = "data show digits --partition dirichlet:0.1 --pdf h.pdf --svg h.svg --width 3.3in --no-title";
    consort_in(temp.path(), line).done();
    let svg = text(temp.path(), "h.svg");
    assert!(is_pdf(&fs::read(temp.path().join("h.pdf")).unwrap()));
    assert!((size(&svg).0 - 316.8).abs() < 0.01 && svg.contains(">Samples</text>"));
    consort_in(temp.path(), "data show digits --pdf h.pdf").failed(2, &["--partition"]);
    let line = "consensus --graph ring:8 --dim 8 --rounds 9 --width 8.4cm --log-y=false --out c";
    consort_in(temp.path(), line).done();
    assert!((size(&text(temp.path(), "c/consensus.svg")).0 - 317.48).abs() < 0.01);
    assert!(is_pdf(&fs::read(temp.path().join("c/consensus.pdf")).unwrap()));
    assert!(text(temp.path(), "c/consensus.svg").contains("linear y axis"));
}

/// The commands of docs/figures.md, in order and in one folder. Only the run that they show is
/// shorter here.
#[test]
fn every_command_of_the_documentation_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures.md");
    let page = fs::read_to_string(page).unwrap();
    let temp = tempfile::tempdir().unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() > 12 && lines[0] == "consort train --out runs/demo", "{lines:?}");
    for line in lines {
        let mut line = line.strip_prefix("consort ").unwrap().split('>').next().unwrap().to_owned();
        if line.starts_with("train") {
            line.push_str(" --epochs 2 --seeds 1,2 --set evaluation.every=0.5");
        }
        consort_in(temp.path(), &line).done();
    }
}

#[test]
fn what_is_wrong_with_a_figure_is_said() {
    let temp = trained("dsgd,gut", "1");
    for (line, parts) in [
        ("compare run --svg a.svg --width 3.3", &["3.3", "in, cm, mm, pt or px"][..]),
        ("compare run --svg a.svg --width=-2in", &["positive number"]),
        ("compare run --svg a.svg --width 0.5in", &["width of a picture"]),
        ("compare run --svg a.svg --width 1.1in --font-size 40pt", &["room for the labels"]),
        ("compare run --png a.jpg", &["another format", "--png a.png"]),
        ("compare run --svg a.pdf", &["use --pdf a.pdf"]),
        ("compare run --pdf a.pdf --metric loss,accuracy", &["choose one", "--out DIR"]),
        ("compare run --metric acuracy --pdf a.pdf", &["acuracy", "accuracy"]),
        ("compare run --against gut", &["two seeds"]),
        ("graph ring:8 --png a.jpeg", &["--png a.png"]),
    ] {
        consort_in(temp.path(), line).failed(2, parts);
    }
    assert!(!names(temp.path()).iter().any(|name| name.starts_with("a.")), "nothing is written");
    let help = consort("compare --help").done().stdout;
    for flag in ["--width", "--no-title", "--metric", "--columns", "--target", "--log-y", "--text"]
    {
        assert!(help.contains(flag), "{flag}");
    }
}
