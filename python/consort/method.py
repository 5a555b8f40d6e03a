"""A method of your own: two functions."""

from __future__ import annotations

import numpy as np


class Method:
    """A decentralized learning method written in Python, for `simulate` and for `SGD`.

    Derive from it and write `local_step` and `mix`. All arrays are flat, of float32. Every array that
    the method remembers from one round to the next is an attribute whose name stands in `state`, the
    model `x` first; so checkpoints are complete.

    DSGD, for example: mix the models after a local step.

    >>> import consort, numpy as np
    >>> class Dsgd(consort.Method):
    ...     def local_step(self, gradient, eta):
    ...         return self.x - eta * gradient
    ...     def mix(self, messages, weights, own, eta):
    ...         self.x = sum(w * m for w, m in zip(weights, messages))
    >>> centres = np.arange(4, dtype="f4")          # agent i wants to be at i
    >>> def gradient(agent, round, x, step):
    ...     return 0.5 * float((x[0] - centres[agent]) ** 2), x - centres[agent]
    >>> run = consort.simulate(gradient, np.zeros(1, "f4"), graph="ring:4", method=Dsgd,
    ...                        rounds=200, eta=0.1)
    >>> round(float(run.average[0]), 3)
    1.5
    """

    #: The names of all arrays that the method remembers, the model first.
    state: tuple[str, ...] = ("x",)
    #: How many numbers a message has; None: as many as the model.
    message_length: int | None = None

    def __init__(self, x0: np.ndarray):
        self.x = x0.copy()

    def probe(self) -> np.ndarray:
        """The point where the next gradient is taken: the model, unless you say otherwise."""
        return self.x

    def local_step(self, gradient: np.ndarray, eta: float) -> np.ndarray:
        """Turns the gradient at the probe into the message to all neighbours."""
        raise NotImplementedError(f"{type(self).__name__} must define local_step")

    def mix(self, messages: list[np.ndarray], weights: np.ndarray, own: int, eta: float) -> None:
        """Mixes the messages of the neighbourhood, sorted by sender; `messages[own]` is the own."""
        raise NotImplementedError(f"{type(self).__name__} must define mix")
