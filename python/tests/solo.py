"""Run by torchrun: what needs two agents but no comparison."""

import sys

import torch

import consort
from four_agents import batch, network

torch.set_num_threads(1)


def train(model, opt, rounds, start=0):
    for round in range(start, start + rounds):
        x, y = batch(consort.world().rank, round)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


def flat(model):
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def states():
    """A saved state goes on to the same bits."""
    model = network()
    opt = consort.SGD(model.parameters(), lr=0.05, momentum=0.9, method="gutm", mu=None)
    train(model, opt, 6)
    saved = {"model": {k: v.clone() for k, v in model.state_dict().items()}, "opt": opt.state_dict()}
    train(model, opt, 6, start=6)
    end = flat(model)
    opt.close()
    fresh = network()
    other = consort.SGD(fresh.parameters(), lr=0.01, momentum=0.9, method="gutm", mu=None)
    other.load_state_dict(saved["opt"])
    assert other.round == 6 and other.param_groups[0]["lr"] == 0.05
    train(fresh, other, 6, start=6)
    assert torch.equal(flat(fresh), end)
    other.close()


def adamw():
    """Gossip over AdamW: the agents agree better than without, and the hook is removed."""
    model = network()
    inner = torch.optim.AdamW(model.parameters(), lr=0.01)
    with consort.gossip(inner, method="gut", every=4) as run:
        train(model, inner, 24)
        assert run.round == 6
        with run.consensus():
            average = flat(model)
        with run.model():
            own = flat(model)
    assert torch.norm(own - average) < 0.5 * torch.norm(own - flat(network()))
    train(model, inner, 1)  # alone again


def groups():
    """Two groups with rates of their own: a group of rate 0.1 moves as one of rate 0.05 with twice the
    gradient."""
    ends = []
    for rates, factor in (((0.05, 0.1), 1.0), ((0.05, 0.05), 2.0)):
        model = network()
        first, last = list(model[0].parameters()), list(model[2].parameters())
        opt = consort.SGD(
            [{"params": first, "lr": rates[0]}, {"params": last, "lr": rates[1]}], lr=0.1, method="gut"
        )
        for round in range(8):
            x, y = batch(consort.world().rank, round)
            opt.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            for parameter in last:
                parameter.grad.mul_(factor)
            opt.step()
        ends.append(flat(model))
        opt.close()
    assert torch.allclose(*ends, atol=1e-5), (ends[0] - ends[1]).abs().max()


def half():
    """Parameters in bfloat16 have a master copy in float32."""
    model = network().to(torch.bfloat16)
    opt = consort.SGD(model.parameters(), lr=0.05, method="dsgd")
    assert not opt.flat.is_shared
    for round in range(3):
        x, y = batch(consort.world().rank, round)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x.bfloat16()).float(), y).backward()
        opt.step()
    assert torch.equal(flat(model).float(), opt.flat.values.bfloat16().float())
    opt.close()


def skipped():
    """A gradient scaler would skip one agent's step; its neighbours still hear of it."""
    model = network()
    opt = consort.SGD(model.parameters(), lr=0.05, method="dsgd")
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for round in range(4):
        x, y = batch(consort.world().rank, round)
        opt.zero_grad()
        scaler.scale(torch.nn.functional.cross_entropy(model(x), y)).backward()
        if round == 1 and consort.world().rank == 0:
            model[0].bias.grad[0] = float("inf")
        scaler.step(opt)
        scaler.update()
    assert opt.round == 4 and torch.isfinite(flat(model)).all()
    opt.close()


def mistakes():
    """What cannot be done is said."""
    model = network()
    opt = consort.SGD(model.parameters(), lr=0.05, method="gut")
    try:
        opt.param_groups[0]["lr"] = 0.0
        train(model, opt, 1)
        raise AssertionError("a rate of 0 was taken")
    except ValueError as error:
        assert "above 0" in str(error)
    opt.param_groups[0]["lr"] = 0.05
    with opt.model():
        try:
            opt.step()
            raise AssertionError("a step inside model() was taken")
        except consort.ConsortError as error:
            assert "inside opt.model" in str(error)
    import os

    child = os.fork()
    if child == 0:
        try:
            opt.step()
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    train(model, opt, 2)
    opt.close()


if __name__ == "__main__":
    consort.init()
    for name in sys.argv[1:]:
        globals()[name]()
