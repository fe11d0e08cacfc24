"""Uniform and Bernoulli draws, the same bits as everywhere; normal ones are made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number
from byparts_kernels_torch.philox import drawing
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_opset.random import BITS, Bernoulli, RandomUniform


@kernels.on(RandomUniform, workspace=True)
def random_uniform(
    op: RandomUniform, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (y,) = outputs
    flat, bits = y.view(-1), BITS[op.dtype]
    scale = number(2.0**-bits, y)
    each = 2 if op.dtype == "f64" else 1

    def start(lower: int, upper: int, words: Tensor) -> list[Run]:
        part = flat[lower // each : upper // each]
        front = words[: upper - lower]
        if each == 2:
            made, front = _joined(words, bits), front[::2]
        else:
            made = [_shift(torch.bitwise_right_shift, words, 32 - bits)]
        return [*made, partial(part.copy_, front), partial(torch.mul, part, scale, out=part)]

    return drawing(inputs[:2], each * flat.numel(), start, workspace)


@kernels.on(Bernoulli, workspace=True)
def bernoulli(op: Bernoulli, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """u < p where the word is below the least number that has the top bits of p or more."""
    flat = outputs[0].view(-1)
    bound = ceil(float(np.float32(op.p)) * 2**24) << 8
    limit = torch.tensor(bound, dtype=torch.int64, device=flat.device)

    def start(lower: int, upper: int, words: Tensor) -> list[Run]:
        return [partial(torch.lt, words[: upper - lower], limit, out=flat[lower:upper])]

    return drawing(inputs[:2], flat.numel(), start, workspace)


def _joined(words: Tensor, bits: int) -> list[Run]:
    """The top bits of the 64-bit numbers words[2i] + 2^32 words[2i + 1], where words[2i] stood."""
    low, high = words[::2], words[1::2]
    return [
        _shift(torch.bitwise_right_shift, low, 64 - bits),
        _shift(torch.bitwise_left_shift, high, bits - 32),
        partial(torch.bitwise_or, low, high, out=low),
    ]


def _shift(f: Callable[..., Any], x: Tensor, by: int) -> Run:
    return partial(f, x, number(by, x), out=x)
