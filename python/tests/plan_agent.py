"""One agent of a plan, in a process of its own: what the tests of crashes start and kill."""

import argparse
import json
import os
import sys
import time

import numpy as np
import torch

import consort
from four_agents import batch, network

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("plan")
    parser.add_argument("agent", type=int)
    parser.add_argument("--out", required=True)
    parser.add_argument("--policy", default="wait")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--die-at", type=int, default=-1)
    parser.add_argument("--wrong-model", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder = os.path.dirname(arguments.plan)
    consort.init(arguments.plan, key=os.path.join(folder, f"agent-{arguments.agent}.key"))
    model = network()
    if arguments.wrong_model:
        torch.nn.init.zeros_(model[0].bias)
    opt = consort.SGD(
        model.parameters(),
        lr=0.05,
        momentum=0.9,
        policy=arguments.policy,
        steps=arguments.rounds,
        save_every=4,
        folder=os.path.join(arguments.out, "state"),
    )
    print(json.dumps({"started": opt.round}), flush=True)
    schedule = lambda round: 0.05 * (0.1 if round >= 15 else 1.0)
    absent = 0
    while opt.round < arguments.rounds:
        if opt.round == arguments.die_at:
            os.kill(os.getpid(), 9)
        x, y = batch(arguments.agent, opt.round)
        opt.param_groups[0]["lr"] = schedule(opt.round)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        absent += bool(opt.stats()["absent"])
        time.sleep(arguments.pause)
    with opt.model():
        own = torch.nn.utils.parameters_to_vector(model.parameters()).detach().numpy().copy()
    np.save(os.path.join(arguments.out, f"{arguments.agent}.npy"), own)
    opt.close()
    print(json.dumps({"rounds": opt.round, "rounds_with_somebody_absent": absent}), flush=True)
    sys.exit(0)
