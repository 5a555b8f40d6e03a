"""Who the agents are, and how they find each other: `init`, `broadcast`."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from dataclasses import dataclass, field
from typing import Any

import torch

from . import _consort

#: How long agents wait for each other at the start, in seconds.
RENDEZVOUS_SECONDS = 600

_world: "World | None" = None


@dataclass
class World:
    """This agent among all agents."""

    rank: int
    size: int
    secret: bytes
    #: Shared by all agents if a launcher started them: a `torch.distributed` store.
    store: Any = None
    #: Keys and addresses by a plan, if there is no store.
    plan: dict[str, Any] | None = None
    #: Where this agent listens; empty: chosen.
    bind: str = ""
    sessions: int = field(default=0, repr=False)

    def rendezvous(self, name: str) -> tuple[str, list[tuple[int, str, list[str]]]]:
        """Where to listen, and the keys and addresses of all agents."""
        if self.plan is not None:
            agents = self.plan["agents"]
            own = agents[self.rank]["addresses"][0]
            bind = self.bind or f"0.0.0.0:{own.rsplit(':', 1)[1]}"
            peers = [(k, agent["key"], agent["addresses"]) for k, agent in enumerate(agents)]
            return bind, [peer for peer in peers if peer[0] != self.rank]
        host = _own_host()
        bind = self.bind or f"{host}:{_consort.free_port()}"
        address = f"{host}:{bind.rsplit(':', 1)[1]}"
        own = {"key": _consort.public_key(self.secret), "address": address}
        self.store.set(f"{name}/{self.rank}", json.dumps(own))
        peers = []
        for rank in range(self.size):
            if rank != self.rank:
                entry = json.loads(self.store.get(f"{name}/{rank}"))
                peers.append((rank, entry["key"], [entry["address"]]))
        return bind, peers

    def next_session(self) -> str:
        """A name that all agents give the same session."""
        self.sessions += 1
        return f"session-{self.sessions}"

    def gather(self, name: str, values: torch.Tensor) -> list[torch.Tensor]:
        """The values of all agents, in the order of their numbers. All agents must call it."""
        if self.store is None:
            raise _consort.ConsortError(
                "without a launcher no server holds all models, so their average is known to nobody. "
                "Evaluate your own model (opt.model()), or start the agents with torchrun"
            )
        mine = values.detach().to("cpu", torch.float32).contiguous()
        self.store.set(f"{name}/{self.rank}", mine.numpy().tobytes())
        found = []
        for rank in range(self.size):
            data = mine.numpy().tobytes() if rank == self.rank else self.store.get(f"{name}/{rank}")
            found.append(torch.frombuffer(bytearray(data), dtype=torch.float32))
        if self.store.add(f"{name}/read", 1) == self.size:
            for rank in range(self.size):
                self.store.delete_key(f"{name}/{rank}")
        return found


def world() -> World:
    """This agent among all agents; `init` must have been called."""
    if _world is None:
        raise _consort.ConsortError("call consort.init() first")
    return _world


def init(
    plan: str | os.PathLike | None = None,
    key: str | os.PathLike | None = None,
    *,
    bind: str = "",
) -> World:
    """Finds out which agent this process is, and meets the others.

    Without arguments it reads what a launcher left in the environment: torchrun, Slurm or MPI. With a
    plan and a key, as `consort init` writes them, the agents need no launcher::

        consort.init("lab/plan.toml", key="lab/agent-3.key")

    Call it once, before `SGD`, `gossip` or `broadcast`.
    """
    global _world
    if (plan is None) != (key is None):
        raise ValueError("a plan needs this agent's key, and a key needs a plan: give both or none")
    _world = _from_plan(plan, key, bind) if plan is not None else _from_launcher(bind)
    return _world


def _from_plan(plan: str | os.PathLike, key: str | os.PathLike, bind: str) -> World:
    read = _consort.read_plan(os.fspath(plan))
    if read["transport"] != "tls":
        raise ValueError(
            f"{os.fspath(plan)} uses {read['transport']}; Python's agents speak TLS: make the plan "
            "with consort init --transport tls"
        )
    secret = _consort.read_key_file(os.fspath(key))
    public = _consort.public_key(secret)
    keys = [agent["key"] for agent in read["agents"]]
    if public not in keys:
        raise ValueError(f"the key in {os.fspath(key)} belongs to no agent of {os.fspath(plan)}")
    return World(keys.index(public), len(keys), secret, plan=read, bind=bind)


def _from_launcher(bind: str) -> World:
    found = _rank_and_size()
    if found is None:
        raise _consort.ConsortError(
            "no launcher started this process. Start it with\n"
            "    torchrun --nproc-per-node 4 train.py\n"
            "or give a plan and a key: consort.init(\"lab/plan.toml\", key=\"lab/agent-0.key\")"
        )
    rank, size, run, restarts = found
    secret = _consort.make_key()
    if size == 1:
        raise _consort.ConsortError("there is one process alone: start at least two agents")
    host, port = _master(size)
    served = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    from datetime import timedelta

    store = torch.distributed.TCPStore(
        host,
        port,
        world_size=None if served else size,
        is_master=rank == 0 and not served,
        timeout=timedelta(seconds=RENDEZVOUS_SECONDS),
        wait_for_workers=False,
    )
    store = torch.distributed.PrefixStore(f"consort/{run}/{restarts}", store)
    return World(rank, size, secret, store=store, bind=bind)


def _rank_and_size() -> tuple[int, int, str, str] | None:
    """Number, count, name of the job and number of restarts, by the launchers' variables."""
    environment = os.environ
    names = [
        ("RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"),
        ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"),
        ("PMI_RANK", "PMI_SIZE", "PMI_ID"),
    ]
    for rank, size, job in names:
        if rank in environment and size in environment:
            restarts = environment.get("TORCHELASTIC_RESTART_COUNT") or environment.get(
                "SLURM_RESTART_COUNT", "0"
            )
            return int(environment[rank]), int(environment[size]), environment.get(job, ""), restarts
    return None


def _master(size: int) -> tuple[str, int]:
    """Where the agents meet."""
    environment = os.environ
    port = int(environment.get("MASTER_PORT", 29500 + int(environment.get("SLURM_JOB_ID", 0)) % 1000))
    if "MASTER_ADDR" in environment:
        return environment["MASTER_ADDR"], port
    on_one_machine = (
        environment.get("SLURM_JOB_NUM_NODES") == "1"
        or environment.get("OMPI_COMM_WORLD_LOCAL_SIZE") == str(size)
    )
    if on_one_machine:
        return "127.0.0.1", port
    raise _consort.ConsortError(
        "the agents must meet somewhere: set MASTER_ADDR to the host of agent 0 (with Slurm: export "
        "MASTER_ADDR=$(scontrol show hostnames | head -n 1)), and MASTER_PORT if 29500 is taken"
    )


def _own_host() -> str:
    """The address under which the other agents reach this machine."""
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((master, 9))  # sends nothing: only chooses the way
            return probe.getsockname()[0]
    except OSError:
        return "127.0.0.1"


def broadcast(model: torch.nn.Module, *, buffers: str = "refuse") -> None:
    """Gives all agents the parameters and buffers of agent 0.

    Under a plan there is nobody to ask: make the model from the same seed everywhere. `SGD` compares a
    hash of it and names an agent whose model differs.

    Layers such as BatchNorm keep running statistics of the agent's own data, which no method averages.
    They are refused, unless `buffers` is "own" (each agent keeps its own) or "average" (inside
    `opt.consensus(model)` they are averaged too).
    """
    if buffers not in ("refuse", "own", "average"):
        raise ValueError(f'buffers must be "refuse", "own" or "average", got {buffers!r}')
    for name, module in model.named_modules():
        if buffers == "refuse" and getattr(module, "running_mean", None) is not None:
            raise ValueError(
                f"{name or 'the model'} ({type(module).__name__}) keeps statistics of this agent's own "
                "data: the average of all models would be used with none of theirs. Use GroupNorm, or "
                'say buffers="average" or buffers="own"'
            )
    here = world()
    if here.store is None:
        return
    session = here.next_session()
    tensors = [*model.parameters(), *model.buffers()]
    with torch.no_grad():
        for k, tensor in enumerate(tensors):
            name = f"{session}/{k}"
            if here.rank == 0:
                data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
                here.store.set(name, data.numpy().tobytes())
            else:
                data = torch.frombuffer(bytearray(here.store.get(name)), dtype=torch.uint8)
                tensor.copy_(data.view(tensor.dtype).reshape(tensor.shape))
        if here.store.add(f"{session}/read", 1) == here.size:
            for k in range(len(tensors)):
                here.store.delete_key(f"{session}/{k}")


def fingerprint(values: torch.Tensor) -> str:
    """A short hash of a model: agents that start from different ones are told."""
    return hashlib.sha256(values.numpy().tobytes()).hexdigest()[:16]
