#!/usr/bin/env python3
"""The consensus task against PyTorch on the same machine, in the same run.

    cargo build --release
    python3 bench/consensus.py --baseline torch_baseline.py --python ~/torch-venv/bin/python

The baseline is a script whose `consensus --agents N --dim D --rounds R` runs gossip, GUT,
quasi-global gossip and QG-GUTm on a ring and prints JSON with "seconds" and
"final_error". Runs alternate, ours first and last, so that a noisy neighbour hits both.
Printed is the ratio of the best times, and both sides' errors, which must agree.
"""
import argparse
import json
import subprocess
import tempfile

OUR_NAMES = {"gossip": "gossip", "gut": "gut", "qg": "qg-gossip", "qg-gut": "qg-gut"}


def last_json(command):
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output[output.index("{"):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", required=True, help="the PyTorch script")
    parser.add_argument("--python", default="python3", help="a Python that has torch")
    parser.add_argument("--consort", default="target/release/consort")
    parser.add_argument("--agents", type=int, default=256)
    parser.add_argument("--dim", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=2, help="PyTorch runs")
    a = parser.parse_args()

    def ours():
        with tempfile.TemporaryDirectory() as folder:
            command = [a.consort, "consensus", "--graph", f"ring:{a.agents}", "--dim", str(a.dim), "--rounds", str(a.rounds),
                       "--seeds", "1", "--json", "--overwrite", "--out", folder]
            return last_json(command)

    def theirs():
        return last_json([a.python, a.baseline, "consensus", "--agents", str(a.agents), "--dim", str(a.dim), "--rounds", str(a.rounds)])

    our_runs, their_runs = [ours()], []
    for _ in range(a.repeats):
        their_runs.append(theirs())
        our_runs += [ours(), ours()]
    best_ours, best_theirs = min(r["seconds"] for r in our_runs), min(r["seconds"] for r in their_runs)
    errors = {m["name"]: m["final_error"] for m in our_runs[0]["panels"][0]["methods"]}
    print(f"{a.agents} agents, {a.dim} coordinates, {a.rounds} rounds, four methods")
    for name, error in their_runs[0]["final_error"].items():
        print(f"  final error {OUR_NAMES[name]:10} consort {errors[OUR_NAMES[name]]:10.4g}   PyTorch {error:10.4g}   (other random start)")
    print(f"  seconds, best of {len(our_runs)} and {len(their_runs)}: consort {best_ours:.2f}, PyTorch {best_theirs:.2f}")
    print(f"  ratio {best_theirs / best_ours:.1f}")


if __name__ == "__main__":
    main()
