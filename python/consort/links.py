"""What `SGD` and `gossip` share: a session with the neighbours, and the places of the model."""

from __future__ import annotations

import atexit
import logging
import os
import weakref
from contextlib import contextmanager
from typing import Any, Iterator

import torch

from . import _consort
from .flat import FlatParameters
from .rendezvous import World, fingerprint, world

logger = logging.getLogger("consort")

_open: "weakref.WeakSet[Links]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for links in list(_open):
        links.close()


def method_with(method: Any, mu: float | str | None, gamma: float | str | None) -> Any:
    """A method's name with mu and gamma, where it takes them and does not say them itself."""
    if not isinstance(method, str):
        return method
    name, _, given = method.partition(":")
    known = {info["name"]: info["parameters"] for info in _consort.methods()}
    pairs = [pair for pair in given.split(",") if pair]
    said = {pair.split("=")[0].strip() for pair in pairs}
    for key, value in (("mu", mu), ("gamma", gamma)):
        if value is None or key in said:
            continue
        if key in known.get(name, [key]):
            pairs.append(f"{key}={value}")
        elif value != "auto":
            raise ValueError(f"{name} has no {key}")
    return f"{name}:{','.join(pairs)}" if pairs else name


def graph_for(name: str | _consort.Graph, here: World) -> _consort.Graph:
    """The graph by name; "ring" stands for the ring of all agents."""
    if isinstance(name, _consort.Graph):
        graph = name
    else:
        try:
            graph = _consort.Graph(name)
        except ValueError:
            if ":" in name:
                raise
            graph = _consort.Graph(f"{name}:{here.size}")
    if graph.agents != here.size:
        raise ValueError(f"{graph.name} has {graph.agents} agents, but there are {here.size}")
    return graph


class Links:
    """One agent's session, over the flat parameters of its model."""

    def __init__(
        self,
        flat: FlatParameters,
        *,
        method: Any,
        graph: str | _consort.Graph | None,
        momentum: float | None,
        policy: str | None,
        steps: int | None,
        save_every: int,
        folder: str | os.PathLike | None,
        normalises: bool,
    ):
        here = world()
        plan = here.plan or {}
        method = plan.get("method", "gut") if method is None else method
        if graph is None and plan:
            graph = _consort.Graph(
                plan["graph"], weights=plan["weights"], seed=plan["graph_seed"]
            )
        self.flat = flat
        self.world = here
        self.name = here.next_session()
        bind, peers = here.rendezvous(self.name)
        self.session = _consort.Session(
            agent=here.rank,
            method=method,
            graph=graph_for("ring" if graph is None else graph, here),
            tensors=flat.lengths,
            x0=flat.values.numpy(),
            normalises=normalises,
            beta=momentum,
            policy=policy or plan.get("policy", "wait"),
            rounds=steps if steps is not None else plan.get("rounds"),
            save_every=save_every,
            shared=f"model-at-the-start = {fingerprint(flat.values)}\n",
            secret=here.secret,
            bind=bind,
            peers=peers,
            largest=plan.get("largest_update", 1e6),
            folder=None if folder is None else os.path.join(folder, f"agent-{here.rank}"),
            tell=logger.info if logger.isEnabledFor(logging.INFO) else _tell,
        )
        if not self.session.stable:
            logger.warning("%s", self.session.verdict)
        self.gathered = 0
        self.away = ""
        _open.add(self)
        # The neighbours are met at the first step, so that a saved state can be loaded before.
        self.session.probe(flat.values.numpy())
        flat.push()

    @staticmethod
    def plan_has_method() -> bool:
        """True if a plan says which method all agents run."""
        return world().plan is not None

    def exchange(self, gradient: torch.Tensor, eta: float, weight_decay: float = 0.0) -> None:
        """One gradient; afterwards the parameters hold the next probe."""
        if self.away:
            raise _consort.ConsortError(f"opt.step() inside opt.{self.away}(): leave it first")
        at = self.flat.values.numpy()
        self.session.step(gradient.numpy(), float(eta), at, float(weight_decay))
        self.flat.push()

    @contextmanager
    def model(self) -> Iterator[None]:
        """The parameters hold the agent's own model in here."""
        with self._holding("model"):
            self.session.model(self.flat.values.numpy())
            self.flat.push()
            yield

    @contextmanager
    def consensus(self, module: torch.nn.Module | None = None) -> Iterator[None]:
        """The parameters hold the average of all agents' models in here. All agents must come."""
        own = torch.empty_like(self.flat.values)
        self.session.model(own.numpy())
        average = self._average(own)
        buffers = [] if module is None else [b for b in module.buffers() if b.is_floating_point()]
        kept = [buffer.detach().clone() for buffer in buffers]
        with self._holding("consensus"):
            self.flat.values.copy_(average)
            self.flat.push()
            for buffer in buffers:
                mean = self._average(buffer.detach().reshape(-1))
                buffer.data.copy_(mean.reshape(buffer.shape))
            try:
                yield
            finally:
                for buffer, before in zip(buffers, kept):
                    buffer.data.copy_(before)

    def _average(self, own: torch.Tensor) -> torch.Tensor:
        """Summed in float64 in the order of the agents: the simulator's bits."""
        self.gathered += 1
        parts = self.world.gather(f"{self.name}/average-{self.gathered}", own)
        total = torch.zeros(own.numel(), dtype=torch.float64)
        for part in parts:
            total += part.double()
        return (total / len(parts)).float()

    @contextmanager
    def _holding(self, name: str) -> Iterator[None]:
        if self.away:
            raise _consort.ConsortError(f"opt.{name}() inside opt.{self.away}(): leave it first")
        before = self.flat.values.clone()
        self.away = name
        try:
            yield
        finally:
            self.away = ""
            with torch.no_grad():
                self.flat.values.copy_(before)
            self.flat.push()

    def stats(self) -> dict[str, Any]:
        """Round, method, verdict, traffic of each link, and who is there."""
        links = self.session.links()
        return {
            "round": self.session.round,
            "method": self.session.method,
            "verdict": self.session.verdict,
            "bytes_sent": sum(link["bytes_sent"] for link in links.values()),
            "bytes_received": sum(link["bytes_received"] for link in links.values()),
            "absent": [agent for agent, link in links.items() if not link["present"]],
            "links": links,
        }

    def close(self) -> None:
        """Sends what is still to be sent, and leaves."""
        if self in _open:
            _open.discard(self)
            try:
                self.session.close("its training loop has ended")
            except RuntimeError:
                pass  # a forked child: the links belong to its parent


def _tell(text: str) -> None:
    """Without logging, only what a user must know: waiting, and links that break."""
    if any(word in text for word in ("waiting", "lost the link", "left", "silent", "invalid")):
        logger.warning("%s", text)
