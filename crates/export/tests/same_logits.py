"""Runs model.onnx and model.py of a folder on images.f32, and prints the logits as JSON.

    python same_logits.py FOLDER BATCH CHANNELS HEIGHT WIDTH

A program that is not installed is left out. The ONNX file is also looked over by ONNX's own checker,
with its inference of shapes, and has to give the same logits for each image by itself.
"""
import importlib.util
import json
import os
import sys

import numpy as np

folder, shape = sys.argv[1], [int(side) for side in sys.argv[2:]]
images = np.fromfile(os.path.join(folder, "images.f32"), dtype="<f4").reshape(shape)
answers = {}


def installed(name):
    return importlib.util.find_spec(name) is not None


if installed("onnx"):
    import onnx

    onnx.checker.check_model(os.path.join(folder, "model.onnx"), full_check=True)

if installed("onnxruntime"):
    import onnxruntime

    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
    logits, probabilities = session.run(["logits", "probabilities"], {"image": images})
    alone = np.concatenate([session.run(["logits"], {"image": images[k : k + 1]})[0] for k in range(len(images))])
    assert np.abs(alone - logits).max() < 1e-5, "the batch matters"
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.abs(probabilities - powers / powers.sum(axis=1, keepdims=True)).max() < 1e-6
    answers["onnxruntime"] = logits.ravel().tolist()

if installed("torch") and installed("safetensors"):
    import torch

    sys.path.insert(0, folder)
    import model

    net = model.load(os.path.join(folder, "model.safetensors"))
    with torch.no_grad():
        answers["torch"] = net(torch.from_numpy(images)).numpy().ravel().tolist()

json.dump(answers, sys.stdout)
