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
//! CompCGA and CompNGC send `C(g_ji + e_ji)` and keep the rest, `e_ji += g_ji - C(g_ji + e_ji)`, for
//! the next round (error feedback); the agent's own gradient takes the same way. Models are sent
//! as they are.
//!
//! A copy of every neighbour's model is kept. Without a codec, gradients are written straight into
//! the messages, and read from them.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::codec::{Codec, RoundCounter};
use crate::{Exchange, Inbox, Outbox, Recipients, Row, StagedAlgorithm, Tensor};

/// What a method makes of the gradients of its neighbourhood.
pub trait Aggregate: Send + Sync {
    /// True if it needs the neighbours' gradients at the own model, which costs an exchange.
    const HEARS_GRADIENTS: bool;

    /// Where gradient 0 is taken, given the own model and the mixed one.
    fn probe<'a>(&self, x: &'a [f32], s: &'a [f32]) -> &'a [f32];

    /// Moves the model, given what is known: `own_at[k]` is `g_ki`, the gradient of the own data
    /// at the model of the `k`-th agent of the row; `theirs.message(k)` is `g_ik`.
    fn step(&mut self, eta: f32, s: &[f32], own_at: &[Vec<f32>], theirs: &dyn Inbox, x: &mut [f32]);

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
    /// The averaging rate of the models. Gradients are weighted with W itself.
    rate: f32,
    coded: Option<Coded>,
}

/// Gradients that go through a codec.
struct Coded {
    codec: Box<dyn Codec>,
    round: RoundCounter,
    /// What has not been sent yet, `e_ji`, in the order of the row.
    e: Vec<Vec<f32>>,
    /// `C(g_ij + e_ij)` as it was heard.
    heard: Vec<Vec<f32>>,
}

impl<A: Aggregate> CrossGradients<A> {
    /// Starts from `x0`, which all agents share. Without a codec gradients are sent as they are.
    pub fn new(x0: &[f32], row: &Row, aggregate: A, codec: Option<Box<dyn Codec>>) -> Self {
        let (n, senders) = (x0.len(), row.senders().len());
        let models = Exchange { words: n, numbers: n, to: Recipients::All };
        let (words, numbers) = codec.as_ref().map_or((n, n), |c| (c.words(n), c.numbers(n)));
        let gradients = Exchange { words, numbers, to: Recipients::Each };
        let each = || vec![vec![0.0; n]; senders];
        let (e, heard, round) = (each(), each(), RoundCounter::default());
        CrossGradients {
            aggregate,
            row: row.clone(),
            exchanges: if A::HEARS_GRADIENTS { vec![gradients, models] } else { vec![models] },
            x: x0.to_vec(),
            s: x0.to_vec(),
            models: (0..senders)
                .map(|k| if k == row.own() { Vec::new() } else { x0.to_vec() })
                .collect(),
            own_at: each(),
            rate: 1.0,
            coded: codec.map(|codec| Coded { codec, round, e, heard }),
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
        match &mut self.coded {
            None => self.aggregate.step(eta, &self.s, &self.own_at, theirs, &mut self.x),
            Some(coded) => {
                coded.read(theirs);
                let theirs = Gradients { row: &self.row, values: &coded.heard };
                self.aggregate.step(eta, &self.s, &self.own_at, &theirs, &mut self.x);
            }
        }
        messages.to_all().copy_from_slice(&self.x);
    }
}

impl Coded {
    /// Replaces `gradient` at place `k` by what the codec makes of it and of the rest of earlier
    /// rounds, and writes the message.
    fn write(&mut self, k: usize, gradient: &mut [f32], message: &mut [f32]) {
        let e = &mut self.e[k];
        for (e, g) in e.iter_mut().zip(&*gradient) {
            *e += g;
        }
        self.codec.encode(self.round.get(), e, message);
        gradient.fill(0.0);
        self.codec.add_decoded(self.round.get(), message, 1.0, gradient);
        for (e, sent) in e.iter_mut().zip(&*gradient) {
            *e -= sent;
        }
    }

    /// Reads the messages of a round, and ends it.
    fn read(&mut self, inbox: &dyn Inbox) {
        for (k, heard) in self.heard.iter_mut().enumerate().take(inbox.senders()) {
            heard.fill(0.0);
            self.codec.add_decoded(self.round.get(), inbox.message(k), 1.0, heard);
        }
        self.round.advance();
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
        let (place, is_last) = (self.place(k), k + 1 == self.gradients());
        self.own_at[place].copy_from_slice(grad);
        match &mut self.coded {
            Some(coded) => coded.write(place, &mut self.own_at[place], messages.to_each(place)),
            None if A::HEARS_GRADIENTS => messages.to_each(place).copy_from_slice(grad),
            None if is_last => {
                let nothing = Gradients { row: &self.row, values: &[] };
                self.aggregate.step(eta, &self.s, &self.own_at, &nothing, &mut self.x);
                messages.to_all().copy_from_slice(&self.x);
            }
            None => (),
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
        let (s, x, rate) = (&mut self.s[..n], &self.x[..n], self.rate);
        crate::for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let (s, x) = (&mut s[start..][..n], &x[start..][..n]);
            s.copy_from_slice(mixed);
            if rate != 1.0 {
                for i in 0..n {
                    s[i] = x[i] + rate * (mixed[i] - x[i]);
                }
            }
        });
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.mix(self.exchanges.len() - 1, models, 1.0, &mut Outbox { bodies: &mut [] });
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.rate = rate;
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let own = self.row.own();
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("s", &mut self.s)];
        for (k, model) in self.models.iter_mut().enumerate().filter(|(k, _)| *k != own) {
            all.push(Tensor { name: format!("x_hat.{k}").into(), values: model });
        }
        if let Some(Coded { codec, round, e, .. }) = &mut self.coded {
            for (k, e) in e.iter_mut().enumerate() {
                all.push(Tensor { name: format!("e.{k}").into(), values: e });
            }
            all.extend(codec.depends_on_the_round().then(|| round.tensor()));
        }
        all.extend(self.aggregate.tensors());
        all
    }
}

/// The neighbours' gradients, once they are read; nothing if the method does without them.
struct Gradients<'a> {
    row: &'a Row,
    values: &'a [Vec<f32>],
}

impl Inbox for Gradients<'_> {
    fn senders(&self) -> usize {
        self.values.len()
    }

    fn own(&self) -> usize {
        self.row.own()
    }

    fn weight(&self, k: usize) -> f32 {
        self.row.weights()[k]
    }

    fn message(&self, k: usize) -> &[f32] {
        &self.values[k]
    }
}
