"""Starts the programs that are compared: says what is missing, shows what takes long."""
import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = os.path.relpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASELINE = os.path.normpath(os.path.join(REPOSITORY, "bench", "torch_baseline.py"))
BUILT = os.path.normpath(os.path.join(REPOSITORY, "target", "release", "consort"))
# Where the message below puts PyTorch.
VENV_PYTHON = os.path.normpath(os.path.join(REPOSITORY, "torch-venv", "bin", "python"))
INSTALL = """PyTorch is the other side of this comparison. Once (about 3 GB):

  python3 -m venv torch-venv
  torch-venv/bin/pip install -r bench/requirements.txt

In the folder torch-venv it is found by itself; another Python is named with --python."""


def add_options(parser):
    """The options that say what is compared with what."""
    usual = VENV_PYTHON if os.path.exists(VENV_PYTHON) else sys.executable
    parser.add_argument("--baseline", default=BASELINE, metavar="SCRIPT", help="another PyTorch script [default: torch_baseline.py beside this one]")
    parser.add_argument("--python", default=usual, help=f"a Python that has PyTorch [default: {VENV_PYTHON} if it is there, else the one that runs this]")
    parser.add_argument("--consort", default=BUILT, help="the built program [default: target/release/consort]")


def check(a):
    """Ends with a message if one of the two sides cannot run; returns PyTorch's version."""
    if not os.path.exists(a.consort):
        sys.exit(f"there is no {a.consort}; build it first, in the folder of the repository: cargo build --release")
    if not os.path.exists(a.baseline):
        sys.exit(f"there is no {a.baseline}; without --baseline, bench/torch_baseline.py is used")
    try:
        asked = subprocess.run([a.python, "-c", "import numpy, torch; print(torch.__version__)"], capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"cannot run {a.python}: {error.strerror}\n\n{INSTALL}")
    if asked.returncode:
        sys.exit(f"{a.python} cannot import torch and numpy: {last_line(asked.stderr)}\n\n{INSTALL}")
    return asked.stdout.strip()


def last_line(text):
    return next((line for line in reversed(text.strip().splitlines()) if line.strip()), "it said nothing")


def last_json(text):
    """The JSON that ends a program's answer."""
    return json.loads(last_line(text)) if last_line(text).startswith("{") else json.loads(text[text.index("{"):])


def consort(command):
    """The JSON that Consort answers."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {shlex.join(command)}\n{done.stderr[-2000:]}")
    return last_json(done.stdout)


class Failed(Exception):
    """A setting that PyTorch does not run in, in words."""


def rivals(command, count=1):
    """The JSON of `count` processes of the baseline, which load and compile, then measure together."""
    with contextlib.ExitStack() as stack:
        runs = []
        for _ in range(count):
            errors = stack.enter_context(tempfile.TemporaryFile("w+"))
            run = subprocess.Popen([*command, "--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
            stack.callback(run.kill)  # whatever goes wrong with another one
            runs.append((run, errors))
        for run, errors in runs:
            if "ready\n" not in iter(run.stdout.readline, ""):
                run.wait()
                errors.seek(0)
                raise Failed(last_line(errors.read()))
        for run, _ in runs:
            run.stdin.write("go\n")
            run.stdin.flush()
        answers = []
        for run, errors in runs:
            text, _ = run.communicate()
            if run.returncode:
                errors.seek(0)
                raise Failed(last_line(errors.read()))
            answers.append(last_json(text))
        return answers


class Progress:
    """Says on standard error what is measured now, which of how many that is, and for how long."""

    def __init__(self, total):
        self.total, self.begun = total, 0

    @contextlib.contextmanager
    def step(self, what):
        self.begun += 1
        text, start, over = f"[{self.begun}/{self.total}] {what}", time.monotonic(), threading.Event()
        # A terminal has its line rewritten every second; a log gets a line a minute.
        terminal = sys.stderr.isatty()
        write = (lambda line: print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)) if terminal else (
            lambda line: print(line, file=sys.stderr, flush=True))

        def tick():
            while not over.wait(1 if terminal else 60):
                write(f"{text}, {time.monotonic() - start:.0f} s so far")

        write(text)
        ticking = threading.Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield
        finally:
            over.set()
            ticking.join()
            write("" if terminal else f"{text}: {time.monotonic() - start:.0f} s")
