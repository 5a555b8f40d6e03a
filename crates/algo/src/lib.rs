//! The algorithms of decentralized learning, as state machines without I/O.
//!
//! This crate is the heart of Consort. It is `no_std` and has no dependencies, so it cannot
//! use a clock, a socket, a thread or a random source. A simulator, a network driver and MPI
//! all drive the same code over flat `f32` slices.
//!
//! ```text
//!              gradient                      messages of the neighbours
//!                 │                                     │
//!                 ▼                                     ▼
//!   probe ─► local_step(g, eta) ─► message ─►  mix(Σ_j w_ij message_j, eta)
//!     ▲                               │                 │
//!     └───────────── next round ──────┼─────────────────┘
//!                                     ▼
//!                          the driver sends it on
//! ```
//!
//! # The driver contract
//!
//! One round of an [`Agent`], whoever drives it:
//!
//! 1. **Probe**: [`Agent::probe`] writes the point at which the gradient is needed.
//! 2. **Gradient**: compute it there (an [`Oracle`] does, or returns an error) and pass it to
//!    [`Agent::gradient`] with the round's step size. If it returns nothing, the round takes
//!    another gradient: go back to 1.
//! 3. **Send** to every neighbour what [`Outgoing::body_for`] has for it, once, with the number
//!    of the exchange.
//! 4. **Receive**: pass each arriving message to [`Agent::receive`], in any order.
//! 5. **Advance**: [`Agent::advance`] mixes as soon as all messages of the exchange have
//!    arrived. The sum runs in the order of the agents' numbers, so the bits do not
//!    depend on the order of arrival. If [`Agent::outgoing`] has messages then, the round has
//!    another exchange: go back to 3.
//!
//! Most methods take one gradient and one exchange a round.
//!
//! ```
//! use consort_algo::{Agent, Method, Row};
//!
//! // Two agents with F_i(x) = (x - c_i)²/2 agree on the mean of c = (0, 2).
//! let method: Method = "gut:mu=0.5".parse()?;
//! let mut agents = [
//!     Agent::new(0, vec![Row::new(0, [(1, 0.25)])], 1, method.build(&[0.0], 2)?),
//!     Agent::new(1, vec![Row::new(1, [(0, 0.25)])], 1, method.build(&[0.0], 2)?),
//! ];
//! let c = [0.0, 2.0];
//! for _round in 0..200 {
//!     let mut sent = Vec::new();
//!     for agent in &mut agents {
//!         let mut at = [0.0];
//!         agent.probe(&mut at);                                           // 1
//!         let g = [at[0] - c[agent.id()]];
//!         sent.extend(agent.gradient(&g, 0.1)?);                          // 2
//!     }
//!     for agent in &mut agents {
//!         for (from, messages) in sent.iter().enumerate() {               // 3
//!             if let Some(body) = messages.body_for(agent.id()).filter(|_| from != agent.id()) {
//!                 agent.receive(from, messages.exchange, body.clone())?;  // 4
//!             }
//!         }
//!         assert!(agent.advance());                                       // 5
//!     }
//! }
//! let mean = (agents[0].params()[0] + agents[1].params()[0]) / 2.0;
//! assert!((mean - 1.0).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Laws
//!
//! Each is a test in `tests/`, named after its claim:
//!
//! - mu = 0 is DSGD; a complete graph with uniform weights is centralised SGD;
//! - mean(y) = mean(g) at every round, across step-size changes too (Lemma 1);
//! - s = W x: the sum that GUT keeps is within 4e-6 of it after 100,000 rounds in `f32`;
//! - the O(1)-memory form of GUT equals the form that keeps a copy of every neighbour;
//! - the bits do not depend on the order in which messages arrive;
//! - an averaging rate that changes over the run replaces W by `W_t`, and an exact average of all
//!   models leaves what trackers and corrections sum to over the agents as it is.
//!
//! # Two contracts
//!
//! A method that takes one gradient, sends one message to all and mixes a weighted sum is an
//! [`Algorithm`]: a file of two loops. Push-sum (its weight is one more float of the message) and
//! compression ([`codec`]: a message is packed words) fit it as it is. What does not is a
//! [`StagedAlgorithm`]: several gradients a round (local steps, cross-gradients), several
//! exchanges, a message per neighbour (RelaySGD). Drivers know the second alone; the first is its
//! simplest case ([`OneExchange`]). Methods without rounds (asynchronous gossip) need a third.

#![no_std]
extern crate alloc;

mod agent;
mod algorithm;
pub mod algorithms;
mod checked_gradient;
pub mod codec;
mod inbox;
mod method;
mod mixing;
pub mod momentum;
mod oracle;
mod protocol_error;
mod row;
mod staged;

pub use agent::{Agent, Outgoing};
pub use algorithm::{Algorithm, Tensor};
pub use checked_gradient::{
    BatchReport, BatchReports, GradientError, check_gradient, checked_gradient,
};
pub use inbox::Inbox;
pub use method::{
    CATALOGUE, Compression, Form, GradientAt, GradientsPerRound, GraphNeeds, LostMessage, Memory,
    Method, MethodError, MethodInfo, MethodName, MomentumOn, Optimizer, Order, ParameterInfo,
    Reading, Recursion, RoundTraffic, Site, TrackingStart, Tunable,
};
pub use mixing::for_each_mixed;
pub use oracle::{Draw, Oracle, OracleError};
pub use protocol_error::ProtocolError;
pub use row::Row;
pub use staged::{Exchange, OneExchange, Outbox, Recipients, StagedAlgorithm};
