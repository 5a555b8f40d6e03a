//! DecentLaM (Yuan, Chen, Huang, Zhang, Pan, Xu, Yin, ICCV 2021): momentum on the whole DSGD
//! update, gossip included, so that momentum adds nothing to DSGD's bias.
//!
//! ```text
//! z  = x - eta g                      g at the own model x
//! g~ = (x - W z)/eta                  x - eta g~ is DSGD
//! m  = beta m' + g~
//! x -= eta m
//! ```
//!
//! At a fixed point m = 0, so x = W z: the disagreement is DSGD's, where momentum on the gradient
//! alone (DSGDm) makes it 1/(1-beta) times as large. QG-DSGDm (`qg_dsgdm.rs`) differs in the
//! gradient: there it is taken at the mixed model and not mixed itself.

use alloc::vec;
use alloc::vec::Vec;

use crate::mixing::for_each_difference;
use crate::{Algorithm, Inbox, Tensor};

/// DecentLaM; sends `z`.
pub struct DecentLam {
    beta: f32,
    x: Vec<f32>,
    m: Vec<f32>,
    /// The last round's step size, for a retraction. It is not saved: right after a restart a
    /// retraction leaves the momentum's share, which fades by beta a round.
    eta: Option<f32>,
}

impl DecentLam {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], beta: f32) -> Self {
        DecentLam { beta, x: x0.to_vec(), m: vec![0.0; x0.len()], eta: None }
    }
}

impl Algorithm for DecentLam {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (x, g, z) = (&self.x[..n], &grad[..n], &mut message[..n]);
        for i in 0..n {
            z[i] = x[i] - eta * g[i];
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        let (x, m, beta) = (&mut self.x[..n], &mut self.m[..n], self.beta);
        let per_eta = 1.0 / eta;
        // W z = z + d. The differences are formed before they are divided: eta magnifies rounding.
        for_each_difference(inbox, |start, z, d, _| {
            let n = d.len();
            let z = &z[..n];
            let (x, m) = (&mut x[start..][..n], &mut m[start..][..n]);
            for i in 0..n {
                let g = ((x[i] - z[i]) - d[i]) * per_eta; // g~
                m[i] = beta * m[i] + g;
                x[i] -= eta * m[i];
            }
        });
        self.eta = Some(eta);
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        let n = self.x.len();
        let (x, m) = (&mut self.x[..n], &mut self.m[..n]);
        let (theirs, own) = (&theirs[..n], &own[..n]);
        let per_eta = self.eta.map_or(0.0, |eta| 1.0 / eta);
        for i in 0..n {
            let gained = weight * (theirs[i] - own[i]);
            x[i] -= gained;
            m[i] += gained * per_eta;
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("x", &mut self.x), Tensor::new("m", &mut self.m)]
    }
}
