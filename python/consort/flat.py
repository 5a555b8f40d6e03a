"""All parameters as one flat float32 array in main memory.

If the parameters are float32 in main memory, they become views of that array, and so do their gradients:
nothing is copied. Otherwise (on a GPU, or of another dtype) the array is a master copy, pinned if a GPU
reads it.
"""

from __future__ import annotations

from typing import Iterable

import torch


class FlatParameters:
    """The flat array, and the way between it and the parameters."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter]):
        self.parameters = [p for p in parameters if p.requires_grad]
        if not self.parameters:
            raise ValueError("there is nothing to train: no parameter requires a gradient")
        seen: set[int] = set()
        for parameter in self.parameters:
            if not parameter.is_floating_point():
                raise ValueError(f"a parameter of type {parameter.dtype} cannot be averaged")
            if id(parameter) in seen:
                raise ValueError("a parameter is listed twice")
            seen.add(id(parameter))
        self.lengths = [p.numel() for p in self.parameters]
        count = sum(self.lengths)
        on_gpu = any(p.is_cuda for p in self.parameters)
        pinned = on_gpu and torch.cuda.is_available()
        self.values = torch.empty(count, dtype=torch.float32, pin_memory=pinned)
        self.gradients = torch.zeros(count, dtype=torch.float32, pin_memory=pinned)
        self.views = list(self.values.split(self.lengths))
        self.gradient_views = list(self.gradients.split(self.lengths))
        self.is_shared = all(
            p.dtype == torch.float32 and p.device.type == "cpu" for p in self.parameters
        )
        self.pull()
        if self.is_shared:
            for parameter, view in zip(self.parameters, self.views):
                parameter.data = view.view(parameter.shape)

    def pull(self) -> None:
        """Parameters to the flat array."""
        with torch.no_grad():
            for parameter, view in zip(self.parameters, self.views):
                if parameter.data.data_ptr() != view.data_ptr():
                    view.copy_(parameter.data.reshape(-1))

    def push(self) -> None:
        """The flat array to the parameters."""
        with torch.no_grad():
            for parameter, view in zip(self.parameters, self.views):
                if parameter.data.data_ptr() != view.data_ptr():
                    parameter.data.copy_(view.view(parameter.shape), non_blocking=True)

    def attach_gradients(self) -> None:
        """From now on, `backward` writes into the flat gradients."""
        if self.is_shared:
            for parameter, view in zip(self.parameters, self.gradient_views):
                parameter.grad = view.view(parameter.shape)

    def gather_gradients(self) -> None:
        """The gradients to the flat array; those that are there already are not copied."""
        with torch.no_grad():
            for parameter, view in zip(self.parameters, self.gradient_views):
                gradient = parameter.grad
                if gradient is None:
                    view.zero_()
                elif gradient.is_sparse:
                    raise ValueError("sparse gradients are not supported: use sparse=False")
                elif gradient.data_ptr() != view.data_ptr():
                    view.copy_(gradient.reshape(-1))
        if any(p.is_cuda for p in self.parameters):
            torch.cuda.synchronize()
