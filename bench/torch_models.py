"""The paper's four models in PyTorch: what `torch_baseline.py` trains.

Layer by layer those of `crates/model/src/zoo`. EvoNorm is the form of the paper's experiments:
y = gamma x hardsigmoid(x) / sqrt(var + 1e-5) + beta, the variance over the pixels and channels of a
group of channels (`crates/kernel/src/evonorm.rs`).
"""
import torch
from torch import nn
from torch.nn import functional

# Numbers in the model, and those of them that are trained. Three of MobileNet-V2's blocks of stride 2
# own a shortcut that no image passes: 18,688 numbers without a gradient, which cost nothing here and
# which Consort does not have.
PARAMETERS = {
    "resnet20": (272_474, 272_474),
    "vgg11": (579_786, 579_786),
    "lenet5": (61_706, 61_706),
    "mobilenet-v2": (2_315_610, 2_296_922),
}


class EvoNorm(nn.Module):
    def __init__(self, channels, groups=8):
        super().__init__()
        self.groups = groups
        self.gamma = nn.Parameter(torch.ones(1, channels, 1, 1))
        self.beta = nn.Parameter(torch.zeros(1, channels, 1, 1))

    def forward(self, x):
        images, channels, _, _ = x.shape
        grouped = x.reshape(images, self.groups, -1)
        centred = grouped - grouped.mean(2, keepdim=True)
        scale = torch.rsqrt((centred * centred).mean(2) + 1e-5).repeat_interleave(channels // self.groups, 1)
        return x * functional.hardsigmoid(x) * scale.reshape(images, channels, 1, 1) * self.gamma + self.beta


class Block(nn.Module):
    """A body and, unless `adds` is false, a shortcut beside it."""

    def __init__(self, body, shortcut, adds=True):
        super().__init__()
        self.body, self.shortcut, self.adds = nn.Sequential(*body), nn.Sequential(*shortcut), adds

    def forward(self, x):
        return self.body(x) + self.shortcut(x) if self.adds else self.body(x)


def conv(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


def resnet20():
    layers, width = [conv(3, 16, 3), EvoNorm(16)], 16
    for out, first_stride in ((16, 1), (32, 2), (64, 2)):
        for stride in (first_stride, 1, 1):
            body = [conv(width, out, 3, stride), EvoNorm(out), conv(out, out, 3), EvoNorm(out)]
            same = stride == 1 and width == out
            layers.append(Block(body, [] if same else [conv(width, out, 1, stride), EvoNorm(out)]))
            width = out
    return nn.Sequential(*layers, nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10))


def vgg11():
    layers, width = [], 3
    for stage in ([16], [32], [64, 64], [128, 128], [128, 128]):
        for out in stage:
            layers += [nn.Conv2d(width, out, 3, padding=1), EvoNorm(out)]
            width = out
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10))


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mobilenet_v2():
    layers, width = [conv(3, 32, 3), EvoNorm(32)], 32
    stages = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, out, repeats, first_stride in stages:
        for stride in (first_stride, *[1] * (repeats - 1)):
            wide = width * expansion
            body = [conv(width, wide, 1), EvoNorm(wide), conv(wide, wide, 3, stride, wide), EvoNorm(wide), conv(wide, out, 1), EvoNorm(out)]
            layers.append(Block(body, [] if width == out else [conv(width, out, 1), EvoNorm(out)], adds=stride == 1))
            width = out
    return nn.Sequential(*layers, conv(320, 1280, 1), EvoNorm(1280), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(1280, 10))


BUILDERS = {"resnet20": resnet20, "vgg11": vgg11, "lenet5": lenet5, "mobilenet-v2": mobilenet_v2}


def build(name):
    """A model and the shape of its images: channels, height, width."""
    net = BUILDERS[name]()
    count = sum(parameter.numel() for parameter in net.parameters())
    assert count == PARAMETERS[name][0], f"{name} has {count} parameters, expected {PARAMETERS[name][0]}"
    return net, (1, 28, 28) if name == "lenet5" else (3, 32, 32)


def trained_parameters(name, net):
    """How many numbers got a gradient in the step that was just made."""
    count = sum(parameter.numel() for parameter in net.parameters() if parameter.grad is not None)
    assert count == PARAMETERS[name][1], f"{name} trains {count} parameters, expected {PARAMETERS[name][1]}"
    return count
