"""The optimizer, in processes that torchrun starts."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import consort

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))


def torchrun(script, *arguments, processes=4, timeout=300):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), str(Path(__file__).parent / script), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def simulated(method, rounds=25):
    """The same gradients in a simulation."""
    import four_agents

    torch.set_num_threads(1)
    model = four_agents.network()

    def gradient(agent, round, x, step):
        torch.nn.utils.vector_to_parameters(torch.from_numpy(x), model.parameters())
        model.zero_grad()
        inputs, targets = four_agents.batch(agent, round)
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        return float(loss), torch.cat([p.grad.reshape(-1) for p in model.parameters()]).numpy()

    x0 = torch.nn.utils.parameters_to_vector(model.parameters()).detach().numpy().copy()
    eta = lambda round: np.float32(0.05 * (0.1 if round >= 15 else 1.0))
    return consort.simulate(gradient, x0, graph="ring:4", method=method, rounds=rounds, eta=eta)


@pytest.mark.parametrize("method, steps", [("qg-gutm", False), ("gutm-n", True), ("dsgdm", False)])
def test_four_processes_under_torchrun_have_the_simulators_bits(method, steps, tmp_path):
    torchrun("four_agents.py", "--method", method, "--out", str(tmp_path), *["--steps"] * steps)
    expected = simulated(method)
    for rank in range(4):
        found = np.load(tmp_path / f"{rank}.npz")
        assert (found["own"] == expected.models[rank]).all(), rank
        assert (found["average"] == expected.average).all(), rank


def test_without_a_launcher_the_error_says_how_to_start(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(consort.ConsortError, match="torchrun --nproc-per-node"):
        consort.init()


def test_running_statistics_are_refused_with_the_reason():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    with pytest.raises(ValueError, match="GroupNorm"):
        consort.broadcast(model)


def test_states_groups_dtypes_scalers_and_mistakes():
    names = ["states", "adamw", "groups", "half", "skipped", "mistakes"]
    torchrun("solo.py", *names, processes=2)
