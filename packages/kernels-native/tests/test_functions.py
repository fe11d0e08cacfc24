"""Gather, random draws and the like as generated code: errors, streams, and the interpreter."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, Op, TensorType
from byparts_kernels_native import make
from byparts_op_loops.function import function
from byparts_opset.dtypes import type_of
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as build_program
from byparts_tensor_ir.interpret import interpret

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


def _input(dtype: str, *dims: int) -> Input:
    return Input(TensorType(dtype, dims))


@needs_compiler
@pytest.mark.parametrize("wrong", [-1, 5, 1 << 40])
def test_an_index_out_of_range_is_an_error_and_nothing_after_it_runs(wrong: int) -> None:
    """As in `evaluate`; also amid other steps, and the next call is right again."""
    x, i = _input("f32", 5, 3), _input("i64", 4)
    y = ops.gather(ops.exp(x), i) * 2.0
    program = build_program(Graph.of([x, i], [y]), backends=("native",))
    a, at = np.ones((5, 3), np.float32), np.array([0, 1, 2, 4])

    with pytest.raises(GraphError, match=rf"index {wrong} at \[2\] is out of range for axis 0 of"):
        program(a, np.array([0, 1, wrong, 4]))
    np.testing.assert_allclose(program(a, at)[0], np.exp(a[at]) * 2, rtol=1e-6)


@needs_compiler
def test_scatter_in_place_changes_the_rows_alone() -> None:
    """Over its input it copies nothing, and an index out of range leaves the input as it was."""
    backend = make()
    types = TensorType("f32", (4, 2)), TensorType("i32", (2,)), TensorType("f32", (2, 2))
    x, rows = np.arange(8, dtype=np.float32).reshape(4, 2), np.full((2, 2), -1, np.float32)
    at = np.array([3, 1], np.int32)
    pointers = [a.ctypes.data for a in (x, at, rows)]
    run = backend.compile(ops.Scatter(0), types).bind(pointers, pointers[:1], None, None)

    run()
    assert x.tolist() == [[0, 1], [-1, -1], [4, 5], [-1, -1]]
    at[0], rows[:] = 4, 7
    with pytest.raises(GraphError, match=r"scatter: index 4 at .0. is out of range"):
        run()
    assert x.tolist() == [[0, 1], [-1, -1], [4, 5], [-1, -1]]


@needs_compiler
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("counter", [0, 7, 2**64 - 3, 2**32 - 2])
def test_a_uniform_is_the_stream_of_opset_to_the_bit(dtype: str, counter: int) -> None:
    """Also where the counter wraps, and where the last block is not used up."""
    y = ops.random_uniform(-(2**40) + 3, counter, (4, 101), dtype=dtype)
    (expected,) = ops.RandomUniform((4, 101), dtype).evaluate(
        np.int64(-(2**40) + 3), np.array(counter, np.uint64).view(np.int64)
    )
    (result,) = build_program(Graph.of([], [y]), backends=("native",))()

    assert result.tobytes() == expected.tobytes()


_INDICES = np.array([2, 0, 2], np.int32)
_X = np.array([[1, np.nan, -1, 7], [0.5, 3, 3, -2], [-0.0, 0, np.inf, 1]], np.float32)


@pytest.mark.parametrize(
    ("op", "arrays"),
    [
        (ops.Gather(1), (_X, _INDICES)),
        (ops.Scatter(0), (_X, _INDICES, _X + 1)),
        (ops.ScatterAdd(0), (_INDICES, _X, _X)),
        (ops.OneHot(3), (_INDICES,)),
        (ops.InRange(4, "gather", 0), (_INDICES,)),
        (ops.ArgMax(0), (_X,)),
        (ops.ArgMin(1), (_X,)),
        (ops.TopK(3), (_X,)),
        (ops.CumSum(1, True, True), (_X,)),
        (ops.ProdOfOthers(0), (_X,)),
        (ops.RandomUniform((7,)), (np.array(3), np.array(9))),
    ],
)
def test_the_interpreter_says_what_evaluate_says(op: Op, arrays: tuple[Any, ...]) -> None:
    """It checks every index of every load and store; `error` stays 0."""
    func = function[op](op, [type_of(a) for a in arrays]).func
    expected = op.evaluate(*arrays)
    results = [np.empty(e.shape, e.dtype) for e in expected]
    error = [np.ones(3, np.int64)] * (func.params[-1].name == "error")
    given = [*arrays, *results, *error]
    shaped = [
        a.reshape([int(d.attr) for d in p.shape]) for a, p in zip(given, func.params, strict=True)
    ]

    interpret(func, *shaped)
    for result, e in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, e)
    assert not any(e[0] for e in error)


@needs_compiler
@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_rows_of_halves_are_added_in_f32(half: str) -> None:
    """1 and five halves of its last digit: none of them would be there, rounded at each step."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind, digit = (np.float16, 2**-11) if half == "f16" else (ml_dtypes.bfloat16, 2**-8)
    indices, rows, like = _input("i32", 6), _input(half, 6), _input(half, 3)
    graph = Graph.of([indices, rows, like], [ops.ScatterAdd(0)(indices, rows, like)])
    given = np.array([1] + [digit] * 5, kind)

    (y,) = build_program(graph, backends=("native",))(np.full(6, 2, "i4"), given, given[:3])
    assert y.astype(float).tolist() == [0, 0, float(kind(1 + 5 * digit))]


@needs_compiler
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8"])
def test_division_and_powers_of_integers_are_those_of_evaluate(dtype: str) -> None:
    """By 0, of the least number, to negative powers, past 2^bits; x // x of one value, too."""
    kind = {"u8": np.uint8}.get(dtype) or np.dtype(f"int{dtype[1:]}").type
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    edges = np.array([0, 1, 2, 3, 7, 10, 63, 64, most, most - 1, least, least + 1], kind)
    signed = np.concatenate([edges, -edges[:8]]) if dtype != "u8" else edges
    a, b = (m.reshape(-1) for m in np.meshgrid(signed, signed))
    x, y = _input(dtype, a.size), _input(dtype, a.size)
    graph = Graph.of([x, y], [x // y, x % y, ops.pow(x, y), x // x])

    results = build_program(graph, backends=("native",))(a, b)
    for result, expected in zip(results, evaluate(graph, a, b), strict=True):
        np.testing.assert_array_equal(result, expected)


@needs_compiler
def test_erfinv_keeps_its_digits_near_one() -> None:
    """In f64 within 1e-13 of its inverse, up to the last number below 1."""
    x = 1 - 2.0 ** -np.arange(1, 54)
    y = Input(TensorType("f64", x.shape))
    graph = Graph.of([y], [ops.erfinv(y), ops.erfc(ops.erfinv(y))])

    root, rest = build_program(graph, backends=("native",))(x)
    np.testing.assert_allclose(root, evaluate(graph, x)[0], rtol=1e-13)
    np.testing.assert_allclose(rest, 1 - x, rtol=2e-14)


@needs_compiler
def test_a_print_stands_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    """It is a step of Python between two of C."""
    x = _input("f32", 2)
    y = ops.print_value(ops.exp(x), "then") + 1.0
    (result,) = build_program(Graph.of([x], [y]), backends=("native",))(np.zeros(2, np.float32))

    assert capfd.readouterr().out == "then [1. 1.]\n"
    assert result.tolist() == [2, 2]


@needs_compiler
@pytest.mark.parametrize("n", [513, 768, 1000])
def test_the_first_extreme_of_a_long_row_is_found_wherever_it_stands(n: int) -> None:
    """In a whole block, in the part of the last one that an earlier one has, as NaN, twice."""
    places = [0, 255, 256, n - 257, n - 256, n - 1]
    rows = np.zeros((3 * len(places), n), np.float32)
    for r, at in enumerate(places):
        rows[r, at] = rows[r, -1] = 7
        rows[len(places) + r, [at, -1]] = np.nan
        rows[2 * len(places) + r, at:] = -np.inf
    x = _input("f32", *rows.shape)
    graph = Graph.of([x], [ops.argmax(x, 1), ops.argmin(x, -1), ops.argmax(x)])

    for result, e in zip(
        build_program(graph, backends=("native",))(rows), evaluate(graph, rows), strict=True
    ):
        np.testing.assert_array_equal(result, e)


@needs_compiler
@pytest.mark.parametrize("dtype", ["i8", "i16", "u8"])
def test_small_integers_are_reduced_modulo_their_size(dtype: str) -> None:
    """Over rows, which are vectors, and over columns."""
    kind = np.dtype({"i8": "int8", "i16": "int16", "u8": "uint8"}[dtype])
    a = np.random.default_rng(0).integers(0, 1 << 16, (37, 67)).astype(kind)
    x = _input(dtype, *a.shape)
    ys = [f(x, axis) for f in (ops.sum, ops.prod, ops.max, ops.min) for axis in (0, 1, None)]
    graph = Graph.of([x], ys)

    results = build_program(graph, backends=("native",))(a)
    for result, expected in zip(results, evaluate(graph, a), strict=True):
        np.testing.assert_array_equal(result, expected)


@needs_compiler
def test_reductions_of_nothing_are_what_evaluate_says() -> None:
    """A sum is 0, a product 1, a mean NaN; what has no elements itself is not written."""
    x = _input("f32", 3, 0)
    graph = Graph.of([x], [ops.sum(x, 1), ops.prod(x), ops.mean(x, 1), ops.sum(x, 0), x + 1.0])
    a = np.zeros((3, 0), np.float32)

    results = build_program(graph, backends=("native",))(a)
    for result, expected in zip(results, evaluate(graph, a), strict=True):
        np.testing.assert_array_equal(result, expected)


@needs_compiler
@pytest.mark.parametrize("dtype", ["f32", "i64"])
def test_numbers_are_sorted_where_all_are_wanted(dtype: str) -> None:
    """The step is Python then, amid others, and both outputs are those of `evaluate`."""
    x = _input(dtype, 3, 2000)
    values, indices = ops.top_k(x + x, 2000)
    graph = Graph.of([x], [values + values, indices])
    kind = {"f32": np.float32, "i64": np.int64}[dtype]
    array = np.random.default_rng(0).integers(-99, 99, (3, 2000)).astype(kind)

    got = build_program(graph, backends=("native",))(array)

    for one, want in zip(got, evaluate(graph, array), strict=True):
        np.testing.assert_array_equal(one, want)
