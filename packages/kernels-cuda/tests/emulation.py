"""Runs `Launches` on a CPU: by the interpreter, which is the meaning, or in all emulations."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from byparts_gpu_ir import emulation
from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.emulation import emulated_caller
from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Op, TensorType
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.statement import Buffer, Func

Array = Any
Way = dict[Func, Callable[[Sequence[Array]], None]]  # how each kernel runs
compiled = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


def assert_emulated(
    op: Op,
    launches: Launches,
    inputs: Sequence[Array],
    digits: int = 4,
    modes: Sequence[str] = ("checked",),
) -> None:
    """Emulations give what `evaluate` gives, up to so many digits, and the same bits.

    The checked one finds no race, no access outside of a buffer, and none that is misaligned.
    """
    found = [_results(launches, way, inputs) for way in _emulations(launches.kernels, modes)]
    _assert_near(op, found[0], inputs, digits)
    for other in found[1:]:
        for x, y in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(x, y)


def assert_computes(op: Op, launches: Launches, inputs: Sequence[Array], digits: int = 4) -> None:
    """The interpreter gives what `evaluate` gives, up to so many digits."""

    def way(kernel: Func) -> Callable[[Sequence[Array]], None]:
        return lambda arrays: interpret(kernel, *arrays)

    ways = {kernel: way(kernel) for kernel in launches.kernels}
    _assert_near(op, _results(launches, ways, inputs), inputs, digits)


def samples(types: Sequence[TensorType], seed: int = 0) -> list[Array]:
    """Arrays of these types: floats between -1 and 1, integers of a few digits."""
    draw = np.random.default_rng(seed)
    return [
        draw.uniform(-1, 1, t.dims).astype(numpy_dtype(t.dtype))
        if t.dtype[0] in "fb"
        else draw.integers(0, 100, t.dims).astype(numpy_dtype(t.dtype))
        for t in types
    ]


def _emulations(kernels: Sequence[Func], modes: Sequence[str]) -> list[Way]:
    """Of each mode, all kernels; one run of the compiler."""
    sources = {}
    for kernel in kernels:
        for mode in modes:
            source = emulate(kernel, mode)
            name = hashlib.sha256(source.body.encode()).hexdigest()[:16]
            sources[kernel, mode] = source.renamed(f"emulated_{name}")
    addresses = emulation.compiled(list(sources.values()))

    def caller(kernel: Func, mode: str) -> Callable[[Sequence[Array]], None]:
        source = sources[kernel, mode]
        call = emulated_caller(source, addresses[source.name])
        return lambda arrays: call([a.ctypes.data for a in arrays])

    return [{k: caller(k, mode) for k in kernels} for mode in modes]


def _results(launches: Launches, ways: Way, inputs: Sequence[Array]) -> list[Array]:
    """What the outputs hold afterwards; each pair of `inplace` is one array."""
    memory = {b: _array(b) for b in (*launches.parameters, *launches.workspace)}
    for b, x in zip(launches.parameters, inputs, strict=False):
        memory[b][...] = np.asarray(x).reshape(memory[b].shape)
    outputs = launches.parameters[len(inputs) :]
    for i, o in launches.inplace:
        memory[outputs[o]] = memory[launches.parameters[i]]
    for kernel in launches.kernels:
        ways[kernel]([memory[p] for p in kernel.params])
    return [memory[b] for b in outputs]


def _assert_near(op: Op, found: Sequence[Array], inputs: Sequence[Array], digits: int) -> None:
    for expected, y in zip(op.evaluate(*inputs), found, strict=True):
        limit = 0.0
        if expected.dtype.kind not in "iub":
            expected, y = expected.astype(np.float64), y.astype(np.float64)
            limit = 10.0**-digits * max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(y.reshape(expected.shape), expected, rtol=0, atol=limit)


def _array(b: Buffer) -> Array:
    shape = [int(d.attr) for d in b.shape]
    fill = np.nan if b.dtype in ("f32", "f64") else 101
    return np.full(shape, fill, NUMPY[b.dtype])
