#!/usr/bin/env python3
"""Writes the best step sizes of sweeps into a file of experiments/.

    consort train experiments/all-methods.toml --sweep eta=0.03,0.1,0.3 --out runs/tuning
    python3 bench/set_step_sizes.py experiments/all-methods.toml runs/tuning/sweep.json

Every line of the file with `method = "NAME"` and `eta = NUMBER` gets the best eta of that method, by the
name with its parameters or by its label. Methods that no sweep has keep theirs, and are listed.
"""
import argparse
import json
import re
import sys


def best_of(paths):
    """The best eta of each method of all sweeps."""
    best = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file)["best"]:
                if "eta" not in entry["values"]:
                    sys.exit(f"{path}: {entry['method']} was not swept over eta")
                best[entry["method"]] = entry["values"]["eta"]
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a configuration or a preset")
    parser.add_argument("sweeps", nargs="+", help="sweep.json of one or more sweeps over eta")
    a = parser.parse_args()
    best, missing = best_of(a.sweeps), []
    with open(a.file, encoding="utf-8") as file:
        lines = file.readlines()
    for k, line in enumerate(lines):
        method = re.search(r'method = "([^"]+)"', line)
        if not method or line.lstrip().startswith("#") or not re.search(r"\beta = [\d.e-]+", line):
            continue
        label = re.search(r'label = "([^"]+)"', line)
        names = [method[1]] + ([label[1]] if label else [])
        eta = next((best[name] for name in names if name in best), None)
        if eta is None:
            missing.append(method[1])
            continue
        lines[k] = re.sub(r"\beta = [\d.e-]+", f"eta = {eta}", line)
    with open(a.file, "w", encoding="utf-8") as file:
        file.writelines(lines)
    if missing:
        print(f"unchanged, because no sweep has them: {', '.join(missing)}", file=sys.stderr)


if __name__ == "__main__":
    main()
