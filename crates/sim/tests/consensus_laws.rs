//! The average-consensus task: what must hold whatever the machine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::Method;
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum};
use consort_sim::{ConsensusTask, consensus_errors};

fn weights_of(graph: &str) -> Vec<MixingMatrix> {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    MixingSpec::Auto.build_all(&topology).unwrap()
}

fn errors_of(graph: &str, method: &str, dim: usize, rounds: usize, threads: usize) -> Vec<f64> {
    let weights = weights_of(graph);
    let method: Method = method.parse().unwrap();
    let task = ConsensusTask { weights: &weights, method, dim, rounds, seed: 7 };
    consensus_errors(&task, threads, &|_| {}).unwrap()
}

/// Same seed, same bits, for any number of threads.
#[test]
fn one_thread_and_two_threads_give_the_same_bits() {
    for method in ["dsgd", "gut:mu=0.1", "qg-gutm:form=quasi-global,mu=0.01", "gt"] {
        let bits = |threads| -> Vec<u64> {
            let errors = errors_of("ring:64", method, 3001, 30, threads);
            errors.iter().map(|error| error.to_bits()).collect()
        };
        let one = bits(1);
        assert_eq!(one, bits(2), "{method}");
        assert_eq!(one, bits(3), "{method}");
    }
}

/// Long-run gossip shrinks the squared error by lambda_2² a round.
#[test]
fn gossip_shrinks_at_the_rate_of_the_spectrum() {
    let spectrum = Spectrum::new(&weights_of("ring:32")[0]).unwrap();
    let errors = errors_of("ring:32", "dsgd", 64, 400, 1);
    let measured = (errors[400] / errors[300]).powf(0.01);
    assert!((measured - spectrum.lambda_2.powi(2)).abs() < 1e-4, "{measured}");
}

/// Paper, section Average Consensus Task: "gossip averaging with GUT converges faster
/// than simple gossip averaging", and "for graphs with a smaller spectral gap" (256
/// agents) "QG-GUTm can converge faster than quasi-global gossip".
#[test]
fn the_order_of_the_papers_figure_holds() {
    let last = |method| errors_of("ring:256", method, 48, 1000, 2)[1000];
    let gossip = last("dsgd");
    let gut = last("gut:reading=printed,mu=0.1");
    let qg = last("qg-dsgdm:form=quasi-global");
    let qg_gut = last("qg-gutm:form=quasi-global,reading=printed,mu=0.01");
    assert!(gut < 0.96 * gossip, "GUT {gut:e}, gossip {gossip:e}");
    assert!(qg < 0.5 * gossip, "QGM {qg:e}, gossip {gossip:e}");
    assert!(qg_gut < 0.95 * qg, "QG-GUTm {qg_gut:e}, QGM {qg:e}");
}

/// One period of the one-peer exponential graph averages exactly (SGP, ICML 2019), and so does one of
/// a Base-(k+1) graph for any number of agents (Takezawa et al., NeurIPS 2023): all agents of DSGD
/// hold the mean, but not a round before. Measured: at most 1e-12.
#[test]
fn dsgd_agrees_in_one_period_of_an_exact_sequence() {
    let graphs = ["one-peer-exponential:16", "base:25:1", "base:21:2", "base:12:1", "base:7:3"];
    for graph in graphs {
        let period = weights_of(graph).len();
        let errors = errors_of(graph, "dsgd", 40, period, 1);
        assert!(errors[period - 1] > 1e-2, "{graph}: {:e}", errors[period - 1]);
        assert!(errors[period] < 1e-11, "{graph}: {:e}", errors[period]);
    }
}
