//! EvoNorm against its equation in `f64` and against differences of it.

mod images;

use consort_kernel::evonorm::{EvoNorm, EvoNormForm};
use consort_kernel::{IndivisibleChannels, Isa, Shape};
use images::{
    assert_close, differences, dot, framed, isas, noise, same_bits, sizes, unframed, wide,
};
use proptest::prelude::*;

const BORDER: f32 = 77.0;

/// One image, as the equation says; `v` empty for the hard form.
fn reference(
    c: usize,
    groups: usize,
    z: &[f64],
    gamma: &[f64],
    beta: &[f64],
    v: &[f64],
) -> Vec<f64> {
    let of_group = |i: usize| (i % c) / (c / groups);
    let n = (z.len() / groups) as f64;
    let (mut mean, mut deviation) = (vec![0.0; groups], vec![0.0; groups]);
    for i in 0..z.len() {
        mean[of_group(i)] += z[i] / n;
    }
    for i in 0..z.len() {
        deviation[of_group(i)] += (z[i] - mean[of_group(i)]).powi(2) / n;
    }
    for deviation in &mut deviation {
        *deviation = (*deviation + 1e-5).sqrt();
    }
    (0..z.len())
        .map(|i| {
            let gate = match v.get(i % c) {
                None => (z[i] / 6.0 + 0.5).clamp(0.0, 1.0),
                Some(v) => 1.0 / (1.0 + (-v * z[i]).exp()),
            };
            gamma[i % c] * z[i] * gate / deviation[of_group(i)] + beta[i % c]
        })
        .collect()
}

/// A layer, its operands without borders, and how they are framed.
struct Case {
    images: usize,
    shape: Shape,
    halos: [usize; 3],
    groups: usize,
    form: EvoNormForm,
    z: Vec<f32>,
    dy: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    v: Vec<f32>,
}

#[derive(Debug, PartialEq)]
struct Outcome {
    y: Vec<f32>,
    dz: Vec<f32>,
    parameters: [Vec<f32>; 3],
}

impl Case {
    fn new(
        images: usize,
        shape: Shape,
        halos: [usize; 3],
        groups: usize,
        form: EvoNormForm,
    ) -> Self {
        let (c, len) = (shape.channels, images * shape.inside());
        Case {
            images,
            shape,
            halos,
            groups,
            form,
            z: noise(len, 1),
            dy: noise(len, 2),
            gamma: noise(c, 3),
            beta: noise(c, 4),
            v: if form == EvoNormForm::S0 { noise(c, 5) } else { Vec::new() },
        }
    }

    fn run(&self, isa: Isa) -> Outcome {
        let [z_shape, y_shape, dy_shape] = self.halos.map(|halo| self.shape.with_halo(halo));
        let dz_shape = y_shape;
        let layer =
            EvoNorm::new(self.shape.channels, self.groups, self.form).expect("groups that fit");
        let z = framed(self.images, z_shape, &self.z, f32::NAN);
        let dy = framed(self.images, dy_shape, &self.dy, f32::NAN);
        let mut y = vec![BORDER; y_shape.batch_len(self.images)];
        let mut dz = vec![BORDER; dz_shape.batch_len(self.images)];
        let mut stats = vec![0.0; layer.stats_len(self.images)];
        let v = (self.form == EvoNormForm::S0).then_some(self.v.as_slice());
        let mut parameters = [(); 3].map(|()| vec![0.0; self.shape.channels]);
        let [dgamma, dbeta, dv] = &mut parameters;
        let (gamma, beta) = (&self.gamma, &self.beta);
        layer.forward(isa, self.images, &z, z_shape, gamma, beta, v, &mut y, y_shape, &mut stats);
        let first = y.clone();
        y.fill(BORDER);
        layer.forward_again(isa, self.images, &z, z_shape, gamma, beta, v, &mut y, y_shape, &stats);
        assert_eq!(y, first, "the same once more");
        layer.backward(
            isa,
            self.images,
            &z,
            z_shape,
            &dy,
            dy_shape,
            gamma,
            v,
            &stats,
            &mut dz,
            dz_shape,
            dgamma,
            dbeta,
            Some(dv),
        );
        Outcome {
            y: unframed(self.images, y_shape, &y, BORDER),
            dz: unframed(self.images, dz_shape, &dz, BORDER),
            parameters,
        }
    }

    /// The backward pass in two halves, the first of which rematerialises `y`.
    fn run_rematerialised(&self, isa: Isa) -> Outcome {
        let [z_shape, y_shape, dz_shape] = self.halos.map(|halo| self.shape.with_halo(halo));
        let layer =
            EvoNorm::new(self.shape.channels, self.groups, self.form).expect("groups that fit");
        let n = self.images;
        let z = framed(n, z_shape, &self.z, f32::NAN);
        let dy = framed(n, y_shape, &self.dy, f32::NAN);
        let mut y = vec![BORDER; y_shape.batch_len(n)];
        let mut dz = vec![BORDER; dz_shape.batch_len(n)];
        let (mut stats, mut pulls) =
            (vec![0.0; layer.stats_len(n)], vec![f32::NAN; layer.pulls_len(n)]);
        let v = (self.form == EvoNormForm::S0).then_some(self.v.as_slice());
        let mut parameters = [(); 3].map(|()| vec![0.0; self.shape.channels]);
        let [dgamma, dbeta, dv] = &mut parameters;
        let (gamma, beta) = (&self.gamma, &self.beta);
        layer.forward(isa, n, &z, z_shape, gamma, beta, v, &mut y, y_shape, &mut stats);
        let first = y.clone();
        y.fill(BORDER);
        layer.rematerialise(
            isa,
            n,
            &z,
            z_shape,
            &dy,
            y_shape,
            gamma,
            beta,
            v,
            &stats,
            &mut y,
            &mut pulls,
            dgamma,
            dbeta,
            Some(dv),
        );
        assert_eq!(y, first, "the same once more");
        layer.input_grad(
            isa, n, &z, z_shape, &dy, y_shape, gamma, v, &stats, &pulls, &mut dz, dz_shape,
        );
        Outcome {
            y: unframed(n, y_shape, &y, BORDER),
            dz: unframed(n, dz_shape, &dz, BORDER),
            parameters,
        }
    }

    fn check(&self) {
        let (c, inside) = (self.shape.channels, self.shape.inside());
        let [gamma, beta, v] = [&self.gamma, &self.beta, &self.v].map(|p| wide(p));
        let (z, dy) = (wide(&self.z), wide(&self.dy));
        let images: Vec<_> = z.chunks(inside).zip(dy.chunks(inside)).collect();
        let loss = |gamma: &[f64], beta: &[f64], v: &[f64]| {
            let of =
                images.iter().map(|(z, dy)| dot(&reference(c, self.groups, z, gamma, beta, v), dy));
            of.sum::<f64>()
        };
        let y: Vec<f64> = images
            .iter()
            .flat_map(|(z, _)| reference(c, self.groups, z, &gamma, &beta, &v))
            .collect();
        let dz: Vec<f64> = images
            .iter()
            .flat_map(|(z, dy)| {
                differences(z, |z| dot(&reference(c, self.groups, z, &gamma, &beta, &v), dy))
            })
            .collect();
        let dgamma = differences(&gamma, |gamma| loss(gamma, &beta, &v));
        let dbeta = differences(&beta, |beta| loss(&gamma, beta, &v));
        let mut dv = differences(&v, |v| loss(&gamma, &beta, v));
        dv.resize(c, 0.0);
        for got in isas().into_iter().flat_map(|isa| [self.run(isa), self.run_rematerialised(isa)])
        {
            assert_close("y", &got.y, &y, 2e-6);
            assert_close("dz", &got.dz, &dz, 1e-5);
            for (got, want) in got.parameters.iter().zip([&dgamma, &dbeta, &dv]) {
                assert_close("a parameter's gradient", got, want, 1e-5);
            }
        }
    }
}

fn forms() -> impl Strategy<Value = EvoNormForm> {
    prop_oneof![Just(EvoNormForm::HardSigmoid), Just(EvoNormForm::S0)]
}

proptest! {
    #![proptest_config(images::cases(24))]

    #[test]
    fn is_its_equation(
        images in 1usize..4, (h, w, halos) in sizes(), eighths in 1usize..10,
        groups in prop_oneof![Just(8), Just(4), Just(1)], form in forms(),
    ) {
        // A single float has no variance, and 1e-5 in its place would magnify rounding.
        let (h, w) = if h * w == 1 { (1, 2) } else { (h, w) };
        Case::new(images, Shape::plain(h, w, 8 * eighths), halos, groups, form).check();
    }

    #[test]
    fn a_batch_is_its_images(
        (h, w, halos) in sizes(), eighths in 1usize..10, form in forms(),
    ) {
        let shape = Shape::plain(h, w, 8 * eighths);
        let whole = Case::new(3, shape, halos, 8, form);
        for isa in isas() {
            let together = whole.run(isa);
            let mut sums = [(); 3].map(|()| vec![0.0f32; shape.channels]);
            for image in 0..3 {
                let at = image * shape.inside()..(image + 1) * shape.inside();
                let mut one = Case::new(1, shape, halos, 8, form);
                one.z = whole.z[at.clone()].to_vec();
                one.dy = whole.dy[at.clone()].to_vec();
                let one = one.run(isa);
                prop_assert!(same_bits(&one.y, &together.y[at.clone()]));
                prop_assert!(same_bits(&one.dz, &together.dz[at]));
                for (sum, of_image) in sums.iter_mut().flatten().zip(one.parameters.iter().flatten()) {
                    *sum += of_image;
                }
            }
            for (sum, whole) in sums.iter().zip(&together.parameters) {
                prop_assert!(same_bits(sum, whole));
            }
        }
    }
}

#[test]
fn sums_over_many_pixels() {
    for (shape, form) in [
        (Shape::plain(19, 21, 8), EvoNormForm::HardSigmoid),
        (Shape::plain(13, 11, 16), EvoNormForm::S0),
        (Shape::plain(9, 9, 32), EvoNormForm::HardSigmoid),
    ] {
        Case::new(1, shape, [0, 1, 0], 8, form).check();
        Case::new(1, shape, [0, 0, 0], 8, form).check();
    }
}

#[test]
fn takes_any_channels_that_the_groups_divide() {
    for (channels, groups) in [(6, 3), (12, 4), (5, 1), (20, 20), (36, 12)] {
        for form in [EvoNormForm::HardSigmoid, EvoNormForm::S0] {
            Case::new(2, Shape::plain(3, 5, channels), [1, 0, 2], groups, form).check();
        }
    }
}

#[test]
fn names_channels_and_groups_that_do_not_fit() {
    let error = EvoNorm::new(20, 8, EvoNormForm::S0).unwrap_err();
    assert_eq!(error, IndivisibleChannels { channels: 20, groups: 8 });
    assert_eq!(error.to_string(), "20 channels cannot be divided into 8 equal groups");
    assert!(EvoNorm::new(20, 0, EvoNormForm::S0).is_err());
}

/// A mean a thousand times the deviation costs no digits of the variance.
#[test]
fn the_variance_does_not_cancel() {
    let shape = Shape::plain(32, 32, 16);
    let layer = EvoNorm::new(16, 8, EvoNormForm::HardSigmoid).unwrap();
    let z: Vec<f32> = noise(shape.inside(), 9).iter().map(|x| 1000.0 + x).collect();
    for isa in isas() {
        let mut y = vec![0.0; z.len()];
        let mut stats = vec![0.0; layer.stats_len(1)];
        layer.forward(isa, 1, &z, shape, &[1.0; 16], &[0.0; 16], None, &mut y, shape, &mut stats);
        let want = reference(16, 8, &wide(&z), &[1.0; 16], &[0.0; 16], &[]);
        assert_close("y", &y, &want, 1e-6);
    }
}

#[test]
fn a_nan_is_not_hidden() {
    let shape = Shape::plain(2, 2, 8);
    let layer = EvoNorm::new(8, 8, EvoNormForm::HardSigmoid).unwrap();
    let mut z = noise(shape.inside(), 10);
    z[3] = f32::NAN;
    for isa in isas() {
        let mut y = vec![0.0; z.len()];
        let mut stats = vec![0.0; layer.stats_len(1)];
        layer.forward(isa, 1, &z, shape, &[1.0; 8], &[0.0; 8], None, &mut y, shape, &mut stats);
        for (i, y) in y.iter().enumerate() {
            assert_eq!(y.is_nan(), i % 8 == 3, "the NaN's group, and it alone");
        }
    }
}
