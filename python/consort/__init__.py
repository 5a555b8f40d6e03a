"""Decentralized learning: many agents, each with its own data, train one model without a server.

With PyTorch, keep the model, the loader and the loop, and change the optimizer::

    consort.init()                                  # under torchrun, Slurm, MPI, or with a plan
    consort.broadcast(model)                        # all agents start from the same model
    opt = consort.SGD(model.parameters(), lr=0.1, momentum=0.9, method="qg-gutm", graph="ring")

After ``opt.step()`` the parameters hold the point where the next gradient is taken. For GUT and its
relatives that is not the agent's model: ``with opt.model():`` puts the model there, and ``with
opt.consensus():`` the average of all agents' models. Evaluate and save inside one of them.

Without PyTorch: `graph`, `analyze`, `methods`, `train`, `simulate`, `problem`, `Agent`, `Method`.
"""

from ._consort import Agent, ConsortError, Graph, NotFinite, __version__, analyze, methods
from .datasets import Dataset, dataset, partition
from .method import Method
from .runs import Figure, Result, Simulation, problem, simulate, train

__all__ = [
    "Agent",
    "ConsortError",
    "Dataset",
    "Figure",
    "Graph",
    "Method",
    "NotFinite",
    "Result",
    "SGD",
    "Simulation",
    "__version__",
    "analyze",
    "broadcast",
    "dataset",
    "gossip",
    "graph",
    "init",
    "methods",
    "partition",
    "problem",
    "simulate",
    "train",
    "world",
]


def graph(name: str, *, weights: str = "auto", seed: int = 1) -> Graph:
    """A graph by name ("ring:16", "dyck", "base:25:1", "file:PATH"), with its mixing weights.

    >>> import consort
    >>> ring = consort.graph("ring:16")
    >>> ring.agents, ring.neighbours(0)
    (16, [1, 15])
    >>> round(ring.spectral_gap, 5)
    0.05075
    """
    return Graph(name, weights=weights, seed=seed)


# What needs PyTorch is imported when it is first used, so that the rest works without.
_TORCH = {
    "SGD": "optimizer",
    "broadcast": "rendezvous",
    "gossip": "gossiping",
    "init": "rendezvous",
    "world": "rendezvous",
}


def __getattr__(name: str):
    if name in _TORCH:
        from importlib import import_module

        return getattr(import_module(f".{_TORCH[name]}", __name__), name)
    raise AttributeError(f"module 'consort' has no attribute {name!r}")


def __dir__():
    return __all__
