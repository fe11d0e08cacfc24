"""Runs `Launches` by the interpreter of tensor-ir: slow, and the meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byparts_graph_ir import Op, TensorType
from byparts_kernels_cuda.launches import Launches
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.statement import Buffer

Array = Any


def results(launches: Launches, *inputs: Array) -> list[Array]:
    """What the outputs hold afterwards, in the shapes of the buffers.

    Each pair of `inplace` is one array.
    """
    memory = {b: _array(b) for b in (*launches.parameters, *launches.workspace)}
    for b, x in zip(launches.parameters, inputs, strict=False):
        memory[b] = np.array(x, order="C").reshape(memory[b].shape)
    outputs = launches.parameters[len(inputs) :]
    for i, o in launches.inplace:
        memory[outputs[o]] = memory[launches.parameters[i]]
    for kernel in launches.kernels:
        assert {*kernel.params} <= {*launches.parameters, *launches.workspace}
        interpret(kernel, *[memory[p] for p in kernel.params])
    return [memory[b] for b in outputs]


def samples(types: Sequence[TensorType], seed: int = 0) -> list[Array]:
    """Arrays of these types: floats between -1 and 1, integers of a few digits."""
    draw = np.random.default_rng(seed)
    return [
        draw.uniform(-1, 1, t.dims).astype(numpy_dtype(t.dtype))
        if t.dtype[0] in "fb"
        else draw.integers(0, 100, t.dims).astype(numpy_dtype(t.dtype))
        for t in types
    ]


def assert_computes(op: Op, launches: Launches, inputs: Sequence[Array], digits: int = 4) -> None:
    """The launches give what `evaluate` gives, up to so many digits."""
    expected = op.evaluate(*inputs)
    found = results(launches, *inputs)
    for x, y in zip(expected, found, strict=True):
        scale = max(1.0, float(np.abs(x).max(initial=0.0))) if x.dtype.kind == "f" else 0.0
        limit = 10.0**-digits * scale
        np.testing.assert_allclose(y.reshape(x.shape), x, rtol=0, atol=limit)


def _array(b: Buffer) -> Array:
    shape = [int(d.attr) for d in b.shape]
    fill = np.nan if b.dtype in ("f32", "f64") else 101
    return np.full(shape, fill, NUMPY[b.dtype])
