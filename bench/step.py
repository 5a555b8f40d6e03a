#!/usr/bin/env python3
"""A training step of the paper's models against PyTorch on the same machine, in the same run.

    cargo build --release
    python3 bench/step.py --baseline torch_baseline.py --python torch-venv/bin/python --markdown step.md

The baseline is a script whose `step --model M` trains with batch 32, tries eager and compiled,
contiguous and channels_last, one process and one per core, and prints as its last line JSON with
"best" and "images_per_s" (about six minutes a model); `setting` runs one of these. With --quick
only the settings with one single-threaded process per core are run, through `setting`.

A call of PyTorch cannot be interrupted, so ours runs before and after each of them. "Consort" is
the mean of all our runs, so that a noisy neighbour hits both sides; best and median stand beside
it. The ratio is that mean over PyTorch's best setting. Both sides compute loss and gradient and
update the parameters by plain SGD.
"""
import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time

# What keeps PyTorch and the libraries below it from using AVX-512.
NO_AVX512 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
THEIR_NAMES = {"resnet20": "resnet20", "vgg11": "vgg11", "lenet5": "lenet5", "mobilenet-v2": "mobilenetv2"}


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {shlex.join(command)}\n{done.stderr[-2000:]}")
    return done.stdout


def words(setting):
    """A setting of PyTorch in words."""
    return ", ".join(["compiled" if setting["compile"] else "eager", "channels_last" if setting["channels_last"] else "contiguous",
                      f"{setting['processes']} x {setting['threads']} threads"])


def ours(a, model):
    command = [a.consort, "bench", "step", "--model", model, "--json"]
    command += ["--seconds", str(a.seconds)] if a.seconds else []
    command += ["--path", "avx2"] if a.avx2 else []
    return json.loads(output_of(command))["images_per_s"]


def every_setting(a, model):
    """PyTorch's own choice of its best setting."""
    command = [a.python, a.baseline, "step", "--model", THEIR_NAMES[model]]
    command += ["--seconds", str(a.seconds)] if a.seconds else []
    best = json.loads(output_of(command).strip().splitlines()[-1])
    return best["images_per_s"], words(best["best"])


def one_process_per_core(a, model):
    """The best of the settings in which every core has a process of its own, started together."""
    cores, results = os.cpu_count(), []
    for compiled in (False, True):
        for channels_last in (False, True):
            command = [a.python, a.baseline, "setting", "--model", THEIR_NAMES[model], "--threads", "1"]
            command += ["--seconds", str(a.seconds)] if a.seconds else []
            command += ["--compile"] * compiled + ["--channels-last"] * channels_last
            command += ["--start-at", str(time.time() + (a.compile_seconds if compiled else a.load_seconds))]
            runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(cores)]
            outputs = [run.communicate() for run in runs]
            if any(run.returncode for run in runs):
                print(f"# failed: {shlex.join(command[2:])} {outputs[0][1][-300:]}")
                continue
            speed = sum(json.loads(out.strip().splitlines()[-1])["images_per_s"] for out, _ in outputs)
            results.append((speed, words(dict(compile=compiled, channels_last=channels_last, processes=cores, threads=1))))
    return max(results) if results else sys.exit(f"PyTorch ran {model} in no setting")


def machine():
    """CPU model and cores, as far as the system tells."""
    name = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores"


def versions(a):
    def first_line(*command):
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "unknown"
    changed = first_line("git", "status", "--porcelain", "--untracked-files=no") != "unknown"
    commit = first_line("git", "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    torch = first_line(a.python, "-c", "import torch; print(torch.__version__)")
    return f"{first_line('rustc', '--version')}; Consort {commit}; PyTorch {torch}"


def command_for_others():
    """This command, with the names of files but not the folders of this machine."""
    return shlex.join(["python3", "bench/step.py"] + [os.path.basename(word) if os.path.isabs(word) else word for word in sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", required=True, help="the PyTorch script")
    parser.add_argument("--python", default="python3", help="a Python that has torch")
    parser.add_argument("--consort", default="target/release/consort")
    parser.add_argument("--models", default=",".join(THEIR_NAMES), help="separated by commas")
    parser.add_argument("--repeats", type=int, default=1, help="PyTorch runs a model; ours are one more")
    parser.add_argument("--seconds", type=float, help="measured seconds of a setting [default: each side's own]")
    parser.add_argument("--avx2", action="store_true", help="both sides without AVX-512, as on a machine that has none")
    parser.add_argument("--quick", action="store_true", help="PyTorch only with one process per core")
    parser.add_argument("--load-seconds", type=float, default=12, help="with --quick: until an eager process measures")
    parser.add_argument("--compile-seconds", type=float, default=90, help="with --quick: until a compiled one does")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there")
    a = parser.parse_args()
    models = a.models.split(",")
    unknown = [model for model in models if model not in THEIR_NAMES]
    if unknown or a.repeats < 1:
        parser.error(f"unknown model {unknown[0]}; known are {', '.join(THEIR_NAMES)}" if unknown else "--repeats must be at least 1")

    if a.avx2:
        os.environ.update(NO_AVX512)
    rows = []
    for model in models:
        mine, their = [ours(a, model)], []
        for _ in range(a.repeats):
            their.append((one_process_per_core if a.quick else every_setting)(a, model))
            mine.append(ours(a, model))
        mean, (speed, setting) = statistics.mean(mine), max(their)
        rows.append(f"| {model} | {mean:.0f} | {statistics.median(mine):.0f} | {max(mine):.0f} | {speed:.0f} | {setting} | {mean / speed:.2f} |")
        print(f"{model}: Consort {mean:.0f} images/s (median {statistics.median(mine):.0f}, best {max(mine):.0f} of {len(mine)} runs), "
              f"PyTorch {speed:.0f} ({setting}), ratio {mean / speed:.2f}", flush=True)
    if a.markdown:
        text = ["Training steps, batch 32, images per second on all cores.", "",
                "| model | Consort | median | best | PyTorch | its best setting | ratio |", "|---|---|---|---|---|---|---|", *rows, "",
                f"{machine()}; {versions(a)}; {datetime.date.today().isoformat()}; `{command_for_others()}`.",
                "Consort is the mean of runs before and after each of PyTorch's; the ratio is that mean over PyTorch's best setting"
                + (", of those with one process per core." if a.quick else "."), ""]
        with open(a.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(text))


if __name__ == "__main__":
    main()
