//! `consort train`: until models and data are here, a demonstration of consensus.

use consort_algo::Method;
use consort_sim::{ConsensusTask, consensus_errors};

use super::print_text;
use crate::arguments::{TrainOptions, WeightOptions};
use crate::failure::{Blame, Failure};
use crate::network::Network;
use crate::table;

const AGENTS: &str = "ring:64";
const DIM: usize = 2000;
const ROUNDS: usize = 300;

pub(crate) fn run(_options: &TrainOptions) -> Result<(), Failure> {
    print_text(&format!(
        "Training on data is not part of this version yet; here is its gossip part at work.\n\
         {AGENTS}: every agent holds {DIM} numbers and hears its two neighbours; all are to agree \
         on the average.\n\n"
    ))?;
    let options = WeightOptions { weights: "auto".into(), graph_seed: 1 };
    let network = Network::build_connected(AGENTS, &options)?;
    let methods = [
        ("gossip", "dsgd"),
        ("gut", "gut:reading=released,mu=0.9"),
        ("qg-gossip", "qg-dsgdm:form=quasi-global"),
        ("qg-gut", "qg-gutm:form=quasi-global,reading=printed,mu=0.01"),
    ];
    let mut rows = Vec::new();
    for (name, spec) in methods {
        let method: Method = spec.parse().or_work()?;
        let weights = &network.weights;
        let task = ConsensusTask { weights, method, dim: DIM, rounds: ROUNDS, seed: 1 };
        let errors = consensus_errors(&task, super::consensus::all_cores(), &|_| {}).or_work()?;
        let relative = |round: usize| format!("{:.1e}", errors[round] / errors[0]);
        rows.push(vec![name.into(), relative(30), relative(100), relative(300), spec.into()]);
    }
    let header = ["method", "after 30 rounds", "after 100", "after 300", "as"];
    print_text(&table::render(&header, &rows))?;
    print_text(
        "\nThe numbers are the disagreement left, relative to the start.\n\
         Next: `consort consensus` draws the curves, `consort analyze --help` predicts them.\n",
    )
}
