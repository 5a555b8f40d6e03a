#!/usr/bin/env python3
"""The numbers of stability_table.rs, from the printed recursions alone (needs numpy).

    python3 crates/theory/tests/limits.py

Pure consensus: no gradient, eta = 1. Along an eigenvector of W with eigenvalue l, S - X is (l - 1) x
and D = -(S - X). A method is then a linear map of (x, x before, m); it converges if the map of every
mode but l = 1 has a spectral radius below 1. Nothing is shared with the Rust code: the graphs are built
from their definitions, the eigenvalues are numpy's, the roots those of a companion matrix.
"""
import numpy as np

BETA = 0.9


def ring(n):
    return [(i, (i + 1) % n) for i in range(n)]


def circulant(n, steps):
    return [(i, (i + s) % n) for i in range(n) for s in steps]


def torus(rows, columns):
    node = lambda r, c: (r % rows) * columns + c % columns
    return [edge for r in range(rows) for c in range(columns)
            for edge in ((node(r, c), node(r + 1, c)), (node(r, c), node(r, c + 1)))]


def dyck():
    """LCF [5, -5, 13, -13]^8."""
    return ring(32) + [(i, (i + (5, -5, 13, -13)[i % 4]) % 32) for i in range(32)]


def eigenvalues(edges):
    """Of the uniform mixing matrix, without the average's."""
    n = 1 + max(max(edge) for edge in edges)
    a = np.zeros((n, n))
    for i, j in edges:
        a[i, j] = a[j, i] = 1
    degree = a.sum(1)
    assert (degree == degree[0]).all()
    return np.sort(np.linalg.eigvalsh((a + np.eye(n)) / (degree[0] + 1)))[:-1]


def gut(printed):
    def step(mu, l, x, before, m):
        moved = x - before
        return l * x + mu * ((2 * l - 1) if printed else l) * moved, 0.0
    return step


def qg_gutm(reading):
    def step(mu, l, x, before, m):
        pull, pull_before = (l - 1) * x, (l - 1) * before
        d, d_before = -pull, -pull_before
        reference = {"printed": pull, "pytorch": (1 + BETA) * pull, "released": (1 + BETA) * pull_before}[reading]
        y = d + mu * (l * m - reference - d_before)
        m = BETA * m + ((1 - BETA) if reading == "printed" else 1) * y
        return x - m, m
    return step


def converges(step, mu, modes):
    for l in modes:
        columns = []
        for x, before, m in np.eye(3):
            after, m = step(mu, l, x, before, m)
            columns.append((after, x, m))
        if max(abs(np.linalg.eigvals(np.array(columns).T))) >= 1 - 1e-9:
            return False
    return True


def largest_mu(step, modes):
    low, high = 0.0, 0.0
    while converges(step, high + 0.01, modes):
        low = high = high + 0.01
    high += 0.01
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if converges(step, middle, modes) else (low, middle)
    return low


if __name__ == "__main__":
    methods = {"GUT printed": gut(True), "GUT released": gut(False), "QG-GUTm Alg. 2": qg_gutm("printed"),
               'QG-GUTm "PyTorch"': qg_gutm("pytorch"), "QG-GUTm released": qg_gutm("released")}
    graphs = {"ring:16": ring(16), "ring:32": ring(32), "dyck": dyck(), "torus:4x8": torus(4, 8),
              "circulant:32:1,4": circulant(32, (1, 4))}
    print("graph", *methods, sep=" | ")
    for name, edges in graphs.items():
        modes = eigenvalues(edges)
        print(name, *(f"{largest_mu(step, modes):.3f}" for step in methods.values()), sep=" | ")
