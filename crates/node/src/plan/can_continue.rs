//! Which runs can continue without a neighbour.

use consort_graph::Topology;
use consort_train::PlannedMethod;

use super::PlanError;

/// Checks that a run can continue without a neighbour: the effect of a lost message must fade.
///
/// # Errors
/// If the method or the graph does not allow it.
pub fn check_can_continue(method: &PlannedMethod, topology: &Topology) -> Result<(), PlanError> {
    let refuse =
        |what: &str, reason| Err(PlanError::CannotContinue { what: what.to_string(), reason });
    if !method.method.forgets_lost_messages() {
        return refuse(&method.key, "its tracker never forgets a lost message");
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
