//! Convolution of each channel alone, in vectors of channels.
//!
//! ```text
//! target[p, c] = start[c] + sum_t source[p + t, c] * weights[t, c]
//! dw[t, c]    += sum_p source[p + t, c] * dy[p, c]
//! ```
//!
//! Four neighbouring pixels share their inputs; the channels of a pixel are contiguous, so the
//! innermost loop streams. Usual windows are unrolled, any other is a plain loop over taps.
//! Weights lie as `[8 channels][tap][8]`, the last channels filled with zeros.

use super::Conv2d;
use super::instructions::{Instructions, Kernel, load, store, vector};
use super::residue::residues;
use super::window::{Steps, Window};
use crate::Shape;
use crate::dispatch::multiply_add;

const LANES: usize = 8;
const PIXELS: usize = 4;

/// A depthwise convolution; the input gradient has one part per residue of the stride.
#[derive(Clone, Debug)]
pub(super) struct Depthwise {
    forward: Taps,
    backward: Vec<Taps>,
    gradient: Taps,
}

impl Depthwise {
    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let corner = (-(conv.padding as isize), -(conv.padding as isize));
        let onto = |target: Shape| Window {
            height: y.height,
            width: y.width,
            source: Steps::new(x, corner, 0, conv.stride),
            target: Steps::new(target, (0, 0), 0, 1),
        };
        let rows: Vec<usize> = (0..conv.kernel.0).collect();
        let columns: Vec<usize> = (0..conv.kernel.1).collect();
        let all = |target| Taps::new(conv, onto(target), x, conv.stride, &rows, &columns);
        let mut backward = vec![];
        for high in residues(x.height, conv.kernel.0, conv.stride, conv.padding) {
            for wide in residues(x.width, conv.kernel.1, conv.stride, conv.padding) {
                let empty = high.taps.is_empty() || wide.taps.is_empty();
                let corner = if empty { (0, 0) } else { (high.output, wide.output) };
                let inside = (high.first as isize, wide.first as isize);
                let window = Window {
                    height: high.count,
                    width: wide.count,
                    source: Steps::new(dy, corner, 0, 1),
                    target: Steps::new(x, inside, 0, conv.stride),
                };
                backward.push(Taps::new(conv, window, dy, 1, &high.taps, &wide.taps));
            }
        }
        Depthwise { forward: all(y), backward, gradient: all(dy) }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.forward.pack(weights);
        for part in &mut self.backward {
            part.pack(weights);
        }
    }

    pub(super) fn forward(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        bias: Option<&[f32]>,
        y: &mut [f32],
    ) {
        match bias {
            Some(bias) => self.forward.start[..bias.len()].copy_from_slice(bias),
            None => self.forward.start.fill(0.0),
        }
        on.run(Scale { of: &self.forward, images, source: x, target: y, accumulate: false });
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
    ) {
        for of in &self.backward {
            if !(accumulate && of.places.is_empty()) {
                on.run(Scale { of, images, source: dy, target: dx, accumulate });
            }
        }
    }

    pub(super) fn weight_grad(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
    ) {
        on.run(Correlate { into: &mut self.gradient, images, source: x, dy });
    }

    pub(super) fn take_weight_grad(&mut self, dw: &mut [f32]) {
        self.gradient.unpack(dw);
        self.gradient.weights.fill(0.0);
    }

    pub(super) fn floats(&self) -> usize {
        let all = [&self.forward, &self.gradient].into_iter().chain(&self.backward);
        all.map(|taps| taps.weights.len() + taps.start.len()).sum()
    }
}

/// A window of taps, with a weight (or the sum of a weight's gradient) per tap and channel.
#[derive(Clone, Debug)]
struct Taps {
    window: Window,
    rows: usize,
    columns: usize,
    /// Source pixels from one target pixel to the next.
    stride: usize,
    /// Floats from one row of the source to the next.
    source_row: usize,
    channels: usize,
    /// Position of each tap among the caller's taps of a channel.
    places: Vec<usize>,
    area: usize,
    weights: Vec<f32>,
    start: Vec<f32>,
}

impl Taps {
    fn new(
        conv: &Conv2d,
        window: Window,
        source: Shape,
        stride: usize,
        rows: &[usize],
        columns: &[usize],
    ) -> Self {
        let channels = conv.in_channels;
        let places: Vec<usize> =
            rows.iter().flat_map(|r| columns.iter().map(move |c| r * conv.kernel.1 + c)).collect();
        let padded = channels.next_multiple_of(LANES);
        Taps {
            window,
            rows: rows.len(),
            columns: columns.len(),
            stride,
            source_row: source.row_stride(),
            channels,
            area: conv.kernel.0 * conv.kernel.1,
            weights: vec![0.0; padded * places.len()],
            start: vec![0.0; padded],
            places,
        }
    }

    /// Calls `visit(packed, plain)` for each weight.
    fn each(&self, mut visit: impl FnMut(usize, usize)) {
        for channel in 0..self.channels {
            let (block, lane) = (channel / LANES, channel % LANES);
            for (tap, place) in self.places.iter().enumerate() {
                let packed = (block * self.places.len() + tap) * LANES + lane;
                visit(packed, channel * self.area + place);
            }
        }
    }

    fn pack(&mut self, plain: &[f32]) {
        let mut weights = std::mem::take(&mut self.weights);
        self.each(|at, from| weights[at] = plain[from]);
        self.weights = weights;
    }

    fn unpack(&self, plain: &mut [f32]) {
        self.each(|at, to| plain[to] = self.weights[at]);
    }

    /// The rows of inputs that `count` neighbouring pixels meet, from `at` on.
    #[inline(always)]
    fn rows<'a, const R: usize>(
        &self,
        source: &'a [f32],
        at: usize,
        count: usize,
    ) -> [&'a [f32]; R] {
        let length = ((count - 1) * self.stride + self.columns) * self.channels;
        std::array::from_fn(|r| &source[at + r * self.source_row..][..length])
    }
}

/// `sum += a * b`, lane by lane.
#[inline(always)]
fn add_product<const FMA: bool>(sum: &mut [f32; LANES], a: [f32; LANES], b: [f32; LANES]) {
    for l in 0..LANES {
        sum[l] = multiply_add::<FMA>(a[l], b[l], sum[l]);
    }
}

/// Runs `$self.row` unrolled for a usual window, and `$self.plain_row` for any other.
macro_rules! unrolled {
    ($self:ident, $taps:expr, $fma:ident, $at:expr) => {
        match ($taps.rows, $taps.columns, $taps.stride) {
            (3, 3, 1) => $self.row::<$fma, 3, 3, 1>($at),
            (3, 3, 2) => $self.row::<$fma, 3, 3, 2>($at),
            (2, 2, 1) => $self.row::<$fma, 2, 2, 1>($at),
            (2, 1, 1) => $self.row::<$fma, 2, 1, 1>($at),
            (1, 2, 1) => $self.row::<$fma, 1, 2, 1>($at),
            (1, 1, 1) => $self.row::<$fma, 1, 1, 1>($at),
            _ => $self.plain_row::<$fma>($at, 0),
        }
    };
}

/// The sum over taps, for a batch.
struct Scale<'a> {
    of: &'a Taps,
    images: usize,
    source: &'a [f32],
    target: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for Scale<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let mut cursor = self.of.window.cursor(0);
        for _ in 0..self.images * self.of.window.height {
            let at = cursor.advance_row(&self.of.window);
            unrolled!(self, self.of, FMA, at);
        }
    }
}

impl Scale<'_> {
    #[inline(always)]
    fn row<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        at: (usize, usize),
    ) {
        let width = self.of.window.width;
        let mut p = 0;
        while width - p >= PIXELS {
            self.tile::<FMA, PIXELS, R, C, S>(at, p);
            p += PIXELS;
        }
        while p < width {
            self.tile::<FMA, 1, R, C, S>(at, p);
            p += 1;
        }
        if !self.of.channels.is_multiple_of(LANES) {
            self.plain_row::<FMA>(at, self.of.channels / LANES);
        }
    }

    #[inline(always)]
    fn tile<const FMA: bool, const P: usize, const R: usize, const C: usize, const S: usize>(
        &mut self,
        (source, target): (usize, usize),
        pixel: usize,
    ) {
        let of = self.of;
        let steps = (of.window.source.pixel, of.window.target.pixel);
        let x: [&[f32]; R] = of.rows(self.source, source + pixel * steps.0, P);
        let weights = of.weights.as_chunks::<LANES>().0.as_chunks::<C>().0.as_chunks::<R>().0;
        let target = target + pixel * steps.1;
        for (block, w) in weights[..of.channels / LANES].iter().enumerate() {
            let at = block * LANES;
            let mut sum = [vector(&of.start, at); P];
            if self.accumulate {
                for p in 0..P {
                    sum[p] = vector(self.target, target + p * steps.1 + at);
                }
            }
            for r in 0..R {
                for c in 0..C {
                    for p in 0..P {
                        let input = vector(x[r], (p * S + c) * of.channels + at);
                        add_product::<FMA>(&mut sum[p], input, w[r][c]);
                    }
                }
            }
            for p in 0..P {
                store(self.target, target + p * steps.1 + at, sum[p], LANES);
            }
        }
    }

    /// One row from `block` of the channels on, by a loop over taps.
    #[inline(always)]
    fn plain_row<const FMA: bool>(&mut self, (source, target): (usize, usize), block: usize) {
        let of = self.of;
        for p in 0..of.window.width {
            let from = source + p * of.window.source.pixel;
            let to = target + p * of.window.target.pixel;
            for block in block..of.channels.div_ceil(LANES) {
                let first = block * LANES;
                let mut sum: [f32; LANES] = match self.accumulate {
                    true => load(self.target, to + first),
                    false => load(&of.start, first),
                };
                for tap in 0..of.places.len() {
                    let (r, c) = (tap / of.columns, tap % of.columns);
                    let x: [f32; LANES] =
                        load(self.source, from + r * of.source_row + c * of.channels + first);
                    let w: [f32; LANES] =
                        load(&of.weights, (block * of.places.len() + tap) * LANES);
                    add_product::<FMA>(&mut sum, x, w);
                }
                store(self.target, to + first, sum, of.channels - first);
            }
        }
    }
}

/// The sum over pixels, for a batch: the gradient of the weights.
struct Correlate<'a> {
    into: &'a mut Taps,
    images: usize,
    source: &'a [f32],
    dy: &'a [f32],
}

impl Kernel for Correlate<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let mut cursor = self.into.window.cursor(0);
        for _ in 0..self.images * self.into.window.height {
            let at = cursor.advance_row(&self.into.window);
            unrolled!(self, self.into, FMA, at);
        }
    }
}

impl Correlate<'_> {
    #[inline(always)]
    fn row<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        at: (usize, usize),
    ) {
        let width = self.into.window.width;
        let mut p = 0;
        while width - p >= PIXELS {
            self.tile::<FMA, PIXELS, R, C, S>(at, p);
            p += PIXELS;
        }
        while p < width {
            self.tile::<FMA, 1, R, C, S>(at, p);
            p += 1;
        }
        if !self.into.channels.is_multiple_of(LANES) {
            self.plain_row::<FMA>(at, self.into.channels / LANES);
        }
    }

    #[inline(always)]
    fn tile<const FMA: bool, const P: usize, const R: usize, const C: usize, const S: usize>(
        &mut self,
        (source, dy): (usize, usize),
        pixel: usize,
    ) {
        let into = &mut *self.into;
        let steps = (into.window.source.pixel, into.window.target.pixel);
        let x: [&[f32]; R] = into.rows(self.source, source + pixel * steps.0, P);
        let dy = &self.dy[dy + pixel * steps.1..];
        let sums = into.weights.as_chunks_mut::<LANES>().0;
        let sums = sums.as_chunks_mut::<C>().0.as_chunks_mut::<R>().0;
        for (block, sums) in sums[..into.channels / LANES].iter_mut().enumerate() {
            let at = block * LANES;
            let output: [[f32; LANES]; P] = std::array::from_fn(|p| vector(dy, p * steps.1 + at));
            for r in 0..R {
                let mut sum = sums[r];
                for p in 0..P {
                    for c in 0..C {
                        let input = vector(x[r], (p * S + c) * into.channels + at);
                        add_product::<FMA>(&mut sum[c], input, output[p]);
                    }
                }
                sums[r] = sum;
            }
        }
    }

    #[inline(always)]
    fn plain_row<const FMA: bool>(&mut self, (source, dy): (usize, usize), block: usize) {
        let into = &mut *self.into;
        for p in 0..into.window.width {
            let from = source + p * into.window.source.pixel;
            let dy = dy + p * into.window.target.pixel;
            for block in block..into.channels.div_ceil(LANES) {
                let first = block * LANES;
                let output: [f32; LANES] = load(self.dy, dy + first);
                for tap in 0..into.places.len() {
                    let (r, c) = (tap / into.columns, tap % into.columns);
                    let x: [f32; LANES] =
                        load(self.source, from + r * into.source_row + c * into.channels + first);
                    let at = (block * into.places.len() + tap) * LANES;
                    let mut sum: [f32; LANES] = load(&into.weights, at);
                    add_product::<FMA>(&mut sum, x, output);
                    store(&mut into.weights, at, sum, LANES);
                }
            }
        }
    }
}
