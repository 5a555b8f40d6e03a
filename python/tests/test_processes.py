"""Agents of a plan as plain processes: crashes, interruptions, mistakes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import consort
from consort import _consort

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))

AGENTS = 4
SCRIPT = Path(__file__).parent / "plan_agent.py"


@pytest.fixture
def lab(tmp_path):
    """A plan and four keys, as `consort init` writes them."""
    text = 'transport = "tls"\npolicy = "wait"\n\n[run]\ngraph = "ring:4"\nmethods = ["qg-gutm"]\nseeds = [1]\n\n'
    for agent in range(AGENTS):
        secret = _consort.make_key()
        key = tmp_path / f"agent-{agent}.key"
        key.write_text(secret.hex() + "\n")
        key.chmod(0o600)
        text += f'[[agents]]\nkey = "{_consort.public_key(secret)}"\naddress = "127.0.0.1:{_consort.free_port()}"\n'
    (tmp_path / "plan.toml").write_text(text)
    return tmp_path


def start(lab, agent, *arguments):
    command = [sys.executable, str(SCRIPT), str(lab / "plan.toml"), str(agent), "--out", str(lab)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def ends(process, timeout=120):
    out, error = process.communicate(timeout=timeout)
    assert process.returncode == 0, error
    return [json.loads(line) for line in out.splitlines()]


def expected_models():
    """Those of a simulation."""
    from test_torch import simulated

    return simulated("qg-gutm").models


def test_a_killed_process_goes_on_from_its_folder_to_the_same_bits(lab):
    others = [start(lab, agent) for agent in (0, 1, 3)]
    killed = start(lab, 2, "--die-at", "10")
    killed.wait(120)
    assert killed.returncode == -signal.SIGKILL
    again = start(lab, 2)
    lines = ends(again)
    assert lines[0] == {"started": 8}  # it saves every fourth round
    for process in others:
        ends(process)
    expected = expected_models()
    for agent in range(AGENTS):
        assert (np.load(lab / f"{agent}.npy") == expected[agent]).all(), agent


def test_under_continue_the_others_go_on_and_the_killed_one_joins_again(lab):
    # Half a minute: a process that starts again has to load PyTorch first.
    arguments = ["--policy", "continue", "--rounds", "300", "--pause", "0.1"]
    others = [start(lab, agent, *arguments) for agent in (0, 1, 3)]
    killed = start(lab, 2, *arguments, "--die-at", "20")
    killed.wait(120)
    time.sleep(1.5)
    again = start(lab, 2, *arguments)
    assert ends(again)[-1]["rounds"] == 300
    absent = [ends(process)[-1]["rounds_with_somebody_absent"] for process in others]
    assert max(absent) > 0, absent
    models = np.stack([np.load(lab / f"{agent}.npy") for agent in range(AGENTS)])
    apart = np.abs(models - models.mean(0)).max() / np.abs(models).max()
    assert apart < 0.5, apart  # they train one model; 0.1 was measured


def test_ctrl_c_ends_a_wait_at_once(lab):
    alone = start(lab, 0)  # nobody else comes
    time.sleep(4.0)
    assert alone.poll() is None
    began = time.monotonic()
    alone.send_signal(signal.SIGINT)
    _, error = alone.communicate(timeout=30)
    assert time.monotonic() - began < 5.0
    assert "KeyboardInterrupt" in error


def test_an_agent_with_another_model_is_named(lab):
    processes = [start(lab, agent, *["--wrong-model"] * (agent == 1)) for agent in range(AGENTS)]
    _, error = processes[1].communicate(timeout=60)
    assert processes[1].returncode != 0 and "model-at-the-start" in error
    for process in processes:
        process.kill()
        process.communicate()


def test_a_key_that_is_not_in_the_plan_is_refused(lab):
    (lab / "agent-9.key").write_text(_consort.make_key().hex() + "\n")
    (lab / "agent-9.key").chmod(0o600)
    with pytest.raises(ValueError, match="belongs to no agent"):
        consort.init(lab / "plan.toml", key=lab / "agent-9.key")
