//! The backward pass through values that were not kept, and what is to be fetched from memory
//! meanwhile.

use std::ops::Range;

use super::plan::Run;
use super::step::{Moment, Pass, Step, To};
use super::{Engine, Images};

impl Engine {
    /// Step `at` of a run, for some images. What it needs and was not kept is computed once
    /// more before; by a normalisation, while the gradient of its output is there for its own
    /// sums.
    pub(super) fn backward(
        &mut self,
        (run, at): (usize, usize),
        flat: &[f32],
        grad: &mut [f32],
        together: &Images,
        count: usize,
        watch: &mut dyn FnMut(Moment<'_>),
    ) {
        let images = &together.images;
        if let Some(kept) = self.rematerialised_from(at) {
            let ahead = self.rematerialised_next((run, at), images, count);
            let norm = self.is_rematerialised_by_evonorm(at);
            if !norm {
                for step in &mut self.steps[kept + 1..at] {
                    step.forward_again(flat, images.clone(), &mut self.values, &mut self.scratch);
                    watch(step.moment(Pass::Backward));
                }
            }
            if let Some((kept, image)) = ahead {
                let value = &self.values[self.steps[kept].output];
                let images = image..count.min(image.saturating_add(self.runs[run].images));
                self.scratch.fetch_ahead(value.images(&images));
            }
            if norm {
                self.step_back(at, To::Input, flat, grad, together, watch);
                let step = &mut self.steps[at - 1];
                step.rematerialise(flat, grad, images.clone(), &mut self.values, &self.gradients);
                watch(step.moment(Pass::Backward));
                return self.step_back(at, To::Parameters, flat, grad, together, watch);
            }
        } else if let Some(value) = self.read_next(run, at) {
            self.scratch.fetch_ahead(self.values[value].images(images));
        }
        let to = if self.is_rematerialised_by_evonorm(at + 1) { To::Input } else { To::All };
        self.step_back(at, to, flat, grad, together, watch);
    }

    fn step_back(
        &mut self,
        at: usize,
        to: To,
        flat: &[f32],
        grad: &mut [f32],
        images: &Images,
        watch: &mut dyn FnMut(Moment<'_>),
    ) {
        let (values, gradients) = (&self.values, &mut self.gradients);
        let step = &mut self.steps[at];
        step.backward(to, (flat, grad), images, values, gradients, &mut self.scratch);
        watch(step.moment(Pass::Backward));
    }

    /// The value that is kept and read next in the backward pass, after the input of convolution `at`.
    fn read_next(&self, run: usize, at: usize) -> Option<usize> {
        let before = self.steps[self.runs[run].steps.start..at].last()?;
        let kept = !self.values[before.input].few && before.reads_input_again();
        (kept && self.steps[at].is_conv()).then_some(before.input)
    }

    /// Whether the input of convolution `at` was not kept, and is what the EvoNorm before it
    /// puts out.
    fn is_rematerialised_by_evonorm(&self, at: usize) -> bool {
        let Some(conv) = self.steps.get(at).filter(|step| at >= 2 && step.is_conv()) else {
            return false;
        };
        let norm = &self.steps[at - 1];
        norm.is_evonorm()
            && norm.output == conv.input
            && self.rematerialised_from(at) == Some(at - 2)
    }

    /// The value that is kept and written next after the output of convolution `at`, unless by
    /// another one, which fetches itself what it writes.
    pub(super) fn written_next(&self, at: usize, run: &Run) -> Option<usize> {
        let (kept, now) = (|step: &&Step| !self.values[step.output].few, &self.steps[at]);
        let next = self.steps[at + 1..run.steps.end].iter().find(kept)?;
        let fetches = |step: &Step| step.is_conv() && !step.is_depthwise();
        (fetches(now) && !fetches(next)).then_some(next.output)
    }

    /// The last step before `at` whose output was kept, if the input of step `at` was not, and
    /// is needed once more.
    fn rematerialised_from(&self, at: usize) -> Option<usize> {
        let few = |value: usize| self.values[value].few;
        let step = &self.steps[at];
        if !few(step.input) || few(step.output) || !step.reads_input_again() {
            return None; // kept, or there since a later step needed it, or not needed
        }
        self.steps[..at].iter().rposition(|step| !few(step.output))
    }

    /// What comes to be rematerialised after the input of step `at`: from the output of which step,
    /// and the first image.
    fn rematerialised_next(
        &self,
        (run, at): (usize, usize),
        images: &Range<usize>,
        count: usize,
    ) -> Option<(usize, usize)> {
        let last = |steps: Range<usize>| steps.rev().find_map(|at| self.rematerialised_from(at));
        let Range { start, end } = self.runs[run].steps.clone();
        let now = || Some((last(start..at)?, images.start));
        let then = || Some((last(at..end).filter(|_| images.end < count)?, images.end));
        now().or_else(then)
    }
}
