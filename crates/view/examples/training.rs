//! Draws the results of a training run, from made-up trials:
//! `cargo run -p consort-view --example training -- some/folder`
//!
//! Expect three reports (one, four and twelve methods), eight heat maps, the curves of each report
//! as pictures, the table in four forms and an event file for TensorBoard.

use consort_records::{
    MethodTable, OutputFolder, Quantity, Record, Spread, TrialRecords, TrialSummary, XAxis, curves,
    table_text, tensorboard,
};
use consort_view::{
    ChartStyle, HeatMap, HeatMapStyle, NetworkPicture, PictureEdge, PictureEdgeShape, ReportData,
    ReportProvenance, Shade, chart_svg, heat_map_svg, report_html,
};
use std::error::Error;
use std::f64::consts::TAU;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: training <folder>")?;
    let folder = OutputFolder::claim(path, true)?;
    let few = [("dsgd", "D-SGD"), ("gut", "GUT"), ("qg-dsgdm", "QG-D-SGDm"), ("d2", "D²")];
    let many = [
        ("dsgd", "D-SGD"),
        ("dsgdm", "D-SGDm"),
        ("dsgdm-n", "D-SGDm-N"),
        ("gut:mu=0.1", "GUT, µ = 0.1"),
        ("gut:mu=0.5", "GUT, µ = 0.5"),
        ("gut:mu=1", "GUT, µ = 1"),
        ("qg-dsgdm", "QG-D-SGDm"),
        ("qg-gutm", "QG-GUTm"),
        ("qg-gutm-n", "QG-GUTm-N"),
        ("gt", "Gradient tracking"),
        ("d2", "D²"),
        ("my-own-rule:a=3", ""),
    ];
    let reports = [
        ("one", trials(&few[1..2], 1), partition(16, 10, 0.1)),
        ("four", trials(&few, 3), partition(16, 10, 0.1)),
        ("twelve", trials(&many, 3), partition(1024, 10, 0.5)),
    ];
    for (name, trials, partition) in reports {
        let data = report(&trials, partition);
        for (i, plot) in data.plots.iter().enumerate() {
            let picture = chart_svg(plot, &ChartStyle::default())?;
            folder.write(&format!("{name}-curve{i}.png"), picture.png(1.5)?)?;
        }
        folder.write(&format!("{name}.html"), report_html(&data)?)?;
        let table = MethodTable::new(&data.trials);
        folder.write(&format!("{name}.txt"), table_text::to_text(&table))?;
        folder.write(&format!("{name}.md"), table_text::to_markdown(&table))?;
        folder.write(&format!("{name}.tex"), table_text::to_latex(&table))?;
        folder.write(&format!("{name}.csv"), table_text::to_csv(&table))?;
        let started = 1_700_000_000;
        let events = tensorboard::event_file(started as f64, &trials[0].records)?;
        folder.write(&tensorboard::file_name(started), events)?;
    }

    let named = HeatMap {
        classes: ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship"]
            .map(str::to_owned)
            .into_iter()
            .chain(["truck".to_owned()])
            .collect(),
        ..partition(16, 10, 0.1)
    };
    let maps = [
        ("16x2", partition(16, 2, 0.5)),
        ("16x10", partition(16, 10, 0.1)),
        ("16x100", partition(16, 100, 0.1)),
        ("40xnamed", HeatMap { counts: partition(40, 10, 0.1).counts, ..named.clone() }),
        ("16xnamed", named),
        ("1024x2", partition(1024, 2, 0.5)),
        ("1024x10", HeatMap { shade: Shade::OfClass, ..partition(1024, 10, 0.1) }),
        ("1024x100", partition(1024, 100, 0.1)),
    ];
    for (name, map) in maps {
        let picture = heat_map_svg(&map, &HeatMapStyle::default())?;
        folder.write(&format!("map{name}.png"), picture.png(1.5)?)?;
        println!("{name}: {:?}, {} bytes of SVG", picture.size(), picture.svg().len());
    }
    Ok(())
}

/// A repeatable random number between 0 and 1.
fn random(seed: u64, i: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z = (z ^ (z >> 27)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Every method with `seeds` seeds; the second seed of D² diverges.
fn trials(methods: &[(&str, &str)], seeds: u64) -> Vec<TrialRecords> {
    let mut trials = Vec::new();
    for (place, (method, label)) in methods.iter().enumerate() {
        for seed in 1..=seeds {
            let lost = *method == "d2" && seed == 2;
            let last = if lost { 60 } else { 100 };
            let doubled = method.starts_with("gt") || method.starts_with("gut");
            let records = (0..=last).map(|i| {
                let epoch = 2.0 * f64::from(i);
                let noise = random(seed + 10 * place as u64, i as u64) - 0.5;
                let reached = 0.55 + 0.03 * place as f64 + 0.02 * random(seed, 999);
                let accuracy = 0.1 + (reached - 0.1) * (1.0 - (-epoch / 40.0).exp()) + 0.02 * noise;
                let growth = if lost { (0.4 * f64::from(i - 40).max(0.0)).exp() } else { 1.0 };
                let broken = lost && i == last;
                Record {
                    round: 100 * i as u64,
                    epoch,
                    eta: 0.1,
                    train_loss: if broken {
                        f64::INFINITY
                    } else {
                        2.3 * (1.05 - accuracy) * growth
                    },
                    test_loss: Some(if broken {
                        f64::NAN
                    } else {
                        2.4 * (1.1 - accuracy) * growth
                    }),
                    validation: None,
                    test_accuracy: Some(if lost { 0.1 } else { accuracy }),
                    agents: Spread::from_values(&[accuracy - 0.05, accuracy - 0.01]),
                    agents_loss: None,
                    test_r2: None,
                    test_rmse: None,
                    agents_r2: None,
                    averaging_gain: None,
                    consensus_distance: (0.3 / (1.0 + place as f64))
                        * growth
                        * (-epoch / 60.0).exp()
                        * (1.0 + 0.5 * noise)
                        + 1e-4,
                    gradient_norm: 1.0,
                    drift: 0.0,
                    bytes_sent: i as u64 * 2_160_000 * if doubled { 2 } else { 1 },
                    seconds: 1.5 * f64::from(i),
                }
            });
            trials.push(TrialRecords {
                method: (*method).into(),
                label: (*label).into(),
                seed,
                records: records.collect(),
                diverged: lost.then(|| "the training loss of agent 3 is inf in round 6000".into()),
                collapsed: None,
            });
        }
    }
    trials
}

/// Each class is distributed with random weights; a small `alpha` makes them uneven.
fn partition(agents: usize, classes: usize, alpha: f64) -> HeatMap {
    let mut counts = vec![vec![0; classes]; agents];
    for class in 0..classes {
        let weights: Vec<f64> = (0..agents)
            .map(|agent| random(class as u64 + 1, agent as u64 + 1).powf(1.0 / alpha))
            .collect();
        let whole: f64 = weights.iter().sum();
        for agent in 0..agents {
            counts[agent][class] = (50_000.0 / classes as f64 * weights[agent] / whole) as u64;
        }
    }
    HeatMap {
        title: format!("Data of {agents} agents"),
        subtitle: format!("Dirichlet, α = {alpha}; mean total variation from the whole: 0.71"),
        counts,
        classes: vec![],
        shade: Shade::Samples,
    }
}

fn report(trials: &[TrialRecords], partition: HeatMap) -> ReportData {
    let plots = [
        (Quantity::TestAccuracy, XAxis::Epochs),
        (Quantity::TestAccuracy, XAxis::Megabytes),
        (Quantity::TrainLoss, XAxis::Epochs),
        (Quantity::TestLoss, XAxis::Epochs),
        (Quantity::ConsensusDistance, XAxis::Epochs),
        (Quantity::ConsensusDistance, XAxis::Megabytes),
    ];
    let place = |i: usize| TAU * i as f64 / 16.0;
    let ring = NetworkPicture {
        title: "Ring of 16 agents, spectral gap 0.0507".into(),
        nodes: (0..16).map(|i| (place(i).sin(), place(i).cos())).collect(),
        edges: (0..16)
            .map(|from| PictureEdge {
                from,
                to: (from + 1) % 16,
                shape: PictureEdgeShape::Straight,
                dashed: false,
                directed: false,
            })
            .collect(),
        labels: true,
    };
    ReportData {
        title: "LeNet-5 on Fashion-MNIST, ring of 16, Dirichlet 0.1".into(),
        provenance: ReportProvenance {
            command: "consort train --data fashion-mnist --model lenet5 --graph ring:16 \
                      --alpha 0.1 --methods dsgd,gut,qg-dsgdm,d2 --seeds 1..3 --epochs 200"
                .into(),
            version: "consort 0.1.0".into(),
            commit: "0123456789abcdef0123456789abcdef01234567".into(),
            date: "2026-01-31 12:00 UTC".into(),
            machine: "2 cores, AVX-512".into(),
        },
        trials: trials.iter().map(TrialSummary::new).collect(),
        warnings: vec![
            "D² needs a mixing matrix with lambda_min above −1/3; this graph has −0.33.".into(),
        ],
        plots: plots.map(|(quantity, along)| curves(trials, quantity, along)).to_vec(),
        partition: Some(partition),
        network: Some(ring),
        setup: vec![
            ("Model".into(), "lenet5, 61 706 parameters".into()),
            ("Batch".into(), "32 per agent".into()),
            ("Step size".into(), "0.1, divided by 10 after 50 % and 75 %".into()),
        ],
        config: "[data]\nname = \"fashion-mnist\"\nalpha = 0.1\n\n[model]\nname = \"lenet5\"\n"
            .into(),
    }
}
