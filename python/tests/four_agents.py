"""Run by torchrun: four agents train a small network on unlike data; the test compares the end."""

import argparse
import os
import sys

import numpy as np
import torch

import consort

torch.set_num_threads(1)


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batch(agent, round):
    """Every agent sees two of three classes."""
    random = torch.Generator().manual_seed(1000 * agent + round)
    y = (torch.randint(0, 2, (16,), generator=random) + agent) % 3
    x = torch.randn(16, 6, generator=random) + torch.nn.functional.one_hot(y, 3).repeat(1, 2) * 2.0
    return x, y


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", default="qg-gutm")
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--steps", action="store_true")
    arguments = parser.parse_args()
    here = consort.init()
    torch.manual_seed(here.rank)  # a different model everywhere, until broadcast
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    if here.rank == 0:
        model.load_state_dict(network().state_dict())
    consort.broadcast(model)
    opt = consort.SGD(
        model.parameters(),
        lr=0.05,
        momentum=0.9,
        method=arguments.method,
        graph="ring",
        mu=None,
        steps=arguments.rounds if arguments.steps else None,
    )
    schedule = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[15], gamma=0.1)
    storage = [p.data_ptr() for p in model.parameters()]
    for round in range(arguments.rounds):
        x, y = batch(here.rank, round)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        schedule.step()
    # Nothing was copied: parameters and gradients are where they were at the start.
    assert [p.data_ptr() for p in model.parameters()] == storage
    assert all(p.grad.data_ptr() == v.data_ptr() for p, v in zip(model.parameters(), opt.flat.gradient_views))
    with opt.model():
        own = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy().copy()
    with opt.consensus():
        average = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy().copy()
    stats = opt.stats()
    assert stats["round"] == arguments.rounds and stats["bytes_sent"] > 0, stats
    np.savez(os.path.join(arguments.out, f"{here.rank}.npz"), own=own, average=average)
    opt.close()
    sys.exit(0)
