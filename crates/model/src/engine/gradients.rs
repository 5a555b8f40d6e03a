//! Which buffer holds the gradient of which value, and when.
//!
//! The backward pass is run once on paper. A value's gradient lives from its last reader to
//! its producer, so a few buffers serve all values; buffers of one shape take turns, which
//! keeps their borders zero. Where a block ends in a sum, both terms have the gradient of
//! the sum, and share its buffer if nobody writes to it too early (two at the most: what a
//! third adds would reach the second).

use consort_kernel::Shape;

use super::plan::{Plan, PlannedStep};
use crate::Layer;

/// The buffers, and what each step of the forward order does with them on the way back.
pub(super) struct Gradients {
    pub(super) buffers: Vec<Buffer>,
    /// One per step of the plan.
    pub(super) passes: Vec<Backward>,
    pub(super) of_logits: usize,
}

/// A shape, and for how many images there is room: those of a piece unless said.
pub(super) type Buffer = (Shape, Option<usize>);

/// What a step does on the way back.
#[derive(Clone, Debug, Default)]
pub(super) struct Backward {
    /// Where the gradient of the output lies.
    pub(super) dy: usize,
    /// Where those of what it reads go: of the input; for a sum, of both terms, each unless
    /// it shares the sum's own.
    pub(super) to: Vec<Target>,
    /// Room for a gradient on its way to be added, for a layer that cannot add.
    pub(super) scratch: Option<usize>,
}

/// A gradient to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) buffer: usize,
    /// The value whose gradient it is.
    pub(super) value: usize,
    /// Add to what is there.
    pub(super) accumulate: bool,
}

pub(super) fn assign(plan: &Plan) -> Gradients {
    let mut pool = Pool { buffers: vec![], users: vec![], of: vec![None; plan.shapes.len()] };
    let logits = plan.steps.last().map_or(0, |step| step.output);
    let buffer = |value: usize| (plan.shapes[value], plan.held[value].gradient);
    let of_logits = pool.hold(logits, buffer(logits));
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
            if shared && pool.of[value].is_none() && pool.users[dy] == 1 {
                pool.share(step.output, value);
                continue;
            }
            let accumulate = pool.of[value].is_some();
            let buffer = pool.hold(value, buffer(value));
            to.push(Target { buffer, value, accumulate });
        }
        let on_its_way = to.iter().any(|target| target.accumulate)
            && !matches!(
                step.layer,
                Layer::Conv { .. } | Layer::Depthwise { .. } | Layer::Block { .. }
            );
        let scratch = on_its_way.then(|| pool.borrow(buffer(step.input)));
        passes[index] = Backward { dy, to, scratch };
        if !step.in_place() && !step.adds() {
            pool.release(step.output);
        }
    }
    Gradients { buffers: pool.buffers, passes, of_logits }
}

/// Which values depend on a parameter: the others, such as the images, need no gradient. (A
/// normalisation computes one all the same: its own parameters' come with it.)
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

/// Whether the term that step `index` adds in place may have its gradient in the buffer of
/// the sum's: nobody may write there before the producer of the sum has read it.
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

/// Buffers, how many values use each, and which value has which.
struct Pool {
    buffers: Vec<Buffer>,
    users: Vec<usize>,
    of: Vec<Option<usize>>,
}

impl Pool {
    /// A buffer that nobody uses, as it is or new.
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
        if let Some(buffer) = self.of[value] {
            return buffer;
        }
        let buffer = self.borrow(like);
        self.users[buffer] += 1;
        self.of[value] = Some(buffer);
        buffer
    }

    fn share(&mut self, from: usize, with: usize) {
        self.of[with] = self.of[from];
        if let Some(buffer) = self.of[from] {
            self.users[buffer] += 1;
        }
    }

    fn release(&mut self, value: usize) {
        if let Some(buffer) = self.of[value].take() {
            self.users[buffer] -= 1;
        }
    }
}
