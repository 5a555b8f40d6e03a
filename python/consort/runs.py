"""Whole runs in this process: from a configuration, or with gradients from a Python function."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

from . import _consort


class Figure(str):
    """An SVG picture, as text. A notebook shows it; `save` writes it."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike) -> None:
        Path(path).write_text(self, encoding="utf-8")


@dataclass(frozen=True)
class Result:
    """What `train` found: trials with their records, the averaged models, figures."""

    #: The complete configuration, as TOML.
    config: str
    #: How many parameters the model has.
    parameters: int
    #: One dict per method and seed: method, label, seed, records, diverged, collapsed, model.
    trials: list[dict[str, Any]]
    #: Figures by name: "accuracy", "accuracy-by-bytes", "train-loss", "consensus-distance".
    figures: dict[str, Figure]

    @property
    def records(self):
        """All evaluations: a pandas DataFrame if pandas is there, else a list of dicts."""
        rows = [
            {"method": trial["label"], "seed": trial["seed"], **record}
            for trial in self.trials
            for record in trial["records"]
        ]
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.json_normalize(rows)

    def accuracy(self, method: str) -> list[float]:
        """The test accuracy of the averaged model at the end, of every seed of a method."""
        found = [trial for trial in self.trials if method in (trial["method"], trial["label"])]
        if not found:
            names = sorted({trial["label"] for trial in self.trials})
            raise KeyError(f"no method {method!r} in this run; there are {', '.join(names)}")
        return [trial["records"][-1]["test_accuracy"] for trial in found]

    def table(self) -> list[dict[str, Any]]:
        """One row per method: mean and sample standard deviation of the accuracy, over the seeds."""
        rows = []
        for label in dict.fromkeys(trial["label"] for trial in self.trials):
            values = 100 * np.array(self.accuracy(label), dtype=float)
            diverged = sum(
                trial["diverged"] is not None for trial in self.trials if trial["label"] == label
            )
            rows.append(
                {
                    "method": label,
                    "accuracy": float(values.mean()),
                    "std": float(values.std(ddof=1)) if len(values) > 1 else None,
                    "seeds": len(values),
                    "diverged": diverged,
                }
            )
        return rows

    def _repr_html_(self) -> str:
        head = "<tr><th>method</th><th>accuracy of the averaged model, %</th><th>seeds</th></tr>"
        body = ""
        for row in self.table():
            spread = "" if row["std"] is None else f" ± {row['std']:.2f}"
            value = (
                f"{row['diverged']} diverged" if row["diverged"] else f"{row['accuracy']:.2f}{spread}"
            )
            body += f"<tr><td>{row['method']}</td><td>{value}</td><td>{row['seeds']}</td></tr>"
        return f"<table>{head}{body}</table>{self.figures.get('accuracy', '')}"


@dataclass(frozen=True)
class Simulation:
    """What `simulate` found."""

    #: The agents' models, one row each.
    models: np.ndarray
    #: The averaged model.
    average: np.ndarray
    #: One dict per recorded round: round, eta, loss, gradient_norm, consensus_distance.
    history: list[dict[str, float]]


def train(
    config: str | os.PathLike | dict | None = None,
    *,
    data_dir: str | os.PathLike | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **keys: Any,
) -> Result:
    """Runs a whole configuration, as `consort train` does, with the same bits.

    `config` is a TOML file, or a dict of its keys; `keys` override it, with underscores for hyphens.

    >>> import consort
    >>> result = consort.train(methods=["gut"], seeds=[1], graph="ring:4", epochs=2, progress=False)
    >>> [trial["label"] for trial in result.trials]
    ['gut']
    >>> 0.1 < result.accuracy("gut")[0] <= 1.0
    True
    """
    text = _toml(config, keys)
    watch = _Progress() if progress or (progress is None and _is_shown()) else None
    try:
        found = _consort.train(text, data_dir=data_dir, threads=_threads(threads), watch=watch)
    finally:
        if watch is not None:
            watch.close()
    figures = {name: Figure(svg) for name, svg in found.pop("figures").items()}
    return Result(figures=figures, **found)


def simulate(
    gradient: Callable[[int, int, np.ndarray, int], tuple[float, np.ndarray]],
    x0: np.ndarray,
    *,
    graph: str | _consort.Graph,
    method: Any = "gut",
    rounds: int,
    eta: float | Callable[[int], float],
    threads: int = 1,
    every: int = 1,
    watch: Callable[[dict], None] | None = None,
) -> Simulation:
    """Runs all agents of a graph in this process.

    `gradient(agent, round, x, step)` returns the loss and the gradient at x, a flat float32 array. If it
    depends on nothing else, the run has the same bits every time. `method` is a name with parameters, or
    a class derived from `Method`; `eta` is a number, or a function of the round. `every` says how often
    the history gets an entry, and `watch` is called with each.
    """
    x0 = np.ascontiguousarray(x0, dtype=np.float32)
    if x0.ndim != 1:
        raise ValueError(f"x0 must be flat, got the shape {x0.shape}")
    found = _consort.simulate(
        gradient,
        x0,
        graph=graph,
        method=method,
        rounds=rounds,
        eta=eta,
        threads=threads,
        every=max(1, every),
        watch=watch,
    )
    return Simulation(**found)


def problem(
    config: str | os.PathLike | dict | None = None,
    *,
    data_dir: str | os.PathLike | None = None,
    threads: int | None = None,
    **keys: Any,
) -> _consort.Problem:
    """The model and the agents' data of a configuration, as a gradient function for `simulate`."""
    return _consort.Problem(_toml(config, keys), data_dir=data_dir, threads=_threads(threads))


def _threads(threads: int | None) -> int:
    return threads or os.cpu_count() or 1


def _toml(config: str | os.PathLike | dict | None, keys: dict[str, Any]) -> str:
    """The configuration as TOML text."""
    overrides = {name.replace("_", "-"): value for name, value in keys.items()}
    if config is None or isinstance(config, dict):
        return _table({**(config or {}), **overrides})
    text = Path(config).read_text(encoding="utf-8")
    if not overrides:
        return text
    try:
        import tomllib
    except ImportError:
        raise TypeError("before Python 3.11, give either a file or keys, not both") from None
    return _table({**tomllib.loads(text), **overrides})


def _table(values: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return json.dumps(os.fspath(value) if isinstance(value, os.PathLike) else str(value))


def _is_shown() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Progress:
    """One line that is written again and again; in a notebook, in the output of the cell."""

    def __init__(self) -> None:
        self.next = 0.0
        self.width = 0

    def __call__(self, label: str, seed: int, place: tuple[int, int, float | None]) -> None:
        now = time.monotonic()
        round, rounds, accuracy = place
        if now < self.next and round < rounds:
            return
        self.next = now + 0.2
        shown = "" if accuracy is None else f", averaged model {100 * accuracy:.2f} %"
        line = f"{label}, seed {seed}: round {round} of {rounds}{shown}"
        self.width = max(self.width, len(line))
        print(f"\r{line:<{self.width}}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.width:
            print(file=sys.stderr)
