//! What a batch's outputs are compared with, which says by which loss.

/// The right answers of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answers<'a> {
    /// A class for each sample: softmax and cross-entropy.
    Classes(&'a [u32]),
    /// A number for each sample, of a model that puts out one: squared error.
    Numbers(&'a [f32]),
}

impl<'a> Answers<'a> {
    /// For how many samples.
    pub fn len(&self) -> usize {
        match self {
            Answers::Classes(labels) => labels.len(),
            Answers::Numbers(targets) => targets.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `number`-th part, if all but the last have `size` samples.
    pub(super) fn part(self, number: usize, size: usize) -> Self {
        let (first, end) = (number * size, self.len().min((number + 1) * size));
        match self {
            Answers::Classes(labels) => Answers::Classes(&labels[first..end]),
            Answers::Numbers(targets) => Answers::Numbers(&targets[first..end]),
        }
    }
}

impl<'a> From<&'a [u32]> for Answers<'a> {
    fn from(labels: &'a [u32]) -> Self {
        Answers::Classes(labels)
    }
}

impl<'a, const N: usize> From<&'a [u32; N]> for Answers<'a> {
    fn from(labels: &'a [u32; N]) -> Self {
        Answers::Classes(labels)
    }
}

impl<'a> From<&'a Vec<u32>> for Answers<'a> {
    fn from(labels: &'a Vec<u32>) -> Self {
        Answers::Classes(labels)
    }
}

impl<'a> From<&'a [f32]> for Answers<'a> {
    fn from(targets: &'a [f32]) -> Self {
        Answers::Numbers(targets)
    }
}
