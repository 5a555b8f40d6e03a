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
//!    [`Agent::gradient`] with the round's step size.
//! 3. **Send** the returned message to every neighbour, once, with its round number.
//! 4. **Receive**: pass each arriving message to [`Agent::receive`], in any order.
//! 5. **Advance**: [`Agent::advance`] mixes as soon as all messages of the round have
//!    arrived. The sum runs in the order of the agents' numbers, so the bits do not
//!    depend on the order of arrival.
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
//!         sent.push((agent.id(), agent.gradient(&g, 0.1)?));              // 2
//!     }
//!     for agent in &mut agents {
//!         for (from, message) in &sent {                                  // 3
//!             if *from != agent.id() {
//!                 agent.receive(*from, message.round, message.body.clone())?; // 4
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
//! - the bits do not depend on the order in which messages arrive.
//!
//! # Methods that do not fit
//!
//! A method that is not a weighted sum of one message per round gets a second trait beside
//! [`Algorithm`]; this one is not widened. Examples: a message per neighbour (RelaySGD), two
//! exchanges per round (cross-gradients), no rounds at all (asynchronous gossip). Push-sum fits
//! as it is: its weight is one more float of the message.

#![no_std]
extern crate alloc;

mod agent;
mod algorithm;
pub mod algorithms;
mod checked_gradient;
mod method;
mod mixing;
pub mod momentum;
mod oracle;
mod protocol_error;

pub use agent::{Agent, Outgoing, Row};
pub use algorithm::{Algorithm, Inbox, Tensor};
pub use checked_gradient::{BatchReport, GradientError, check_gradient, checked_gradient};
pub use method::{
    CATALOGUE, Form, GradientAt, GraphNeeds, LostMessage, Memory, Method, MethodError, MethodInfo,
    MethodName, MomentumOn, Order, ParameterInfo, Reading, Recursion, Tunable,
};
pub use mixing::for_each_mixed;
pub use oracle::{Draw, Oracle, OracleError};
pub use protocol_error::ProtocolError;
