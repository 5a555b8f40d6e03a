"""Four processes train a small convolutional network on unlike handwritten digits, without a server.

    torchrun --nproc-per-node 4 python/examples/train.py

Every agent has about four of ten classes. Agent 0 prints the accuracy of the averaged model.
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import consort

parser = argparse.ArgumentParser()
parser.add_argument("--method", default="qg-gutm")
parser.add_argument("--graph", default="ring")
parser.add_argument("--epochs", type=int, default=10)
arguments = parser.parse_args()

here = consort.init()
torch.manual_seed(1)
torch.set_num_threads(1)

data = consort.dataset("digits")
own = consort.partition(data.train[1], "dirichlet:0.1", agents=here.size)[here.rank]
x, y = (torch.from_numpy(part[own]) for part in data.train)
x_test, y_test = map(torch.from_numpy, data.test)
# Rows, columns, channels: PyTorch wants the channels first.
x, x_test = x.permute(0, 3, 1, 2), x_test.permute(0, 3, 1, 2)

model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.GroupNorm(4, 16),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.GroupNorm(4, 32),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(32 * 4 * 4, 10),
)
consort.broadcast(model)
opt = consort.SGD(
    model.parameters(), lr=0.05, momentum=0.9, method=arguments.method, graph=arguments.graph
)
# As many steps for every agent: their shares have nearly the same size.
steps = len(data.train[1]) // here.size // 32
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, arguments.epochs * steps, eta_min=1e-4)

for epoch in range(1, arguments.epochs + 1):
    order = torch.randperm(len(x))
    for step in range(steps):
        batch = order[32 * step : 32 * (step + 1)]
        opt.zero_grad()
        loss = F.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        opt.step()
        schedule.step()
    with opt.consensus(), torch.no_grad():  # the average of all agents' models
        accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
    if here.rank == 0:
        print(f"epoch {epoch}: loss {loss.item():.3f}, averaged model {100 * accuracy:.2f} %")
opt.close()
