//! Which runs can continue without a neighbour.

use consort_protocol::Policy;
use consort_train::{PlannedMethod, TrainError};

use super::PlanError;

/// Checks that a run can continue without a neighbour: the effect of a lost message must fade.
///
/// # Errors
/// If the method or the graph does not allow it.
pub fn check_can_continue(method: &PlannedMethod) -> Result<(), PlanError> {
    let topology = &method.topology;
    let refuse =
        |what: &str, reason| Err(PlanError::CannotContinue { what: what.to_string(), reason });
    if !method.method.forgets_lost_messages() {
        let reason = method.method.info().lost_message.forbids();
        return refuse(&method.key, reason.unwrap_or("it never forgets a lost message"));
    }
    let exchanges = method.method.exchanges(1, method.weights.len()).map_err(TrainError::from)?;
    if let Some(reason) = Policy::Continue.refuses(&exchanges) {
        return refuse(&method.key, reason);
    }
    if method.mix.changes_rate() {
        let reason = "what a neighbour missed is taken back with the weights of a later round, but \
                      schedule.mix.shape changes them";
        return refuse(&method.key, reason);
    }
    if !topology.is_fixed() {
        return refuse(topology.name(), "its neighbours change from round to round");
    }
    if !topology.is_undirected() {
        let reason = "its links go one way, so a sender cannot learn that it was set aside";
        return refuse(topology.name(), reason);
    }
    if method.weights.iter().any(|weights| weights.require_symmetric().is_err()) {
        let reason = "its weights are not symmetric, so leaving out a link would shift the average";
        return refuse(topology.name(), reason);
    }
    Ok(())
}
