#!/usr/bin/env python3
"""The consensus task against PyTorch on the same machine, in the same run.

    cargo build --release
    python3 bench/consensus.py

Gossip, GUT, quasi-global gossip and QG-GUTm on a ring, all cores on both sides. PyTorch runs in two
forms (torch_baseline.py): `dense` multiplies by the mixing matrix, as scripts usually do; `shifted`
knows that the graph is a ring and adds neighbours. Both are compiled; compiling is not counted.
Runs alternate, ours first and last, so that a noisy neighbour hits all. Printed are the ratios of the
best times, and the errors, which must agree: the starts are random and not the same, so up to six
standard errors of the mean over the coordinates.
"""
import argparse
import sys
import tempfile

import programs

FORMS = {"dense": "product with W", "shifted": "sums of neighbours"}


def agree(error, other, first, tolerance):
    """Up to a share of themselves, or so small that rounding is all that is left."""
    return abs(error - other) <= max(tolerance * max(error, other), 1e-10 * first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=256)
    parser.add_argument("--dim", type=int, default=20000, help="coordinates that every agent holds")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=2, help="runs of each of PyTorch's forms")
    parser.add_argument("--eager", action="store_true", help="PyTorch without torch.compile, which needs a C++ compiler")
    programs.add_options(parser)
    a = parser.parse_args()
    if min(a.dim, a.rounds, a.repeats) < 1 or a.agents < 3:
        parser.error("--dim, --rounds and --repeats are at least 1, --agents at least 3: a ring")
    version = programs.check(a)
    size = ["--agents", str(a.agents), "--dim", str(a.dim), "--rounds", str(a.rounds)]
    progress = programs.Progress(1 + 4 * a.repeats)
    our_runs, their_runs = [], {form: [] for form in FORMS}

    def ours():
        with tempfile.TemporaryDirectory() as folder, progress.step("Consort"):
            command = [a.consort, "consensus", "--graph", f"ring:{a.agents}", *size[2:], "--seeds", "1", "--json", "--overwrite", "--out", folder]
            our_runs.append(programs.consort(command))

    def theirs(form):
        command = [a.python, a.baseline, "consensus", "--form", form, *size] + ["--compile"] * (not a.eager)
        with progress.step(f"PyTorch, {FORMS[form]}{'' if a.eager else ', compiled'}"):
            their_runs[form] += programs.rivals(command)

    ours()
    for _ in range(a.repeats):
        for form in FORMS:
            theirs(form)
            ours()

    print(f"{a.agents} agents, {a.dim} coordinates, {a.rounds} rounds, four methods, PyTorch {version}{', eager' if a.eager else ', compiled'}")
    tolerance, wrong = 6 * (2 / a.dim) ** 0.5, False
    print("final error      Consort     " + "  ".join(f"PyTorch, {words:20}" for words in FORMS.values()))
    for method in our_runs[0]["panels"][0]["methods"]:
        name, mine = method["name"], method["final_error"]
        errors = [runs[0]["final_error"][name] for runs in their_runs.values()]
        good = all(agree(mine, error, method["first_error"], tolerance) for error in errors)
        # Both forms begin at the same numbers.
        good &= agree(*errors, method["first_error"], 1e-2)
        wrong |= not good
        print(f"  {name:12} {mine:10.4g}     " + "  ".join(f"{error:<29.4g}" for error in errors) + ("" if good else "  DO NOT AGREE"))
    best = min(run["seconds"] for run in our_runs)
    print(f"seconds, best of {len(our_runs)}: Consort {best:.2f}")
    for form, runs in their_runs.items():
        rival = min(run["seconds"] for run in runs)
        print(f"  PyTorch, {FORMS[form]:18} best of {len(runs)}: {rival:7.2f}   ratio {rival / best:.1f}")
    if wrong:
        sys.exit("the errors of the two sides do not agree: they have not run the same task")


if __name__ == "__main__":
    try:
        main()
    except programs.Failed as failed:
        sys.exit(f"PyTorch failed: {failed}\n(--eager does without torch.compile)")
    except KeyboardInterrupt:
        sys.exit(130)
