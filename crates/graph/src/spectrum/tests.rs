//! The methods against each other, and against numbers known in closed form.

use std::f64::consts::PI;

use super::*;
use crate::{Graph, GraphSpec, MixingSpec};

fn weights(spec: &str) -> MixingMatrix {
    let topology = spec.parse::<GraphSpec>().unwrap().build(1).unwrap();
    MixingSpec::Auto.build(topology.at(0)).unwrap()
}

fn spectrum(spec: &str) -> Spectrum {
    Spectrum::new(&weights(spec)).unwrap()
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}

/// The table of the paper's topologies, uniform weights.
#[test]
fn the_papers_topologies_have_their_known_gaps() {
    for (spec, gap, lambda_min) in [
        ("ring:16", 0.05075, -1.0 / 3.0),
        ("ring:32", 0.01281, -1.0 / 3.0),
        ("dyck", 0.19098, -0.5),
        ("torus:4x8", 0.11716, -0.6),
        ("circulant:32:1,4", 0.12484, -0.483),
        ("torus-as-run", 0.12484, -0.483),
    ] {
        let found = spectrum(spec);
        close(found.gap, gap, 6e-6);
        close(found.lambda_min, lambda_min, if lambda_min == -0.483 { 5e-4 } else { 1e-12 });
        assert_eq!(found.how, SpectrumMethod::Dense);
    }
}

#[test]
fn structured_and_dense_agree() {
    for (spec, shape) in [
        ("ring:101", (1, 101)),
        ("ring:2", (1, 2)),
        ("torus:6x10", (6, 10)),
        ("torus:10x6", (10, 6)),
        ("torus:2x9", (2, 9)),
        ("circulant:60:1,7,30", (1, 60)),
        ("complete:20", (1, 20)),
    ] {
        let w = weights(spec);
        let structured = translation::Translates::new(&w).unwrap().symmetric_spectrum();
        let (rows, columns) = shape;
        assert_eq!(structured.how, SpectrumMethod::TranslationInvariant { rows, columns });
        let dense = dense::spectrum(&w);
        close(structured.gap, dense.gap, 1e-13);
        for (a, b) in structured.eigenvalues.unwrap().iter().zip(&dense.eigenvalues.unwrap()) {
            close(*a, *b, 1e-12);
        }
    }
    assert!(translation::Translates::new(&weights("grid:6x10")).is_none());
}

#[test]
fn chain_and_dense_agree() {
    let w = weights("chain:300");
    let (chain, dense) = (tridiagonal::spectrum(&w).unwrap(), dense::spectrum(&w));
    close(chain.gap, dense.gap, 1e-13);
    close(chain.lambda_min, dense.lambda_min, 1e-13);
    assert!(tridiagonal::spectrum(&weights("ring:9")).is_none());
}

#[test]
fn lanczos_and_dense_agree() {
    for spec in ["random-regular:500:4", "barabasi-albert:500:2", "hypercube:8", "bipartite:9x7"] {
        let w = weights(spec);
        let (found, dense) = (lanczos::spectrum(&w).unwrap(), dense::spectrum(&w));
        close(found.lambda_2, dense.lambda_2, 1e-10);
        close(found.lambda_min, dense.lambda_min, 1e-10);
    }
}

#[test]
fn a_huge_ring_keeps_the_digits_of_its_gap() {
    let n = 100_000.0;
    let found = spectrum("ring:100000");
    // (2/3)(1 - cos(2 pi / n)), written so that it does not cancel.
    let exact = 4.0 / 3.0 * (PI / n).sin().powi(2);
    close(found.gap / exact, 1.0, 1e-10);
    assert_eq!(found.eigenvalues.unwrap().len(), 100_000);
}

#[test]
fn a_huge_chain_keeps_the_digits_of_its_gap() {
    // Metropolis on a chain: lambda_k = 1/3 + 2/3 cos(pi k / n).
    let found = spectrum("chain:20000");
    let exact = 4.0 / 3.0 * (PI / 40_000.0).sin().powi(2);
    close(found.gap / exact, 1.0, 1e-10);
    close(found.lambda_min, -1.0 / 3.0, 1e-6);
}

#[test]
fn large_random_graphs_converge() {
    let found = spectrum("random-regular:3000:4");
    let SpectrumMethod::Lanczos { residual, .. } = found.how else { panic!("{:?}", found.how) };
    assert!(residual < 1e-9);
    // Friedman: nearly Ramanujan.
    close(found.lambda_2, (1.0 + 2.0 * 3.0_f64.sqrt()) / 5.0, 0.01);
}

#[test]
fn directed_rings_have_complex_eigenvalues() {
    let ring = |n| Graph::from_arcs(n, (0..n).map(|i| (i, (i + 1) % n))).unwrap();
    let found = Spectrum::new(&MixingMatrix::uniform(&ring(12)).unwrap()).unwrap();
    // |(1 + e^(i a)) / 2| = cos(a / 2)
    close(found.lambda_2, (PI / 12.0).cos(), 1e-12);
    close(found.lambda_min, 0.0, 1e-12);
    let (real, imaginary) = found.complex_2.unwrap();
    close(real, (PI / 12.0).cos().powi(2), 1e-12);
    close(imaginary, (PI / 12.0).cos() * (PI / 12.0).sin(), 1e-12);
    let dense = nonsymmetric::by_schur(&MixingMatrix::uniform(&ring(12)).unwrap()).unwrap();
    close(dense.complex_2.unwrap().0, real, 1e-12);
    close(dense.complex_2.unwrap().1, imaginary, 1e-12);
}

/// Directed rings with shortcuts: neither symmetric nor translation-invariant.
fn shortcut_ring(n: usize) -> Graph {
    let ring = (0..n).map(|i| (i, (i + 1) % n));
    let shortcuts = (0..n).filter(|i| i % 3 == 0).map(|i| (i, (i * i + n / 2) % n));
    Graph::from_arcs(n, ring.chain(shortcuts)).unwrap()
}

#[test]
fn schur_and_power_iteration_agree() {
    for n in [20, 40, 90] {
        let w = MixingMatrix::uniform(&shortcut_ring(n)).unwrap();
        let exact = Spectrum::new(&w).unwrap();
        assert_eq!(exact.how, SpectrumMethod::DenseNonSymmetric);
        let found = nonsymmetric::by_power_iteration(&w).unwrap();
        close(found.gap, exact.gap, 1e-2 * exact.gap);
        assert!(found.lambda_min <= exact.lambda_min + 1e-12);
    }
    let pushed = Spectrum::new(&MixingMatrix::push_sum(&shortcut_ring(40))).unwrap();
    assert!(pushed.gap > 0.0 && pushed.gap < 1.0);
}

#[test]
fn power_iteration_finds_a_real_eigenvalue() {
    // Uniform weights on a star of 800: not symmetric; lambda_2 = 1/2.
    let star = Graph::from_edges(800, (1..800).map(|i| (0, i))).unwrap();
    let found = Spectrum::new(&MixingMatrix::uniform(&star).unwrap()).unwrap();
    close(found.lambda_2, 0.5, 1e-5);
    assert!(matches!(found.how, SpectrumMethod::PowerIteration { .. }));
}

#[test]
fn edges_of_the_definition() {
    close(spectrum("complete:1").gap, 1.0, 0.0);
    close(spectrum("complete:5").gap, 1.0, 1e-14);
    close(spectrum("circulant:8:2").gap, 0.0, 1e-14);
    let leaking = MixingMatrix::from_rows(vec![vec![(0, 0.5)], vec![(1, 1.0)]]).unwrap();
    assert!(matches!(Spectrum::new(&leaking), Err(SpectrumError::NotStochastic(_))));
}

#[test]
fn one_peer_exponential_averages_exactly_in_a_period() {
    let topology = "one-peer-exponential:8".parse::<GraphSpec>().unwrap().build(0).unwrap();
    let ws = MixingSpec::Auto.build_all(&topology).unwrap();
    close(product_gap(&ws).unwrap(), 1.0, 1e-12);
    close(product_gap(&[weights("ring:16")]).unwrap(), spectrum("ring:16").gap, 1e-12);
    assert!(product_gap(&[]).is_none());
    assert!(product_gap(&[weights("ring:601")]).is_none());
}
