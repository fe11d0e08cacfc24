"""Uniform and Bernoulli draws, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.philox import Fill, in_chunks
from byparts_kernels_numpy.plain import plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared
from byparts_opset.dtypes import Array
from byparts_opset.random import BITS, Bernoulli, RandomUniform


@kernels.on(RandomUniform, workspace=True)
@plain
def random_uniform(
    op: RandomUniform, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (y,) = outputs
    return drawing(uniform(y.reshape(-1), BITS[op.dtype], Shared(workspace)), inputs)


@kernels.on(Bernoulli, workspace=True)
@plain
def bernoulli(
    op: Bernoulli, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (y,) = outputs
    flat = y.reshape(-1)
    bound = ceil(float(np.float32(op.p)) * 2**24)  # u < p where word >> 8 < bound
    if bound == 1 << 24:
        return lambda: y.fill(True)
    limit = np.uint32(bound << 8)

    def start(part: slice, words: Array) -> Run:
        return lambda: np.less(words, limit, flat[part])

    return drawing(filled_from_words(1, flat.size, start, Shared(workspace)), inputs)


def drawing(fill: Fill, inputs: Sequence[Array]) -> Run:
    """A run that draws with the key and the counter that `inputs` have when it starts."""
    key, counter = inputs[:2]
    return lambda: fill(int(key), int(counter))


def filled_from_words(
    words_each: int, count: int, start: Callable[[slice, Array], Run], shared: Shared
) -> Fill:
    """The run that fills `count` elements, a part at a time, from random words.

    Args:
        words_each: u32 words for each element, 1 or 2.
        count: of elements.
        start: (slice of the elements, u32 words for them) -> the run that computes them.
        shared: memory of the step.
    """
    parts = [
        (block, fill, start(part, words))
        for part, block, words, fill in in_chunks(words_each, count, shared)
    ]

    def run(key: int, counter: int) -> None:
        for block, fill, make in parts:
            fill(key, counter + block)
            make()

    return run


def uniform(out: Array, bits: int, shared: Shared) -> Fill:
    """The run that fills `out`, f32 or f64 [n], with multiples of 2^-bits drawn from [0, 1)."""
    scale = out.dtype.type(2.0**-bits)
    double = out.dtype == np.float64
    number, signed, spare = (np.uint64, np.int64, 64) if double else (np.uint32, np.int32, 32)

    def start(part: slice, words: Array) -> Run:
        whole, y = words.view(number), out[part]

        def make() -> None:
            np.right_shift(whole, number(spare - bits), whole)
            np.copyto(y, whole.view(signed), casting="unsafe")  # faster than from unsigned
            np.multiply(y, scale, y)

        return make

    return filled_from_words(2 if double else 1, out.size, start, shared)
