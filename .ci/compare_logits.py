"""Compares the logits that `consort predict --format csv --logits` printed with those of onnxruntime and
PyTorch on the same image files. Reads grey PNG files itself: no package but numpy is needed for that.

    python compare_logits.py PREDICTIONS.csv MODEL.safetensors MODEL.onnx MODEL.py
"""
import csv
import importlib.util
import os
import struct
import sys
import zlib

import numpy as np

TOLERANCE = 1e-4  # measured: 1.3e-5, of logits up to 21


def grey_png(path):
    """A grey PNG of 8 bits without interlacing, as rows of bytes."""
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 0), "a grey PNG of 8 bits"
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, above = zlib.decompress(packed), np.zeros(width, int)
    rows = []
    for y in range(height):
        line = raw[y * (width + 1) : (y + 1) * (width + 1)]
        row = np.zeros(width, int)
        for x in range(width):
            a, b, c = row[x - 1] if x else 0, above[x], above[x - 1] if x else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[x] = (line[1 + x] + [0, a, b, (a + b) // 2, nearest][line[0]]) % 256
        rows.append(row)
        above = row
    return np.array(rows, np.float32)


predictions, weights, onnx_file, source = sys.argv[1:]
with open(predictions) as file:
    rows = list(csv.DictReader(file))
ours = np.array([[float(value) for key, value in row.items() if key.startswith("logit(")] for row in rows], np.float32)
images = np.stack([grey_png(row["input"])[None] / 255 for row in rows]).astype(np.float32)
compared = 0


def compare(program, theirs):
    global compared
    off, most = np.abs(ours - theirs).max(), np.abs(ours).max()
    print(f"{program}: {len(ours)} images, logits up to {most:.1f} differ by {off:.1e}")
    assert ours.shape == theirs.shape and off < TOLERANCE and most > 1, program
    compared += 1


if importlib.util.find_spec("onnxruntime"):
    import onnxruntime

    session = onnxruntime.InferenceSession(onnx_file, providers=["CPUExecutionProvider"])
    channels = session.get_inputs()[0].shape[1]
    compare("onnxruntime", session.run(["logits"], {"image": images.repeat(channels, axis=1)})[0])
else:
    print("skipped: this Python has no onnxruntime")

if importlib.util.find_spec("torch") and importlib.util.find_spec("safetensors"):
    import torch

    spec = importlib.util.spec_from_file_location("exported", os.path.abspath(source))
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    net = exported.load(weights)
    channels = next(p for p in net.parameters()).shape[1]
    with torch.no_grad():
        compare("torch", net(torch.from_numpy(images.repeat(channels, axis=1))).numpy())
else:
    print("skipped: this Python has no torch and safetensors")
print(f"{compared} of 2 programs compared")
