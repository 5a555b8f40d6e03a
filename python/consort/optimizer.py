"""Decentralized SGD as a PyTorch optimizer."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any, Callable, Iterable

import torch

from . import _consort
from .flat import FlatParameters
from .links import Links, method_with


class SGD(torch.optim.Optimizer):
    """SGD that mixes with the neighbours on a graph after every step.

    **After `step()` the parameters hold the point where the next gradient is taken.** For GUT and its
    relatives that is the mixed model of the neighbourhood, not the agent's own: use `model()` or
    `consensus()` to evaluate or to save.

    - `method`: a name with parameters ("gut", "qg-gutm:mu=0.05", `consort.methods()`), or a class derived
      from `consort.Method`. By default "qg-gutm" with momentum and "gut" without.
    - `graph`: "ring" for the ring of all agents, or any graph of that size ("base:25:1").
    - `mu`: "auto" chooses a stable value; None keeps the method's default.
    - `policy`: "wait" for silent neighbours (the same bits always), or "continue" without them.
    - `steps`: how many steps there will be. Without it each agent leaves when its loop ends.
    - `folder`: where the agent saves its state every `save_every` rounds. A process that was killed goes
      on from there; `round` says where, so feed the mini-batch of that round.
    - `normalises`: whether the model has normalisation layers, for mu="auto".

    Parameter groups may have learning rates of their own, which schedulers may change at every step.
    """

    #: A gradient scaler always calls `step`, also if it would skip one: the neighbours wait for it.
    _step_supports_amp_scaling = True

    def __init__(
        self,
        params: Iterable,
        lr: float,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        *,
        method: Any = None,
        graph: str | _consort.Graph | None = None,
        mu: float | str | None = "auto",
        gamma: float | str | None = None,
        policy: str | None = None,
        steps: int | None = None,
        save_every: int = 50,
        folder: str | os.PathLike | None = None,
        normalises: bool = True,
    ):
        if not lr > 0:
            raise ValueError(f"lr must be above 0, got {lr}")
        if momentum < 0 or weight_decay < 0:
            raise ValueError("momentum and weight_decay must be 0 or more")
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})
        flat = FlatParameters(p for group in self.param_groups for p in group["params"])
        given_by_plan = method is None and Links.plan_has_method()
        if method is None and not given_by_plan:
            method = "qg-gutm" if momentum else "gut"
        if not given_by_plan:
            method = method_with(method, mu, gamma)
        self.links = Links(
            flat,
            method=method,
            graph=graph,
            momentum=momentum if isinstance(method, str) else None,
            policy=policy,
            steps=steps,
            save_every=save_every,
            folder=folder,
            normalises=normalises,
        )
        self.flat = flat
        flat.attach_gradients()

    @property
    def round(self) -> int:
        """How many rounds are over: which mini-batch is next."""
        return self.links.session.round

    @property
    def method(self) -> str:
        """The method with all its parameters, as they were chosen."""
        return self.links.session.method

    @torch.no_grad()
    def step(self, closure: Callable[[], torch.Tensor] | None = None):
        """Gives the gradients to the method, exchanges messages, and moves on."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        flat = self.flat
        flat.gather_gradients()
        self._unscale()
        rates = [group["lr"] for group in self.param_groups]
        decays = [group["weight_decay"] for group in self.param_groups]
        eta = float(max(rates))
        native_decay = 0.0
        if len(set(decays)) == 1:
            native_decay = float(decays[0])
        scaled = len(set(rates)) > 1
        if scaled or len(set(decays)) > 1:
            views = iter(zip(flat.gradient_views, flat.views))
            for group, rate, decay in zip(self.param_groups, rates, decays):
                for parameter in group["params"]:
                    if not parameter.requires_grad:
                        continue
                    gradient, values = next(views)
                    if decay:
                        gradient.add_(values, alpha=float(decay))
                    # A step of rate times g is one of eta times (rate / eta) g.
                    gradient.mul_(float(rate) / eta if eta > 0 else 1.0)
            native_decay = 0.0
        self.links.exchange(flat.gradients, eta, native_decay)
        return loss

    def _unscale(self) -> None:
        """What a gradient scaler has multiplied; a step that it would skip is one without gradient."""
        found_inf = getattr(self, "found_inf", None)
        if found_inf is not None and float(found_inf) > 0:
            self.flat.gradients.zero_()
            return
        scale = getattr(self, "grad_scale", None)
        if scale is not None:
            self.flat.gradients.div_(float(scale))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Gradients become zero; they stay views of one array, so `set_to_none` changes nothing."""
        if not self.flat.is_shared:
            super().zero_grad(set_to_none)
            return
        self.flat.gradients.zero_()
        self.flat.attach_gradients()

    def model(self) -> AbstractContextManager[None]:
        """The parameters hold the agent's own model inside."""
        return self.links.model()

    def consensus(self, module: torch.nn.Module | None = None) -> AbstractContextManager[None]:
        """The parameters hold the average of all agents' models inside; with a module, its floating
        buffers are averaged too. All agents must enter, at the same round."""
        return self.links.consensus(module)

    def stats(self) -> dict[str, Any]:
        """Round, method, verdict, traffic of each link, and who is there."""
        return self.links.stats()

    def close(self) -> None:
        """Leaves. It happens by itself at the end of the program."""
        self.links.close()

    def state_dict(self) -> dict[str, Any]:
        """Everything that is needed to go on to the same bits: all agents must save and load the
        same round."""
        saved = super().state_dict()
        state = self.links.session.state()
        saved["consort"] = {
            "round": self.round,
            "method": self.method,
            "tensors": {name: torch.from_numpy(array) for name, array in state.items()},
        }
        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken."""
        saved = dict(state_dict)
        own = saved.pop("consort", None)
        if own is None:
            raise ValueError("this state is not that of consort.SGD")
        if own["method"] != self.method:
            raise ValueError(f"this state is of {own['method']}; this optimizer is {self.method}")
        super().load_state_dict(saved)
        session = self.links.session
        arrays = {name: tensor.numpy() for name, tensor in own["tensors"].items()}
        session.load_state(arrays, own["round"])
        session.probe(self.flat.values.numpy())
        self.flat.push()
