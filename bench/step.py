#!/usr/bin/env python3
"""A training step of the paper's models against PyTorch on the same machine, in the same run.

    cargo build --release
    python3 bench/step.py                    half an hour to an hour; the tables in RESULTS.md
    python3 bench/step.py --quick --models lenet5 --seconds 2

PyTorch (torch_baseline.py) runs in every setting: eager and compiled, contiguous and channels_last,
one process on all cores and one single-threaded process per core. With --quick only the latter, which
has been the best split for all models. Ours runs before and after each of them, so that a noisy
neighbour hits both sides, and "Consort" is the mean of all our runs; best and median stand beside it.
The ratio is that mean over PyTorch's best setting. Both sides compute loss and gradient of batches of
32 and update the parameters by plain SGD.
"""
import argparse
import datetime
import os
import platform
import shlex
import statistics
import subprocess
import sys

import programs

MODELS = ("resnet20", "vgg11", "lenet5", "mobilenet-v2")
# What keeps PyTorch and the libraries below it from using AVX-512.
NO_AVX512 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def settings(quick):
    """How PyTorch can run: compiled, channels_last, processes, threads of each."""
    cores = os.cpu_count()
    splits = [(cores, 1)] if quick or cores == 1 else [(1, cores), (cores, 1)]
    return [(compiled, channels_last, *split) for compiled in (False, True) for channels_last in (False, True) for split in splits]


def words(compiled, channels_last, processes, threads):
    """A setting of PyTorch in words."""
    return ", ".join(["compiled" if compiled else "eager", "channels_last" if channels_last else "contiguous", f"{processes} x {threads} threads"])


def ours(a, model):
    command = [a.consort, "bench", "step", "--model", model, "--json"]
    command += ["--seconds", str(a.seconds)] if a.seconds else []
    command += ["--isa", "avx2"] if a.avx2 else []
    return programs.consort(command)


def theirs(a, model, setting):
    compiled, channels_last, processes, threads = setting
    command = [a.python, a.baseline, "step", "--model", model, "--threads", str(threads)]
    command += ["--seconds", str(a.seconds)] if a.seconds else []
    command += ["--compile"] * compiled + ["--channels-last"] * channels_last
    answers = programs.rivals(command, processes)
    return sum(answer["images_per_s"] for answer in answers), answers[0]["parameters"]


def compare(a, model, progress):
    """Images per second of all our runs, and of PyTorch's settings, each with its words."""
    mine, their = [], []

    def run_ours():
        with progress.step(f"{model}: Consort"):
            mine.append(ours(a, model))

    run_ours()
    for _ in range(a.repeats):
        for setting in settings(a.quick):
            try:
                with progress.step(f"{model}: PyTorch {words(*setting)}"):
                    speed, parameters = theirs(a, model, setting)
            except programs.Failed as failed:
                print(f"# {model}: PyTorch {words(*setting)} failed: {failed}", flush=True)
            else:
                if parameters != mine[0]["parameters"]:
                    sys.exit(f"{model} trains {mine[0]['parameters']} numbers here and {parameters} in PyTorch: not the same model")
                their.append((speed, words(*setting)))
                if a.all:
                    print(f"# {model}: PyTorch {words(*setting)}: {speed:.0f} images/s", flush=True)
            run_ours()
    if not their:
        sys.exit(f"PyTorch ran {model} in no setting")
    return [run["images_per_s"] for run in mine], their


def machine():
    """CPU model and cores, as far as the system tells."""
    name = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores"


def versions(torch):
    def first_line(*command):
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "unknown"
    changed = first_line("git", "status", "--porcelain", "--untracked-files=no") != "unknown"
    commit = first_line("git", "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    return f"{first_line('rustc', '--version')}; Consort {commit}; PyTorch {torch}"


def command_for_others():
    """This command, with the names of files but not the folders of this machine."""
    return shlex.join(["python3", "bench/step.py"] + [os.path.basename(word) if os.path.isabs(word) else word for word in sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS), help="separated by commas [default: all four]")
    parser.add_argument("--quick", action="store_true", help="PyTorch only with one process per core")
    parser.add_argument("--seconds", type=float, help="measured seconds of a setting [default: 3 of ours, 6 of PyTorch's]")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each of PyTorch's settings")
    parser.add_argument("--avx2", action="store_true", help="both sides without AVX-512, as on a machine that has none")
    parser.add_argument("--all", action="store_true", help="print every setting of PyTorch, not only its best")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there")
    programs.add_options(parser)
    a = parser.parse_args()
    models = a.models.split(",")
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; known are {', '.join(MODELS)}")
    if a.repeats < 1 or (a.seconds is not None and a.seconds <= 0):
        parser.error("--repeats is at least 1, --seconds above 0")
    torch = programs.check(a)
    if a.avx2:
        os.environ.update(NO_AVX512)

    progress = programs.Progress(len(models) * (1 + 2 * a.repeats * len(settings(a.quick))))
    rows = []
    for model in models:
        mine, their = compare(a, model, progress)
        mean, (speed, setting) = statistics.mean(mine), max(their)
        rows.append(f"| {model} | {mean:.0f} | {statistics.median(mine):.0f} | {max(mine):.0f} | {speed:.0f} | {setting} | {mean / speed:.2f} |")
        print(f"{model}: Consort {mean:.0f} images/s (median {statistics.median(mine):.0f}, best {max(mine):.0f} of {len(mine)} runs), "
              f"PyTorch {speed:.0f} ({setting}), ratio {mean / speed:.2f}", flush=True)
    if a.markdown:
        text = ["Training steps, batch 32, images per second on all cores.", "",
                "| model | Consort | median | best | PyTorch | its best setting | ratio |", "|---|---|---|---|---|---|---|", *rows, "",
                f"{machine()}; {versions(torch)}; {datetime.date.today().isoformat()}; `{command_for_others()}`.",
                "Consort is the mean of runs before and after each of PyTorch's; the ratio is that mean over PyTorch's best setting"
                + (", of those with one process per core." if a.quick else "."), ""]
        with open(a.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(text))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
