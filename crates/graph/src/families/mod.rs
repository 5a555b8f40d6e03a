//! The families of graphs, one idea a file.
//!
//! Each function checks the size it is about to build before it builds it, and
//! answers with a plain [`Graph`](crate::Graph), with the graphs of one period, or, where
//! weights belong to the construction, with the matrices of one period.

pub(crate) mod base;
pub(crate) mod bipartite;
pub(crate) mod circulant;
pub(crate) mod cubic;
pub(crate) mod elementary;
pub(crate) mod equi;
pub(crate) mod exponential;
pub(crate) mod hypercube;
pub(crate) mod lattice;
pub(crate) mod random;
pub(crate) mod seeded;
pub(crate) mod tree;
