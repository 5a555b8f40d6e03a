"""How heterogeneous the paper's partition is, by Python's generator: numbers for partition_laws.rs.

Steps 1 to 4 of src/partition/dirichlet.rs as plain lists, with another generator and another way
to draw gammas, so that a slip in either shows. Prints, per alpha and number of agents, mean and
standard deviation over seeds of the mean total-variation distance between an agent's labels and
all labels.
"""

import random
import statistics

CLASSES, EACH, SEEDS = 10, 960, 200


def deal(labels, agents, alpha, chance):
    order = list(range(len(labels)))
    chance.shuffle(order)
    row, start, groups = [], 0, -(-agents // 10)
    for group in range(groups):
        members = min(10, agents - 10 * group)
        stop = len(labels) if group == groups - 1 else start + 10 * len(labels) // agents
        mine, start = order[start:stop], stop
        classes = [[i for i in mine if labels[i] == label] for label in range(CLASSES)]
        while True:
            shares = [[] for _ in range(members)]
            for samples in classes:
                parts = [chance.gammavariate(alpha, 1) for _ in shares]
                for j, share in enumerate(shares):
                    if len(share) >= len(mine) / members:
                        parts[j] = 0
                if sum(parts) == 0:  # underflow: draw everything anew
                    break
                begin, running = 0, 0
                for j, share in enumerate(shares):
                    running += parts[j] / sum(parts)
                    end = len(samples) if j == members - 1 else int(running * len(samples))
                    share += samples[begin:end]
                    begin = end
            if min(map(len, shares)) >= len(mine) // (2 * members):
                break
        row += sum(shares, [])
    fair = len(labels) // agents
    return [row[i * fair : (i + 1) * fair] for i in range(agents)]


def total_variation(labels, shares):
    own = [[0] * CLASSES for _ in shares]
    for counts, share in zip(own, shares):
        for i in share:
            counts[labels[i]] += 1 / len(share)
    mean = [statistics.fmean(column) for column in zip(*own)]
    return statistics.fmean(sum(abs(p - q) for p, q in zip(row, mean)) / 2 for row in own)


labels = [i % CLASSES for i in range(CLASSES * EACH)]
for alpha in (0.05, 0.1, 1.0):
    for agents in (5, 16, 32):
        found = [
            total_variation(labels, deal(labels, agents, alpha, random.Random(seed)))
            for seed in range(SEEDS)
        ]
        print(f"({alpha}, {agents}, {statistics.fmean(found):.4f}, {statistics.stdev(found):.4f}),")
