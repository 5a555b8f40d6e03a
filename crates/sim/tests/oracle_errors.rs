//! What an oracle reports, or hides, the driver tells with agent, round, what and where.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use consort_algo::{Draw, GradientError, Oracle, OracleError};
use consort_graph::{GraphSpec, MixingSpec};
use consort_sim::{SimError, World};

const AGENTS: usize = 8;
const DIM: usize = 3;
const ADVICE: &str = "; lower the step size or mu (`consort analyze` tells the stable range)";

/// What an oracle does in its bad round.
#[derive(Clone)]
enum Trouble {
    Reports(OracleError),
    HidesLoss(f32),
    HidesGradient(usize, f32),
}

/// Zero gradients; in trouble where `trouble` says so, for agent and round.
struct Troubled<F> {
    trouble: F,
    len: usize,
}

impl<F: Fn(Draw) -> Option<Trouble> + Send + Sync> Oracle for Troubled<F> {
    fn len(&self) -> usize {
        self.len
    }

    fn loss_and_grad(&self, draw: Draw, _at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        grad.fill(0.0);
        match (self.trouble)(draw) {
            Some(Trouble::Reports(error)) => return Err(error),
            Some(Trouble::HidesLoss(loss)) => return Ok(loss),
            Some(Trouble::HidesGradient(k, value)) => grad[k] = value,
            None => {}
        }
        Ok(1.0)
    }
}

fn world(
    len: usize,
    threads: usize,
    trouble: impl Fn(Draw) -> Option<Trouble> + Send + Sync + 'static,
) -> Result<World, SimError> {
    let topology = format!("ring:{AGENTS}").parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = MixingSpec::Auto.build_all(&topology).unwrap();
    let oracle = Arc::new(Troubled { trouble, len });
    World::new(&topology, &weights, &"gut:mu=0.5".parse().unwrap(), &[0.0; DIM], oracle, threads)
}

/// The error of agent 3 in round 17, after 17 good rounds.
fn failure(trouble: &Trouble) -> SimError {
    let trouble = trouble.clone();
    let of = move |draw| (draw == Draw::new(3, 17)).then(|| trouble.clone());
    let mut world = world(DIM, 2, of).unwrap();
    for _ in 0..17 {
        assert_eq!(world.round(0.1).unwrap().loss, 1.0);
    }
    world.round(0.1).unwrap_err()
}

#[test]
fn a_non_finite_output_is_told_with_its_layer() {
    let layer = Some("2.body.0 (conv)".to_string());
    let told = failure(&Trouble::Reports(OracleError::NonFinite { what: "output", layer }));
    let expected = "agent 3, round 17: layer 2.body.0 (conv) has a non-finite output";
    assert_eq!(told.to_string(), format!("{expected}{ADVICE}"));
    assert!(matches!(
        told,
        SimError::Gradient(GradientError::NonFinite {
            draw: Draw { agent: 3, round: 17, step: 0 },
            what: "output",
            layer: Some(_),
            parameter: None
        })
    ));
}

#[test]
fn a_non_finite_loss_without_a_layer_is_told_as_such() {
    let told = failure(&Trouble::Reports(OracleError::NonFinite { what: "loss", layer: None }));
    assert_eq!(told.to_string(), format!("agent 3, round 17: the loss is not finite{ADVICE}"));
}

/// Data that cannot be read are no reason to lower the step size.
#[test]
fn a_failure_is_told_in_the_oracles_words_and_without_advice() {
    let told = failure(&Trouble::Reports(OracleError::Failed {
        reason: "cannot read batch 17 of data.bin: it ends early".into(),
    }));
    let expected = "agent 3, round 17: cannot read batch 17 of data.bin: it ends early";
    assert_eq!(told.to_string(), expected);
    assert!(!told.is_divergence());
    let draw = Draw::new(3, 17);
    let SimError::Gradient(GradientError::Failed { draw: got, .. }) = told else {
        panic!("{told}");
    };
    assert_eq!(got, draw);
}

#[test]
fn a_loss_that_the_oracle_did_not_check_is_found() {
    for loss in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let told = failure(&Trouble::HidesLoss(loss));
        assert_eq!(told.to_string(), format!("agent 3, round 17: the loss is not finite{ADVICE}"));
    }
}

#[test]
fn a_gradient_that_the_oracle_did_not_check_is_found_and_its_parameter_named() {
    for (k, value) in [(0, f32::NAN), (1, f32::INFINITY), (2, f32::NEG_INFINITY)] {
        let told = failure(&Trouble::HidesGradient(k, value));
        let expected = format!("agent 3, round 17: the gradient of parameter {k} is not finite");
        assert_eq!(told.to_string(), format!("{expected}{ADVICE}"));
    }
}

/// Which agent is named does not depend on which thread is first.
#[test]
fn of_several_failures_the_first_agents_is_told_for_any_number_of_threads() {
    for threads in [1, 2, 3] {
        for _ in 0..20 {
            let of = |draw: Draw| {
                (draw.agent >= 2 && draw.round == 1).then_some(Trouble::HidesLoss(f32::NAN))
            };
            let mut world = world(DIM, threads, of).unwrap();
            world.round(0.1).unwrap();
            let told = world.round(0.1).unwrap_err();
            assert!(
                matches!(
                    told,
                    SimError::Gradient(GradientError::NonFinite {
                        draw: Draw { agent: 2, round: 1, .. },
                        ..
                    })
                ),
                "{told}"
            );
        }
    }
}

#[test]
fn an_oracle_of_another_size_is_refused_before_the_first_round() {
    let told = world(DIM + 1, 1, |_| None).err().unwrap();
    let expected = "the oracle has 4 parameters, but the starting model has 3";
    assert_eq!(told.to_string(), expected);
}
