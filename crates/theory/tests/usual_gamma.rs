//! The rule of thumb for gamma of coded methods: where it says that a run is stable, agents agree.
//! It is a measurement, not a theorem: this test runs what the table in `compression.rs` was made
//! of, without gradients.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{Algorithm, Inbox, Method, Row};
use consort_graph::{GraphSpec, MixingSpec, Spectrum};
use consort_theory::{Analysis, Question, resolve, usual_gamma};

const DIMENSION: usize = 64;

struct Sent<'a> {
    row: &'a Row,
    messages: &'a [Vec<f32>],
}

impl Inbox for Sent<'_> {
    fn senders(&self) -> usize {
        self.row.senders().len()
    }
    fn own(&self) -> usize {
        self.row.own()
    }
    fn weight(&self, k: usize) -> f32 {
        self.row.weights()[k]
    }
    fn message(&self, k: usize) -> &[f32] {
        &self.messages[self.row.senders()[k]]
    }
}

fn spectrum_of(graph: &str) -> Spectrum {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    Spectrum::new(&MixingSpec::Uniform.build(topology.at(0)).unwrap()).unwrap()
}

/// The disagreement after that many rounds of gossip at `gamma`, relative to the start.
fn left_over(graph: &str, method: &Method, gamma: f64, rounds: usize) -> f64 {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    let w = MixingSpec::Uniform.build(topology.at(0)).unwrap();
    let w = w.with_averaging_rate(gamma).unwrap();
    let rows: Vec<Row> = (0..w.agents()).map(|i| Row::new(i, w.row(i))).collect();
    let value = |i: usize, k: usize| {
        let mixed = ((i * 64 + k + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / 8_388_608.0
            - 1.0
    };
    let start: Vec<Vec<f32>> =
        (0..rows.len()).map(|i| (0..DIMENSION).map(|k| value(i, k)).collect()).collect();
    let mut agents: Vec<Box<dyn Algorithm>> =
        start.iter().map(|x0| method.build(x0, 3).unwrap()).collect();
    for (agent, row) in agents.iter_mut().zip(&rows) {
        agent.resync(&Sent { row, messages: &start });
    }
    let spread = |agents: &[Box<dyn Algorithm>]| {
        let mut sum = 0.0;
        for k in 0..DIMENSION {
            let of = |a: &dyn Algorithm| f64::from(a.params()[k]);
            let mean = agents.iter().map(|a| of(a.as_ref())).sum::<f64>() / agents.len() as f64;
            sum += agents.iter().map(|a| (of(a.as_ref()) - mean).powi(2)).sum::<f64>();
        }
        sum.sqrt()
    };
    let before = spread(&agents);
    let mut messages = vec![vec![0.0; agents[0].message_len()]; agents.len()];
    for _ in 0..rounds {
        for (agent, message) in agents.iter_mut().zip(&mut messages) {
            agent.local_step(&[0.0; DIMENSION], 1.0, message);
        }
        for (agent, row) in agents.iter_mut().zip(&rows) {
            agent.mix(&Sent { row, messages: &messages }, 1.0);
        }
    }
    spread(&agents) / before
}

#[test]
fn agents_agree_at_the_gamma_that_auto_chooses() {
    for graph in ["ring:16", "torus:4x8"] {
        for codec in ["sign", "top-k/0.1", "random-k/0.1", "quantize/2", "quantize/3", "quantize/4"]
        {
            for method in ["choco", "cgut:mu=0.5", "cgut:mu=0.9", "qg-cgutm:mu=0.05"] {
                let separator = if method.contains(':') { ',' } else { ':' };
                let text = format!("{method}{separator}codec={codec}");
                let resolved = resolve(&text.parse().unwrap(), &spectrum_of(graph));
                let left = left_over(graph, &resolved.method, resolved.gamma, 500);
                // With the smallest gamma, 0.0003 for signs, next to nothing has happened yet.
                assert!(left < 1.0, "{graph}, {text}, gamma {}: {left:.1e}", resolved.gamma);
            }
        }
    }
}

/// The rule is not idle: a few times more diverges where values are chosen at random.
#[test]
fn a_few_times_more_diverges() {
    let method: Method = "choco:codec=random-k/0.1".parse().unwrap();
    let usual = usual_gamma(&method, 0.0).unwrap();
    assert!(left_over("ring:16", &method, usual, 1500) < 1e-2);
    let far_above = left_over("ring:16", &method, 4.0 * usual, 1500);
    assert!(far_above.is_nan() || far_above >= 1e3, "{far_above}");
}

#[test]
fn the_verdict_says_what_is_not_known() {
    let spectrum = spectrum_of("ring:16");
    let verdict =
        |text: &str| Analysis::new(&Question::new(text.parse().unwrap()), &spectrum).verdict;
    assert!(verdict("choco").contains("not known exactly; up to about 0.5, the usual rule"));
    assert!(verdict("choco:codec=random-k/0.1,gamma=1").contains("may diverge"));
    for lossless in ["choco:codec=none", "gut"] {
        assert!(!verdict(lossless).contains("codec"), "{}", verdict(lossless));
    }
    assert!(verdict("adagossip").contains("AdaGossip shortens its steps"));
}

/// Gamma of AdaGossip is a length: it neither slows W nor is chosen from its spectrum.
#[test]
fn adagossip_runs_on_w_as_it_is() {
    let resolved = resolve(&"adagossip:gamma=0.01".parse().unwrap(), &spectrum_of("torus:4x8"));
    assert_eq!(resolved.gamma, 1.0);
    assert_eq!(resolved.method.to_string(), "adagossip:gamma=0.01");
}
