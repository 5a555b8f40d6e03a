#!/usr/bin/env python3
"""Weights between Consort and PyTorch, both ways, for every built-in model.

    cargo build --release -p consort-model --example exchange
    python3 -m venv torch-venv && torch-venv/bin/pip install torch numpy safetensors
    torch-venv/bin/python crates/model/tests/exchange_with_torch.py

Consort writes a file; PyTorch loads it with `load_state_dict(strict=True)`, so every name and
shape must be right, and computes loss and length of the gradient of the same batch in float64.
PyTorch then changes every parameter and saves a file; Consort loads that one. Losses must agree
to 1e-6 and lengths to 2e-4 of themselves: Consort computes in float32, and a number that
rounding carries across a kink of the hard sigmoid changes the gradient (measured: 2e-7 and 3e-5).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden"))
import make


def mobilenet_v2_224():
    net, _ = make.mobilenet_v2()
    net[0] = make.conv(3, 32, 3, 2)
    # Its second stage strides, so the first block there has no shortcut.
    net[3] = make.Block([make.conv(16, 96, 1), make.EvoNorm(96), make.conv(96, 96, 3, 2, 96), make.EvoNorm(96), make.conv(96, 24, 1), make.EvoNorm(24)], None)
    net[21] = nn.AvgPool2d(7)
    return net, (224, 224, 3)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)), (8, 8, 1)


def softmax():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), (8, 8, 1)


def digits_cnn():
    return nn.Sequential(make.conv(1, 16, 3), make.EvoNorm(16), nn.MaxPool2d(2), make.conv(16, 32, 3), make.EvoNorm(32), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(128, 10)), (8, 8, 1)


MODELS = {"lenet5": make.lenet5, "vgg11": make.vgg11, "resnet20": make.resnet20, "mobilenet-v2": make.mobilenet_v2,
          "mobilenet-v2-224": mobilenet_v2_224, "mlp": mlp, "softmax": softmax, "digits-cnn": digits_cnn}
PARAMETERS = {"lenet5": 61_706, "vgg11": 579_786, "resnet20": 272_474, "mobilenet-v2": 2_296_922, "mobilenet-v2-224": 2_296_490}


def torchs_numbers(net, shape):
    """Loss and length of the gradient in float64, of the batch of `examples/exchange.rs`."""
    height, width, channels = shape
    images = make.fill(3 * height * width * channels, 0.5, 1.0).reshape(3, height, width, channels)
    net = net.double()
    net.zero_grad()
    loss = F.cross_entropy(net(images.permute(0, 3, 1, 2)), torch.tensor([3, 7, 0]))
    loss.backward()
    length = torch.sqrt(sum((p.grad ** 2).sum() for p in net.parameters()))
    return loss.item(), length.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchange", default="target/release/examples/exchange", help="the built example")
    parser.add_argument("--models", default=",".join(MODELS))
    a = parser.parse_args()
    failures = 0
    for name in a.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            def consort(action, file):
                output = subprocess.run([a.exchange, action, name, os.path.join(folder, file)], check=True, capture_output=True, text=True).stdout
                return json.loads(output)

            net, shape = MODELS[name]()
            for way, action, file in (("to PyTorch", "write", "ours.safetensors"), ("from PyTorch", "read", "theirs.safetensors")):
                if action == "read":
                    net = net.float()
                    with torch.no_grad():
                        for k, p in enumerate(net.parameters()):
                            p.mul_(1.02).add_(make.fill(p.numel(), float(k), 0.01).float().reshape(p.shape))
                    save_file({key: p.contiguous() for key, p in net.state_dict().items()}, os.path.join(folder, file))
                ours = consort(action, file)
                if action == "write":
                    net.load_state_dict(load_file(os.path.join(folder, file)), strict=True)
                count = sum(p.numel() for p in net.parameters())
                loss, length = torchs_numbers(net, shape)
                off, off_length = abs(ours["loss"] / loss - 1), abs(ours["gradient_length"] / length - 1)
                good = off < 1e-6 and off_length < 2e-4 and ours["parameters"] == count == PARAMETERS.get(name, count)
                failures += not good
                print(f"{name:17} {way:12} {count:8} parameters   loss {ours['loss']:.7f} {loss:.7f} (off {off:.0e})   "
                      f"gradient {ours['gradient_length']:.6f} {length:.6f} (off {off_length:.0e})   {'ok' if good else 'WRONG'}")
    sys.exit(f"{failures} wrong" if failures else 0)


if __name__ == "__main__":
    main()
