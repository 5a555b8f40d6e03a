#!/usr/bin/env python3
"""Makes pytorch.json: loss and gradients of the built-in models by PyTorch, in float64.

    python3 make.py > pytorch.json        (any Python with torch)

Parameters and images come from a formula (`fill`), so the test makes the same ones without
PyTorch. Of every parameter's gradient the file keeps two numbers: its length and its
product with a fixed vector of the same formula.
"""
import json
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def fill(count, phase, scale):
    i = torch.arange(count, dtype=torch.float64)
    return (scale * torch.sin(0.7 * i + 0.013 * i * i % 6.0 + phase)).to(torch.float32).to(torch.float64)


class EvoNorm(nn.Module):
    def __init__(self, c, groups=8, s0=False):
        super().__init__()
        self.groups = groups
        self.gamma = nn.Parameter(torch.ones(1, c, 1, 1))
        self.beta = nn.Parameter(torch.zeros(1, c, 1, 1))
        self.v = nn.Parameter(torch.ones(1, c, 1, 1)) if s0 else None

    def forward(self, x):
        n, c, _, _ = x.shape
        variance = x.reshape(n, self.groups, -1).var(2, unbiased=False)
        scale = torch.rsqrt(variance + 1e-5).repeat_interleave(c // self.groups, 1)
        gate = F.hardsigmoid(x) if self.v is None else torch.sigmoid(self.v * x)
        return x * gate * scale.reshape(n, c, 1, 1) * self.gamma + self.beta


class Block(nn.Module):
    def __init__(self, body, skip):
        super().__init__()
        self.body = nn.Sequential(*body)
        self.adds = skip is not None
        self.skip = nn.Sequential(*(skip or []))

    def forward(self, x):
        return self.body(x) + self.skip(x) if self.adds else self.body(x)


def conv(i, o, k, s=1, groups=1):
    return nn.Conv2d(i, o, k, s, k // 2, groups=groups, bias=False)


def lenet5():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), (28, 28, 1)


def resnet20():
    layers, i = [conv(3, 16, 3), EvoNorm(16)], 16
    for o, first in ((16, 1), (32, 2), (64, 2)):
        for k in range(3):
            s = first if k == 0 else 1
            skip = [] if s == 1 and i == o else [conv(i, o, 1, s), EvoNorm(o)]
            layers.append(Block([conv(i, o, 3, s), EvoNorm(o), conv(o, o, 3), EvoNorm(o)], skip))
            i = o
    return nn.Sequential(*layers, nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10)), (32, 32, 3)


def vgg11():
    layers, i = [], 3
    for v in (16, 0, 32, 0, 64, 64, 0, 128, 128, 0, 128, 128, 0):
        layers += [nn.Conv2d(i, v, 3, padding=1), EvoNorm(v)] if v else [nn.MaxPool2d(2)]
        i = v or i
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10)), (32, 32, 3)


def mobilenet_v2():
    layers, i = [conv(3, 32, 3), EvoNorm(32)], 32
    for t, o, n, first in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for k in range(n):
            s, h = first if k == 0 else 1, i * t
            body = [conv(i, h, 1), EvoNorm(h), conv(h, h, 3, s, h), EvoNorm(h), conv(h, o, 1), EvoNorm(o)]
            skip = None if s != 1 else [] if i == o else [conv(i, o, 1), EvoNorm(o)]
            layers.append(Block(body, skip))
            i = o
    return nn.Sequential(*layers, conv(320, 1280, 1), EvoNorm(1280), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(1280, 10)), (32, 32, 3)


def everything():
    """Every kind of layer; the same list as in tests/engine.rs."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), EvoNorm(16, s0=True),
        Block([nn.ReLU(), conv(16, 16, 3, groups=2)], []),
        Block([nn.GroupNorm(4, 16), conv(16, 24, 1, 2)], [nn.AvgPool2d(2), conv(16, 24, 1)]),
        Block([conv(24, 24, 3, 2, 24)], None),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(96, 12), nn.ReLU(), nn.Linear(12, 8)), (16, 16, 3)


def main():
    golden = {}
    for name, build in (("lenet5", lenet5), ("resnet20", resnet20), ("vgg11", vgg11), ("mobilenet-v2", mobilenet_v2), ("everything", everything)):
        net, (height, width, channels) = build()
        net = net.double()
        with torch.no_grad():
            for k, (key, p) in enumerate(net.named_parameters()):
                fan = p.numel() / p.shape[0] if p.dim() > 1 else 1.0
                scale = 0.1 if "gamma" in key or "beta" in key or p.dim() == 1 else 1.5 / math.sqrt(fan)
                values = fill(p.numel(), float(k), scale).reshape(p.shape)
                p.copy_(values + 1.0 if "gamma" in key else values)
        batch = 3
        images = fill(batch * height * width * channels, 0.5, 1.0).reshape(batch, height, width, channels)
        labels = torch.tensor([3, 7, 0])
        loss = F.cross_entropy(net(images.permute(0, 3, 1, 2)), labels)
        loss.backward()
        gradients = {}
        for k, (key, p) in enumerate(net.named_parameters()):
            g = p.grad.reshape(-1)
            gradients[key] = [float(g.norm()), float(g @ fill(p.numel(), 100.0 + k, 1.0))]
        golden[name] = {"loss": loss.item(), "gradients": gradients}
    golden["made_by"] = "torch " + torch.__version__.split("+")[0]
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
