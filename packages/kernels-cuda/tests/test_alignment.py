"""Slices at odd bytes, in programs that run emulated: the double refuses what a GPU would fault on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulation import compiled

import byparts_opset as ops
from byparts_gpu_ir.emit.cuda_matrices import FIRST_BYTES
from byparts_gpu_ir.wide import WIDEST_BYTES
from byparts_graph_ir import Backend, Graph, GraphError, Input, TensorType
from byparts_kernels_cuda import make
from byparts_kernels_cuda.driver.functions import ALIGNMENT
from byparts_kernels_cuda.memory import DeviceArray
from byparts_kernels_cuda.space import CudaSpace
from byparts_opset.dtypes import numpy_dtype

runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")
pytest.importorskip("byparts_memplan", reason="needs byparts-memplan: without, nothing is a view")

X = np.arange(1, 200, dtype=np.float32)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Backend:
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    return make()


def built(backend: Backend, graph: Graph, **options: Any) -> Any:
    """As written: a slice that is joined with its reader is no view."""
    return runtime.build(graph, backends=(backend,), passes=(), **options)


def vector(n: int = len(X), dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, (n,)), name="x")


def tail(x: Any, start: int) -> Any:
    return ops.Slice((start,), (None,))(x)


def test_arrays_are_aligned_as_emitted_code_needs_it() -> None:
    assert ALIGNMENT % FIRST_BYTES == ALIGNMENT % WIDEST_BYTES == 0
    assert CudaSpace.alignment == ALIGNMENT


@compiled
@pytest.mark.parametrize("start", [1, 3, 4, 8, 16, 33])
@pytest.mark.parametrize("joined", [False, True])
def test_a_slice_at_an_odd_byte_is_read(cuda: Backend, start: int, joined: bool) -> None:
    """A fetch of it, and what is computed from it; alone or joined with what reads it."""
    x = vector()
    part = tail(ops.relu(x), start)
    graph = Graph.of([x], [ops.exp(part * -1), part, tail(part, 5) + 1])
    wide = {} if joined else {"passes": ()}
    exp, same, more = runtime.build(graph, backends=(cuda,), **wide)(X)

    np.testing.assert_allclose(exp, np.exp(-X[start:]), rtol=1e-6)
    np.testing.assert_array_equal(same, X[start:])
    np.testing.assert_array_equal(more, X[start + 5 :] + 1)


@compiled
@pytest.mark.parametrize(
    ("dtype", "sizes"), [("f16", (3, 17, 12)), ("f32", (1, 8, 2)), ("f64", (3, 3, 4))]
)
def test_parts_at_odd_bytes_are_read(cuda: Backend, dtype: str, sizes: tuple[int, ...]) -> None:
    x = vector(sum(sizes), dtype)
    array = X[: sum(sizes)].astype(numpy_dtype(dtype))
    results = built(cuda, Graph.of([x], [p * p for p in ops.Split(sizes).outputs_of(x)]))(array)

    for y, part in zip(results, np.split(array, np.cumsum(sizes)[:-1]), strict=True):
        np.testing.assert_array_equal(y, part**2)


@compiled
def test_a_product_of_rows_at_an_odd_byte(cuda: Backend) -> None:
    """Halves, which the matrix units would load 32 bytes at a time."""
    x = Input(TensorType("f16", (33, 8)), name="x")
    rows = ops.Slice((1,), (None,))(x)
    a = (np.arange(33 * 8).reshape(33, 8) % 5).astype(np.float16)
    (y,) = built(cuda, Graph.of([x], [ops.matmul(rows, rows, transpose_b=True)]))(a)

    np.testing.assert_array_equal(y, (a[1:] @ a[1:].T).astype(np.float16))


@compiled
@pytest.mark.parametrize("alignment", [1, 4, 48])
def test_workspaces_and_values_are_aligned_whatever_the_caller_asks(
    cuda: Backend, alignment: int
) -> None:
    """A sum over so much that it is made in parts, which stand in a workspace."""
    x, flag = Input(TensorType("f32", (70_001,)), name="x"), Input(TensorType("bool", (3,)))
    graph = Graph.of([flag, x], [ops.logical_not(flag), ops.sum(ops.relu(x)), ops.relu(x)])
    program = built(cuda, graph, alignment=alignment)
    a = np.arange(70_001, dtype=np.float32) % 7
    flipped, total, same = program(np.array([True, False, True]), a)

    assert flipped.tolist() == [False, True, False] and float(total) == a.sum()
    np.testing.assert_array_equal(same, a)


@compiled
def test_a_feed_at_an_odd_byte_is_copied_and_not_bound(cuda: Backend) -> None:
    """A call copies it to its place; a program that is bound to arrays reads them where they are."""
    memory = cuda.space.allocate(4 * len(X))
    cuda.space.write(memory, 0, X.tobytes())
    x = vector(len(X) - 1)
    program = built(cuda, Graph.of([x], [ops.relu(x)]))
    odd = DeviceArray(memory, memory.address + 4, x.type)

    np.testing.assert_array_equal(program(odd)[0], X[1:])
    with pytest.raises(
        GraphError, match=r"f32\[198\] begins 4 bytes after a multiple of 32.*clone"
    ):
        program.bind(odd)
