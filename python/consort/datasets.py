"""Datasets as arrays, and how their samples are shared out among the agents."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from . import _consort


@dataclass(frozen=True)
class Dataset:
    """Samples by rows, columns and channels, scaled as Consort's models see them, with labels."""

    name: str
    classes: list[str]
    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def dataset(name: str = "digits", *, data_dir: str | os.PathLike | None = None) -> Dataset:
    """A dataset by name ("digits" is built in; `consort data list` shows all), "folder:PATH" or "csv:PATH".

    >>> import consort
    >>> digits = consort.dataset("digits")
    >>> digits.train[0].shape, digits.test[0].shape
    ((1437, 8, 8, 1), (360, 8, 8, 1))
    """
    return Dataset(**_consort.dataset(name, data_dir=data_dir))


def partition(
    labels: np.ndarray, scheme: str = "dirichlet:0.1", *, agents: int, seed: int = 1
) -> list[np.ndarray]:
    """Which samples each agent has, as indices: the partitions of the paper and more, by name.

    >>> import consort
    >>> shares = consort.partition(consort.dataset().train[1], "dirichlet:0.1", agents=4)
    >>> len(shares), len(set().union(*map(set, shares))) == sum(map(len, shares))
    (4, True)
    """
    return _consort.partition([int(label) for label in labels], scheme, agents, seed)
