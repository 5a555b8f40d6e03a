"""Any optimizer, with a decentralized method on top: `with consort.gossip(opt):`."""

from __future__ import annotations

import os
from typing import Any

import torch

from . import _consort
from .flat import FlatParameters
from .links import Links, method_with


class gossip:
    """Mixes with the neighbours after every `every` steps of an optimizer, while it is open.

    The method is given the optimizer's own move, `(x before - x after) / lr`, as its gradient. So GUT
    tracks how the neighbourhood moves under AdamW, for example::

        opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
        with consort.gossip(opt, method="gut", graph="base:25:1", every=8) as run:
            train(model, opt)                   # calls opt.step() as ever
            with run.consensus():
                evaluate(model)

    The optimizer's own state (its moments) stays at the agent.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        method: Any = "gut",
        graph: str | _consort.Graph | None = None,
        every: int = 1,
        mu: float | str | None = None,
        gamma: float | str | None = None,
        policy: str | None = None,
        steps: int | None = None,
        save_every: int = 50,
        folder: str | os.PathLike | None = None,
    ):
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        self.optimizer = optimizer
        self.every = every
        self.flat = FlatParameters(p for g in optimizer.param_groups for p in g["params"])
        self.links = Links(
            self.flat,
            method=method_with(method, mu, gamma),
            graph=graph,
            momentum=None,
            policy=policy,
            steps=steps,
            save_every=save_every,
            folder=folder,
            normalises=True,
        )
        self.since = 0
        self.before = self.flat.values.clone()
        self.hook = None

    def __enter__(self) -> "gossip":
        if self.hook is not None:
            raise _consort.ConsortError("this gossip is open already")
        self.hook = self.optimizer.register_step_post_hook(self._stepped)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.hook is not None:
            self.hook.remove()
            self.hook = None
        if kind is None:
            self.links.close()

    @torch.no_grad()
    def _stepped(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        self.since += 1
        if self.since < self.every:
            return
        self.since = 0
        self.flat.pull()
        eta = float(max(group["lr"] for group in optimizer.param_groups))
        if not eta > 0:
            raise ValueError("lr must be above 0: let a warm-up begin above 0")
        torch.sub(self.before, self.flat.values, out=self.flat.gradients)
        self.flat.gradients.div_(eta)
        self.links.exchange(self.flat.gradients, eta)
        self.before.copy_(self.flat.values)

    @property
    def round(self) -> int:
        """How many exchanges are over."""
        return self.links.session.round

    def model(self):
        """The parameters hold the agent's own model inside."""
        return self.links.model()

    def consensus(self, module: torch.nn.Module | None = None):
        """The parameters hold the average of all agents' models inside. All agents must enter."""
        return self.links.consensus(module)

    def stats(self) -> dict[str, Any]:
        """Round, method, verdict, traffic of each link, and who is there."""
        return self.links.stats()
