//! A model of your own: eight agents on a ring fit a logistic regression that is written here.
//!
//! ```sh
//! cargo run --release -p consort-sim --example own_model
//! ```
//!
//! Every agent sees another corner of the plane, so none of them could find the line alone.
//! All that is needed is [`Oracle`]: a flat slice of parameters in, loss and gradient out.

use std::sync::Arc;

use consort_algo::{Draw, Method, Oracle, OracleError};
use consort_graph::{GraphSpec, MixingSpec};
use consort_sim::World;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// P(above) = 1 / (1 + exp(-(a x + b y + c))) with the parameters (a, b, c), and every agent's
/// own points.
pub struct Logistic {
    points: Vec<Vec<([f32; 2], bool)>>,
}

impl Logistic {
    /// 200 points for each agent, around its own place on a circle; "above" is a side of the line
    /// x + 2 y = 1.
    pub fn new(agents: usize) -> Self {
        let of_agent = |agent: usize| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(agent as u64);
            let angle = std::f32::consts::TAU * agent as f32 / agents as f32;
            let centre = [2.0 * angle.cos(), 2.0 * angle.sin()];
            let mut point = || {
                let p = centre.map(|c| c + random.random::<f32>() * 2.0 - 1.0);
                (p, p[0] + 2.0 * p[1] > 1.0)
            };
            (0..200).map(|_| point()).collect()
        };
        Logistic { points: (0..agents).map(of_agent).collect() }
    }

    /// The share of all agents' points on the right side of the model's line.
    fn accuracy(&self, model: &[f64]) -> f64 {
        let is_right = |&&([x, y], above): &&([f32; 2], bool)| {
            (model[0] * f64::from(x) + model[1] * f64::from(y) + model[2] > 0.0) == above
        };
        let all = self.points.iter().flatten();
        all.clone().filter(is_right).count() as f64 / all.count() as f64
    }
}

impl Oracle for Logistic {
    fn len(&self) -> usize {
        3
    }

    /// The agent's next 16 points: which ones is decided by the draw alone.
    fn loss_and_grad(&self, draw: Draw, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        const BATCH: usize = 16;
        let own = &self.points[draw.agent];
        let first = draw.round as usize * BATCH;
        let mut loss = 0.0;
        grad.fill(0.0);
        for k in first..first + BATCH {
            let ([x, y], above) = own[k % own.len()];
            let score = at[0] * x + at[1] * y + at[2];
            let margin = if above { score } else { -score };
            loss += (-margin).exp().ln_1p() / BATCH as f32;
            let slope = (1.0 / (1.0 + (-score).exp()) - f32::from(above)) / BATCH as f32;
            grad[0] += slope * x;
            grad[1] += slope * y;
            grad[2] += slope;
        }
        Ok(loss) // the world itself would refuse a NaN
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = "ring:8".parse::<GraphSpec>()?.build(1)?;
    let weights = MixingSpec::Auto.build_all(&topology)?;
    let method: Method = "qg-gutm".parse()?;
    let agents = topology.agents();
    let oracle = Arc::new(Logistic::new(agents));
    let mut world = World::new(&topology, &weights, &method, &[0.0; 3], oracle.clone(), 2)?;

    println!("{agents} agents on a ring, {method}; the line to find is x + 2 y = 1\n");
    println!("round   mean loss   line of the averaged model     accuracy   apart");
    for round in 0..=1000 {
        let loss = world.round(0.1)?.loss;
        if round % 100 == 0 {
            let model = world.average();
            let right = 100.0 * oracle.accuracy(&model);
            let (b, c) = (model[1] / model[0], -model[2] / model[0]);
            let line = format!("x + {b:.2} y = {c:.2}");
            println!("{round:5}   {loss:9.4}   {line:>26}   {right:8.1} %   {:5.3}", apart(&world));
        }
    }
    Ok(())
}

/// How far the agents' models are from their mean, relative to it.
fn apart(world: &World) -> f64 {
    let mean = world.average();
    let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    let distance = |agent: usize| {
        let own = world.params(agent).iter().zip(&mean);
        own.map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum::<f64>().sqrt()
    };
    (0..world.agents()).map(distance).fold(0.0, f64::max) / length
}
