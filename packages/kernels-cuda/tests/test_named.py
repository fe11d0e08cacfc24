"""Kernels for all sizes of named dimensions, in the emulator, against `evaluate` at each size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cuda_on_cpu import on_cpu
from emulation import compiled
from nvcc import needs_nvcc, ptxas_report

import byparts_opset as ops
from byparts_gpu_ir import build, emit_cuda, mapped
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    Input,
    Kernel,
    Refused,
    TensorType,
    Value,
    with_sizes,
)
from byparts_kernels_cuda import code, named
from byparts_kernels_cuda.backend import make
from byparts_kernels_cuda.products import named as products
from byparts_op_loops.extents import number_of
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_tensor_ir.expression import const
from byparts_tensor_ir.nest import nest_of
from byparts_tensor_ir.statement import Buffer, Func
from byparts_tensor_ir.substitute import buffers_replaced, in_statements, substituted

SIZES = (0, 1, 2, 7, 300)


def given(*shape: int | str, dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, shape))


def softmax(x: Value) -> Value:
    e = ops.exp(x - ops.max(x, -1, keepdims=True))
    return e / ops.sum(e, -1, keepdims=True)


def elementwise() -> Graph:
    x, b = given("n", 6), given(6)
    return Graph.of([x, b], [ops.exp(x * b), ops.relu(x) + 1.0])


def flat() -> Graph:
    """One axis of the name alone, and integers."""
    x = given("n", dtype="i32")
    return Graph.of([x], [ops.abs(x) * 3 - x])


def turned() -> Graph:
    x, y = given("n", 4), given("m", 4)
    return Graph.of([x, y], [ops.transpose(x, (1, 0)) * 2.0, ops.concat([x, y, x], 0)])


def rows() -> Graph:
    x = given("n", 100)
    return Graph.of([x], [softmax(x)])


def columns() -> Graph:
    x = given("n", 5)
    return Graph.of([x], [ops.sum(x * x, 0), ops.sum(x)])


def shared_sums() -> Graph:
    """Two sums to which blocks add, by one thread each."""
    x = given("n", 5, 6, 8)
    y = ops.relu(x)
    return Graph.of([x], [y, ops.sum(y), ops.sum(y, (0, 2, 3))])


def named_rows() -> Graph:
    """The exponentials of a row stand in the workspace, whose bytes depend on the size."""
    x = given(3, "m")
    return Graph.of([x], [ops.tanh(x) * ops.sum(ops.tanh(x), -1, keepdims=True)])


GRAPHS = (elementwise, flat, turned, rows, columns, shared_sums, named_rows)


@pytest.fixture(params=["emulated", "reversed"])
def backend(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Backend:
    """The backend on a GPU of the double."""
    monkeypatch.setenv("BYPARTS_CUDA", request.param)
    return make()


@compiled
@pytest.mark.parametrize("program", GRAPHS, ids=lambda make: make.__name__)
def test_one_compilation_serves_all_sizes(program: Any, backend: Backend) -> None:
    """Nothing is compiled after the first size, and in place is right where it is offered."""
    graph = program()
    family = backend.family(Fused(graph), [v.type for v in graph.inputs])
    assert family.shared
    images = None
    for n in (*SIZES[::-1], 513):
        sized = with_sizes(graph, {"n": n, "m": n // 2})
        kernel = family.at(Fused(sized), [v.type for v in sized.inputs])
        for pair in (None, *kernel.inplace):
            _check(backend, sized, kernel, pair)
        images = len(code._images) if images is None else images
        assert len(code._images) == images


PRODUCTS = (
    (("n",), (4, 2), "f32", False),
    (("n",), (37, 65), "f32", False),
    ((2, "n"), (70, 64), "f32", True),
    (("n", "m"), (9, 5), "i32", True),
)


@compiled
@pytest.mark.parametrize(("lead", "shape", "dtype", "turned"), PRODUCTS)
def test_one_compilation_serves_products_of_any_rows(
    lead: tuple[int | str, ...],
    shape: tuple[int, int],
    dtype: str,
    turned: bool,
    backend: Backend,
) -> None:
    x = given(*lead, shape[turned], dtype=dtype)
    w = given(*shape, dtype=dtype)
    graph = Graph.of([x, w], [ops.matmul(x, w, transpose_b=turned)])
    op = graph.nodes[0].op
    family = backend.family(op, [x.type, w.type])
    assert family.shared
    for n in SIZES:
        sized = with_sizes(graph, {"n": n, "m": n // 2})
        _check(backend, sized, family.at(op, [v.type for v in sized.inputs]), None)


@compiled
@pytest.mark.parametrize("n", [1, 130])
def test_threads_do_not_race_in_products_of_any_rows(n: int) -> None:
    x, w = given("n", 37), given(37, 65)
    graph = Graph.of([x, w], [ops.matmul(x, w)])
    (kernel,) = products.named_launches(ops.MatMul(), [x.type, w.type]).kernels
    sized = with_sizes(graph, {"n": n})
    arrays = _arrays(sized)
    y = np.full((n, 65), 7, np.float32)
    build(_at(kernel, dict.fromkeys(kernel.sizes, n)), "checked")(*arrays, y)
    np.testing.assert_allclose(y, arrays[0] @ arrays[1], rtol=3e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "op"),
    [
        (given("n", 4), given("n", 4), ops.MatMul(transpose_a=True)),
        (given("n", 4), given("n", 4), ops.MatMul(transpose_b=True)),
        (given(2, "n", 4), given(2, 4, 4), ops.MatMul()),
        (given("n", 4, dtype="f16"), given(4, 4, dtype="f16"), ops.MatMul()),
        (given("n", 0), given(0, 4), ops.MatMul()),
    ],
)
def test_products_of_one_size_alone(a: Input, b: Input, op: ops.MatMul) -> None:
    with pytest.raises(Refused, match="has code for one size alone"):
        products.named_launches(op, [a.type, b.type])


@compiled
@pytest.mark.parametrize("program", GRAPHS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n", [1, 37])
def test_threads_do_not_race_at_a_size(program: Any, n: int) -> None:
    """The kernels for all sizes, with numbers in the place of sizes, in the checked emulation."""
    graph = program()
    loops = RegionLoops(graph)
    launches = named._mapped(loops.func, loops.inplace)
    sizes = dict(zip(launches.kernels[0].sizes, [n] * 2, strict=False))
    sized = with_sizes(graph, {"n": n, "m": n})
    arrays = _arrays(sized)
    results = [np.full(v.type.dims, 7, a.dtype) for v, a in _expected(sized, arrays)]
    memory = dict(zip(launches.parameters, [*arrays, *results], strict=True))
    for b in launches.workspace:
        memory[b] = np.empty([int(_sized(e, sizes).attr) for e in b.shape], np.float32)
    for kernel in launches.kernels:
        places = [memory[b] for b in kernel.params]
        static = _at(kernel, sizes)
        shaped = [
            a.reshape([int(e.attr) for e in b.shape])
            for a, b in zip(places, static.params, strict=True)
        ]
        build(static, "checked")(*shaped)
    for got, (_, wanted) in zip(results, _expected(sized, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=3e-5, atol=3e-5)


def test_a_checked_double_has_code_for_one_size_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checks are of numbers; so a program is compiled for each size, and says so."""
    monkeypatch.setenv("BYPARTS_CUDA", "checked")
    graph = elementwise()
    assert not make().family(Fused(graph), [v.type for v in graph.inputs]).shared


def test_text_for_a_gpu_takes_sizes_behind_the_pointers() -> None:
    loops = RegionLoops(elementwise())
    (kernel,) = mapped(loops.func, loops.inplace).kernels
    source = emit_cuda(kernel)
    assert source.grid[0].startswith("(size_n")  # type: ignore[union-attr]
    assert source.parameters[-1] == "size_n"
    assert "const long long size_n) {" in source.body
    assert "const long long b = blockIdx.x;" in source.body


@compiled
@pytest.mark.parametrize("n", [1, 37, 600])
@pytest.mark.parametrize("program", [elementwise, flat, turned], ids=lambda make: make.__name__)
def test_text_for_a_gpu_gives_the_same_on_a_cpu(program: Any, n: int) -> None:
    graph = program()
    loops = RegionLoops(graph)
    sized = with_sizes(graph, {"n": n, "m": n})
    arrays = _arrays(sized)
    results = [np.full(v.type.dims, 7, a.dtype) for v, a in _expected(sized, arrays)]
    launches = mapped(loops.func, loops.inplace)
    memory = dict(zip(launches.parameters, [*arrays, *results], strict=True))
    for kernel in launches.kernels:
        sizes = {str(size): n for size in kernel.sizes}
        x, y, z = (number_of(str(extent), sizes) for extent in nest_of(kernel).grid)
        on_cpu(kernel, (x, y, z))(*[memory[b] for b in kernel.params], *sizes.values())
    for got, (_, wanted) in zip(results, _expected(sized, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=3e-5, atol=3e-5)


@needs_nvcc
def test_text_for_a_gpu_compiles() -> None:
    """Without a warning, and with no memory for what does not fit registers."""
    sources = []
    for number, program in enumerate(GRAPHS):
        loops = RegionLoops(program())
        launches = named._mapped(replace(loops.func, name=f"f{number}"), loops.inplace)
        sources += [emit_cuda(kernel) for kernel in launches.kernels]
    reports = ptxas_report(sources, "sm_90")
    assert len(reports) == len(sources)
    assert not any(report.spill_bytes for report in reports)


@compiled
def test_a_long_sum_is_as_exact_as_one_of_a_known_length(backend: Backend) -> None:
    """Ones after the 16,777,216th would be lost if they were added in turn."""
    x = given("n", 1)
    graph = Graph.of([x], [ops.sum(x, 0), ops.sum(x)])
    family = backend.family(Fused(graph), [x.type])
    sized = with_sizes(graph, {"n": 17_000_000})
    kernel = family.at(Fused(sized), [sized.inputs[0].type])
    (total, whole) = _run(backend, sized, kernel, [np.ones((17_000_000, 1), np.float32)], None)
    assert total == whole == 17_000_000


def _check(backend: Backend, graph: Graph, kernel: Kernel, pair: Any) -> None:
    arrays = _arrays(graph)
    results = _run(backend, graph, kernel, arrays, pair)
    for got, (_, wanted) in zip(results, _expected(graph, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=3e-5, atol=3e-5, err_msg=f"{pair}\n{graph}")


def _expected(graph: Graph, arrays: list[Any]) -> list[tuple[Value, Any]]:
    return list(zip(graph.outputs, evaluate(graph, *arrays), strict=True))


def _arrays(graph: Graph) -> list[Any]:
    random = np.random.default_rng(0)
    kinds = {"f32": np.float32, "i32": np.int32}
    return [random.uniform(-3, 3, v.type.dims).astype(kinds[v.type.dtype]) for v in graph.inputs]


def _run(backend: Backend, graph: Graph, kernel: Kernel, arrays: list[Any], pair: Any) -> list[Any]:
    """Bind a kernel to memory of the double, and run it."""
    space = backend.space
    places = []
    for v in (*graph.inputs, *graph.outputs):
        memory = space.allocate(max(1, v.type.size_bytes))
        places.append((memory, backend.view(memory, 0, v.type)))
    for (memory, _), a in zip(places, arrays, strict=False):
        if a.nbytes:
            space.write(memory, 0, a.reshape(-1).view(np.uint8).data)
    inputs, outputs = places[: len(arrays)], places[len(arrays) :]
    if pair is not None:
        i, o = pair
        outputs[o] = inputs[i][0], backend.view(inputs[i][0], 0, graph.outputs[o].type)
    scratch = None
    if kernel.workspace_bytes:
        scratch = backend.view(
            space.allocate(kernel.workspace_bytes), 0, TensorType("u8", (kernel.workspace_bytes,))
        )
    assert kernel.bind is not None and backend.around is not None
    with backend.around():
        kernel.bind([x for _, x in inputs], [y for _, y in outputs], scratch, None)()
        space.synchronize()
    kinds = {"f32": np.float32, "i32": np.int32}
    return [
        np.frombuffer(space.read(m, 0, v.type.size_bytes), kinds[v.type.dtype]).reshape(v.type.dims)
        for v, (m, _) in zip(graph.outputs, outputs, strict=True)
    ]


def _sized(e: Any, sizes: dict[Any, int]) -> Any:
    return substituted(e, {size: const(n) for size, n in sizes.items()})


def _at(func: Func, sizes: dict[Any, int]) -> Func:
    """The function with numbers in the place of sizes."""
    by = {
        b: replace(b, shape=tuple([_sized(e, sizes) for e in b.shape]))
        for b in (*func.params, *func.locals)
    }
    body = in_statements(func.body, {size: const(n) for size, n in sizes.items()})
    body = buffers_replaced(body, by)

    def new(buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        return tuple([by[b] for b in buffers])

    return Func(func.name, new(func.params), new(func.outputs), (), body, new(func.locals))
