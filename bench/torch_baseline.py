#!/usr/bin/env python3
"""The rival: PyTorch on the same machine. `step.py` and `consensus.py` run it; alone it runs as

    torch-venv/bin/python bench/torch_baseline.py step --model resnet20 --compile --channels-last
    torch-venv/bin/python bench/torch_baseline.py consensus --form shifted --compile

`step` trains with batch 32, f32: forward, backward, plain SGD. `consensus` lets agents on a ring
agree by gossip, GUT, quasi-global gossip and QG-GUTm, the equations of the paper's figure. It mixes by
a product with the matrix W (`dense`), as scripts usually do, or by sums of neighbours (`shifted`), as
one would who knows that the graph is a ring. The last line of the answer is JSON.
"""
import argparse
import json
import os
import sys
import time

BATCH = 32


def wait_for_the_others(a):
    """All has been loaded and compiled: says so, and measures once it is told to."""
    if a.wait:
        print("ready", flush=True)
        sys.stdin.readline()


def step(a):
    os.environ["OMP_NUM_THREADS"] = str(a.threads)  # read when torch is loaded
    import torch
    from torch.nn import functional

    import torch_models

    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    net, shape = torch_models.build(a.model)
    images, labels = torch.randn(BATCH, *shape), torch.randint(0, 10, (BATCH,))
    if a.channels_last:
        net = net.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)

    def loss_of(images, labels):
        return functional.cross_entropy(net(images), labels)

    if a.compile:
        loss_of = torch.compile(loss_of)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, foreach=True)

    def one_step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(images, labels).backward()
        optimizer.step()

    for _ in range(8):
        one_step()
    wait_for_the_others(a)
    for _ in range(2):
        one_step()
    times, end = [], time.perf_counter() + a.seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        one_step()
        times.append(time.perf_counter() - start)
    print(json.dumps(dict(model=a.model, parameters=torch_models.trained_parameters(a.model, net),
                          images_per_s=BATCH * len(times) / sum(times), step_ms_min=1e3 * min(times))))


# Of the figure: mu and the momentum's beta.
METHODS = {"gossip": (0.0, 0.0), "gut": (0.1, 0.0), "qg-gossip": (0.0, 0.9), "qg-gut": (0.01, 0.9)}


def consensus(a):
    import torch

    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    eye = torch.eye(a.agents)
    w = (eye + eye.roll(1, 0) + eye.roll(-1, 0)) / 3
    mix = {"dense": lambda x: w @ x, "shifted": lambda x: (x + x.roll(1, 0) + x.roll(-1, 0)) / 3}[a.form]

    def one_round(x, mixed_before, gossip_before, m, mu, beta):
        """Rows are agents. `'_before'` is the previous round, `m` the momentum on the update."""
        mixed = mix(x)
        gossip = mixed - x
        update = gossip
        if mu:  # what the neighbours moved beyond their gossip
            update = update + mu * (mixed - mixed_before - gossip_before + gossip)
        if beta:
            update = update + beta * mix(m)
            m = beta * m + (1 - beta) * update
        return x + update, mixed, gossip, m

    if a.compile:
        one_round = torch.compile(one_round, dynamic=False)
    x0 = torch.rand(a.agents, a.dim) * 2 - 1
    mean = x0.mean(0)

    def error(x):
        return float(((x - mean) ** 2).sum() / a.agents)

    def run(mu, beta, rounds):
        x, mixed, gossip, m = x0, mix(x0), torch.zeros_like(x0), torch.zeros_like(x0)
        for _ in range(rounds):
            x, mixed, gossip, m = one_round(x, mixed, gossip, m, mu, beta)
        return error(x)

    for mu, beta in METHODS.values():
        run(mu, beta, 2)  # compiles
    wait_for_the_others(a)
    start = time.perf_counter()
    final = {name: run(mu, beta, a.rounds) for name, (mu, beta) in METHODS.items()}
    seconds = time.perf_counter() - start
    print(json.dumps(dict(agents=a.agents, dim=a.dim, rounds=a.rounds, form=a.form, seconds=seconds,
                          first_error=error(x0), final_error=final)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="step | consensus")
    one = commands.add_parser("step", help="images per second of one model in one setting")
    one.set_defaults(run=step)
    one.add_argument("--model", choices=("resnet20", "vgg11", "lenet5", "mobilenet-v2"), required=True)
    one.add_argument("--seconds", type=float, default=6)
    one.add_argument("--threads", type=int, default=1)
    one.add_argument("--channels-last", action="store_true")
    all_methods = commands.add_parser("consensus", help="seconds of the consensus task, four methods")
    all_methods.set_defaults(run=consensus)
    all_methods.add_argument("--agents", type=int, default=256)
    all_methods.add_argument("--dim", type=int, default=20000)
    all_methods.add_argument("--rounds", type=int, default=200)
    all_methods.add_argument("--form", choices=("dense", "shifted"), default="dense")
    for command in (one, all_methods):
        command.add_argument("--compile", action="store_true", help="through torch.compile, which needs a C++ compiler")
        command.add_argument("--wait", action="store_true", help="say 'ready' before measuring, and wait for a line")
    a = parser.parse_args()
    try:
        a.run(a)
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing}; this needs a Python with PyTorch:\n"
                 "  python3 -m venv torch-venv && torch-venv/bin/pip install -r bench/requirements.txt")


if __name__ == "__main__":
    main()
