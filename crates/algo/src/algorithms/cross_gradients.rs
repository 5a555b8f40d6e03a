//! Cross-gradients: each agent takes the gradient of its own data at its neighbours' models, too,
//! and sends them home. CGA (`cga.rs`) and NGC (`ngc.rs`) differ in what they make of them.
//!
//! ```text
//! g_ji = ∇F_i(x_j)      for j in N_i and for i itself, on one mini-batch: gradients 0 to deg
//! exchange 0            sends g_ji to each j, and so hears g_ij = ∇F_j(x_i)
//! x_i  = step(...)      the method
//! exchange 1            sends x_i to all: the x_j of the next round
//! ```
//!
//! The papers begin a round with the exchange of models; here it ends with it, since all agents
//! start from one model. A method that makes no use of the `g_ij` has exchange 1 alone.
//!
//! A copy of every neighbour's model is kept, and nothing else: what is computed is written into the
//! messages.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::{Exchange, Inbox, Outbox, Recipients, Row, StagedAlgorithm, Tensor};

/// What a method makes of the gradients of its neighbourhood.
pub trait Aggregate: Send + Sync {
    /// True if it needs the neighbours' gradients at the own model, which costs an exchange.
    const HEARS_GRADIENTS: bool;

    /// Where gradient 0 is taken, given the own model and the mixed one.
    fn probe<'a>(&self, x: &'a [f32], s: &'a [f32]) -> &'a [f32];

    /// Moves the model, given what is known: `own_at[k]` is `g_ki`, the gradient of the own data
    /// at the model of the `k`-th agent of the row; `theirs.message(k)` is `g_ik`.
    fn step(&mut self, eta: f32, s: &[f32], own_at: &[&[f32]], theirs: &dyn Inbox, x: &mut [f32]);

    /// The state, to save.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// The rounds of a method with cross-gradients.
pub struct CrossGradients<A: Aggregate> {
    aggregate: A,
    row: Row,
    exchanges: Vec<Exchange>,
    x: Vec<f32>,
    /// `Σ_j w_ij x_j`.
    s: Vec<f32>,
    /// The neighbours' models, in the order of the row; the agent's own is empty.
    models: Vec<Vec<f32>>,
    /// The gradients `g_ji` of the current round, in the order of the row.
    own_at: Vec<Vec<f32>>,
}

impl<A: Aggregate> CrossGradients<A> {
    /// Starts from `x0`, which all agents share.
    pub fn new(x0: &[f32], row: &Row, aggregate: A) -> Self {
        let n = x0.len();
        let each = Exchange { words: n, numbers: n, to: Recipients::Each };
        let all = Exchange { to: Recipients::All, ..each };
        let exchanges = if A::HEARS_GRADIENTS { vec![each, all] } else { vec![all] };
        let others = (0..row.senders().len()).map(|k| k != row.own());
        let models = others.map(|other| if other { x0.to_vec() } else { Vec::new() }).collect();
        let own_at = vec![vec![0.0; n]; row.senders().len()];
        CrossGradients {
            aggregate,
            row: row.clone(),
            exchanges,
            x: x0.to_vec(),
            s: x0.to_vec(),
            models,
            own_at,
        }
    }

    /// The place in the row at whose model gradient `k` is taken: the own first, then the others.
    fn place(&self, k: usize) -> usize {
        match k {
            0 => self.row.own(),
            _ if k <= self.row.own() => k - 1,
            _ => k,
        }
    }

    /// Moves the model and writes it into the message to all.
    fn step(&mut self, eta: f32, theirs: &dyn Inbox, messages: &mut Outbox<'_>) {
        let own_at: Vec<&[f32]> = self.own_at.iter().map(Vec::as_slice).collect();
        self.aggregate.step(eta, &self.s, &own_at, theirs, &mut self.x);
        messages.to_all().copy_from_slice(&self.x);
    }
}

impl<A: Aggregate> StagedAlgorithm for CrossGradients<A> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn gradients(&self) -> usize {
        self.row.senders().len()
    }

    /// All gradients of a round are on one mini-batch.
    fn draw_step(&self, _k: usize) -> u32 {
        0
    }

    fn probe(&self, k: usize, at: &mut [f32]) {
        let place = self.place(k);
        at.copy_from_slice(match k {
            0 => self.aggregate.probe(&self.x, &self.s),
            _ => &self.models[place],
        });
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    fn gradient(&mut self, k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        let place = self.place(k);
        self.own_at[place].copy_from_slice(grad);
        if A::HEARS_GRADIENTS {
            messages.to_each(place).copy_from_slice(grad);
        } else if k + 1 == self.gradients() {
            self.step(eta, &Nothing, messages);
        }
    }

    fn mix(&mut self, e: usize, inbox: &dyn Inbox, eta: f32, messages: &mut Outbox<'_>) {
        if e + 1 < self.exchanges.len() {
            return self.step(eta, inbox, messages);
        }
        let n = self.s.len();
        for (k, model) in self.models.iter_mut().enumerate().filter(|(k, _)| *k != self.row.own()) {
            model.copy_from_slice(inbox.message(k));
        }
        let s = &mut self.s[..n];
        crate::for_each_mixed(inbox, 0, n, |start, mixed| {
            s[start..][..mixed.len()].copy_from_slice(mixed);
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let own = self.row.own();
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("s", &mut self.s)];
        for (k, model) in self.models.iter_mut().enumerate().filter(|(k, _)| *k != own) {
            all.push(Tensor { name: format!("x_hat.{k}").into(), values: model });
        }
        all.extend(self.aggregate.tensors());
        all
    }
}

/// The inbox of an exchange that a method does without.
struct Nothing;

impl Inbox for Nothing {
    fn senders(&self) -> usize {
        0
    }

    fn own(&self) -> usize {
        0
    }

    fn weight(&self, _k: usize) -> f32 {
        0.0
    }

    fn message(&self, _k: usize) -> &[f32] {
        &[]
    }
}
