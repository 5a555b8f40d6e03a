//! Which buffer holds the gradient of which value, and when.
//!
//! This goes through the steps of the backward pass once, without computing anything. A value's
//! gradient is in use from the value's last reader back to its producer, so a few buffers serve
//! all values. A buffer serves values of one shape only, so that its border stays zero. Where a
//! block ends in a sum, both terms have the gradient of the sum, and share its buffer if nobody
//! writes to it too early. (At most two values share a buffer: what a third one adds would reach
//! the second.)

use consort_kernel::Shape;

use super::plan::{Plan, PlannedStep};
use crate::Layer;

/// The buffers, and what each step does with them in the backward pass.
pub(super) struct Gradients {
    pub(super) buffers: Vec<Buffer>,
    /// One per step of the plan, in the order of the forward pass.
    pub(super) passes: Vec<Backward>,
    /// The buffer of the logits' gradient.
    pub(super) logits: usize,
}

/// A buffer's shape, and for how many images it has room: `None` is a whole micro-batch.
pub(super) type Buffer = (Shape, Option<usize>);

/// What a step does in the backward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Backward {
    /// The buffer with the gradient of the output.
    pub(super) dy: usize,
    /// Where the gradients of its operands go: that of the input; for a sum, those of both terms,
    /// except a term that shares the buffer of the sum.
    pub(super) to: Vec<Target>,
    /// For a layer that cannot add to a gradient: a buffer for its own part, which is added
    /// afterwards.
    pub(super) scratch: Option<usize>,
}

/// A gradient to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) buffer: usize,
    /// The value whose gradient it is.
    pub(super) value: usize,
    /// Add to the gradient that is there.
    pub(super) accumulate: bool,
}

/// Assigns a buffer to every gradient of a plan.
pub(super) fn assign(plan: &Plan) -> Gradients {
    let mut pool = Pool { buffers: vec![], users: vec![], held_by: vec![None; plan.shapes.len()] };
    let logits = plan.steps.last().map_or(0, |step| step.output);
    let buffer = |value: usize| (plan.shapes[value], plan.held[value].gradient);
    let logits = pool.hold(logits, buffer(logits));
    let learns = learning_values(plan);
    let mut passes = vec![Backward::default(); plan.steps.len()];
    for (index, step) in plan.steps.iter().enumerate().rev() {
        let dy = pool.hold(step.output, buffer(step.output));
        let mut to = vec![];
        for value in [(!step.in_place()).then_some(step.input), step.added].into_iter().flatten() {
            let norm = matches!(step.layer, Layer::Evonorm { .. } | Layer::GroupNorm { .. });
            if !learns[value] && !norm {
                continue;
            }
            let shared = step.added == Some(value) && may_share(plan, index);
            if shared && pool.held_by[value].is_none() && pool.users[dy] == 1 {
                pool.share(step.output, value);
                continue;
            }
            let accumulate = pool.held_by[value].is_some();
            let buffer = pool.hold(value, buffer(value));
            to.push(Target { buffer, value, accumulate });
        }
        let can_add = matches!(
            step.layer,
            Layer::Conv { .. } | Layer::Depthwise { .. } | Layer::Block { .. }
        );
        let needs_scratch = to.iter().any(|target| target.accumulate) && !can_add;
        let scratch = needs_scratch.then(|| pool.borrow(buffer(step.input)));
        passes[index] = Backward { dy, to, scratch };
        if !step.in_place() && !step.adds() {
            pool.release(step.output);
        }
    }
    Gradients { buffers: pool.buffers, passes, logits }
}

/// Which values depend on a parameter. The others, such as the input images, need no gradient.
/// (A normalisation computes the gradient of its input all the same, together with those of its
/// parameters.)
fn learning_values(plan: &Plan) -> Vec<bool> {
    let mut learns = vec![false; plan.shapes.len()];
    for step in &plan.steps {
        let has_parameters = matches!(
            step.layer,
            Layer::Conv { .. }
                | Layer::Depthwise { .. }
                | Layer::Evonorm { .. }
                | Layer::GroupNorm { .. }
                | Layer::Linear { .. }
        );
        let added = step.added.is_some_and(|added| learns[added]);
        learns[step.output] |= has_parameters || learns[step.input] || added;
    }
    learns
}

/// Whether the term that step `index` adds in place may share the buffer of the sum's gradient:
/// nobody may write to it before the producer of the sum has read it.
fn may_share(plan: &Plan, index: usize) -> bool {
    let step = &plan.steps[index];
    let Some(added) = step.added else { return false };
    if !step.in_place() || plan.shapes[added] != plan.shapes[step.output] {
        return false;
    }
    let producer = plan.steps.iter().position(|other| other.output == step.output).unwrap_or(0);
    let reads_it = |other: &PlannedStep| other.input == added || other.added == Some(added);
    !plan.steps[producer..index].iter().any(reads_it)
}

/// The buffers and who uses them.
struct Pool {
    buffers: Vec<Buffer>,
    /// How many values use each buffer.
    users: Vec<usize>,
    /// The buffer of each value, if it has one now.
    held_by: Vec<Option<usize>>,
}

impl Pool {
    /// A buffer that nobody uses: an existing one, or else a new one.
    fn borrow(&mut self, like: Buffer) -> usize {
        let free = (0..self.buffers.len())
            .find(|&buffer| self.users[buffer] == 0 && self.buffers[buffer] == like);
        free.unwrap_or_else(|| {
            self.buffers.push(like);
            self.users.push(0);
            self.buffers.len() - 1
        })
    }

    /// The buffer of a value's gradient.
    fn hold(&mut self, value: usize, like: Buffer) -> usize {
        if let Some(buffer) = self.held_by[value] {
            return buffer;
        }
        let buffer = self.borrow(like);
        self.users[buffer] += 1;
        self.held_by[value] = Some(buffer);
        buffer
    }

    /// Gives the buffer of value `from` to value `with`, too.
    fn share(&mut self, from: usize, with: usize) {
        self.held_by[with] = self.held_by[from];
        if let Some(buffer) = self.held_by[from] {
            self.users[buffer] += 1;
        }
    }

    /// The gradient of a value is no longer needed.
    fn release(&mut self, value: usize) {
        if let Some(buffer) = self.held_by[value].take() {
            self.users[buffer] -= 1;
        }
    }
}
