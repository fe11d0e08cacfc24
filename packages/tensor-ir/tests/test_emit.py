"""Compiled code on functions written by hand: what no tensor expression makes."""

from __future__ import annotations

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from emitters import c_emitter, each_emitter
from together import Together

from byparts_tensor_ir import compile
from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.build import build
from byparts_tensor_ir.compile import CompilerError, default_emitter
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.expression import Expr, as_expr, const, variable
from byparts_tensor_ir.functions import cast, select
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import Barrier, Buffer, For, Func, Store
from byparts_tensor_ir.substitute import loads
from byparts_tensor_ir.tensor import compute, placeholder, var


@each_emitter
def test_what_a_loop_stores_is_read_again_in_each_round(emitter: str) -> None:
    """B[0] is read before the loop, and in it before it is stored."""
    a, b, c = Buffer("A", (const(3),)), Buffer("B", (const(1),)), Buffer("C", (const(4),))
    i, zero = variable("i", 3), const(0)
    again = (Store("C", (c,), (i + 1,), (b[0],)), Store("B", (b,), (zero,), (a[i],)))
    func = Func("f", (a, b, c), (b, c), (), (Store("C", (c,), (zero,), (b[0],)), For(i, again)))
    results = []
    for run in (interpret, lambda f, *arrays: build(f, emitter=emitter)(*arrays)):
        x, y, z = [np.array(v, np.float32) for v in ([1, 2, 3], [7], [0] * 4)]
        run(func, x, y, z)
        results.append((*y, *z))
    assert results == [(3, 7, 7, 1, 2)] * 2


def test_without_compiler_and_llvmlite_the_error_names_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    module = sys.modules["byparts_tensor_ir.compile"]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(CompilerError, match=r"CXX; or `pip install byparts-tensor-ir\[llvm\]`"):
        default_emitter()
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    assert default_emitter() == "llvm"
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    with pytest.raises(CompilerError, match="none of no-such-compiler is on the path"):
        default_emitter()
    monkeypatch.setenv("BYPARTS_EMITTER", "ptx")
    with pytest.raises(CompilerError, match="BYPARTS_EMITTER=ptx: one of c, llvm"):
        default_emitter()


def test_an_unknown_emitter_is_an_error() -> None:
    func = Func("f", (), (), (), ())
    with pytest.raises(CompilerError, match="no emitter 'cuda'; one of c, llvm"):
        build(func, emitter="cuda")


@each_emitter
def test_many_functions_are_compiled_at_once_by_many_threads(emitter: str) -> None:
    """Kernels that wait at once are one call of the compiler; programs may be built in parallel."""
    emit: Any = emit_c
    compiled: Any = compile.compiled
    if emitter == "llvm":
        emit = importlib.import_module("byparts_tensor_ir.emit.llvm").emit_llvm
        compiled = importlib.import_module("byparts_tensor_ir.jit").compiled
    a, b = Buffer("A", (const(3),)), Buffer("B", (const(3),))
    i = variable("i", 3)

    def add(k: int) -> Func:
        return Func(f"add{k}", (a, b), (b,), (), (For(i, (Store("B", (b,), (i,), (a[i] + k,)),)),))

    sources = [[emit(add(2 * k), 16), emit(add(2 * k + 1), 16)] for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        addresses = [found for pair in pool.map(compiled, sources) for found in pair.items()]
    x, y = np.zeros((2, 3), np.float32)
    for k, (name, address) in enumerate(addresses):
        compile.caller(address, 0)([x.ctypes.data, y.ctypes.data])
        assert name == f"byparts_add{k}" and y.tolist() == [k] * 3


def _elements(n: int) -> dict[str, tuple[Expr, Expr]]:
    """Of each way to reach memory: the index i of a loop, the value at i."""
    i, m = variable("i", n), n // 2 + 1
    x, y, at = placeholder((n,), "X"), placeholder((m,), "Y"), placeholder((n,), "P", "i32")
    wide, flags = placeholder((2 * n,), "W"), placeholder((2 * n,), "F", "bool")
    place = cast(at[i], "index")
    inside = (as_expr(0) <= place) & (place < m)
    return {
        "reversed": (i, x[n - 1 - i]),
        "each second": (i, wide[2 * i + 1]),
        "each second bool": (i, select(flags[2 * i] & (x[i] < 0.5), x[i], 0.0)),
        "joined": (i, select(i < n - m, x[i + m], y[i - (n - m)])),
        "with a hole": (i, select((i % 2).equal(0), y[i // 2], -1.0)),
        "where inside": (i, select(inside, y[place], x[0])),
        "one element": (i, select(x[i] < 0.5, y[m - 1] + y[as_expr(m) // 2], x[i])),
        "bool where inside": (i, cast(select(inside, y[place] < 0.0, x[i] < 0.0), "f32")),
        "in both": (i, select(inside & (y[place] < 0.0), y[place] * x[i], x[i])),
    }


def _twice(name: str, n: int) -> Func:
    """Each element, stored in order and at every second place from the end."""
    i, value = _elements(n)[name]
    buffers = sorted({load.attr for load in loads(value)}, key=lambda b: b.name)
    results = [Buffer("R", (const(n),)), Buffer("S", (const(2 * n),))]
    stores = [Store("R", (results[0],), (i,), (value,))]
    stores += [Store("S", (results[1],), (2 * n - 1 - 2 * i,), (value,))]
    loop = For(i, tuple(stores), "vectorize")
    return Func("f", (*buffers, *results), tuple(results), (), (loop,))


_ELEMENTS = Together(_twice, [(64, (name, 41)) for name in _elements(3)])


@each_emitter
@pytest.mark.parametrize("vector", [64, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", _elements(3))
def test_elements_are_read_where_they_are(name: str, vector: int, emitter: str) -> None:
    """Interpreted, an index outside is an error; compiled, no such element may be chosen."""
    n = 41
    func = _twice(name, n)
    random = np.random.default_rng(0)
    inputs = []
    for b in func.params[: -len(func.outputs)]:
        (extent,) = b.shape
        values = random.standard_normal(extent.attr)
        kinds = {"f32": values, "bool": values > 0, "i32": 9 * values}
        inputs.append(kinds[b.dtype].astype(NUMPY[b.dtype]))
    answers, got = [[np.zeros(n, np.float32), np.zeros(2 * n, np.float32)] for _ in range(2)]
    interpret(func, *inputs, *answers)
    _ELEMENTS.build(emitter, vector, name, n)(*inputs, *got)
    for answer, result in zip(answers, got, strict=True):
        np.testing.assert_array_equal(answer, result)


@each_emitter
def test_a_chain_may_be_longer_than_the_stack_of_python(emitter: str) -> None:
    a, b, n = Buffer("A", (const(5),)), Buffer("B", (const(5),)), 1200
    i = variable("i", 5)
    value = a[i]
    for _ in range(n):
        value = value + a[i]
    func = Func("f", (a, b), (b,), (), (For(i, (Store("B", (b,), (i,), (value,)),), "vectorize"),))
    x, y = np.ones((2, 5), np.float32)
    build(func, emitter=emitter)(x, y)
    np.testing.assert_array_equal(y, n + 1)


def _narrow(n: int) -> Func:
    a, b, i = Buffer("A", (const(n),), "i64"), Buffer("B", (const(n),), "i32"), variable("i", n)
    store = Store("B", (b,), (i,), (cast(a[i], "i32"),))
    return Func("f", (a, b), (b,), (), (For(i, (store,), "vectorize"),))


_RESTS = [(3, 16), (9, 64), (65, 16), (67, 64)]
_NARROW = Together(_narrow, [(vector, (n,)) for n, vector in _RESTS])


@each_emitter
@pytest.mark.parametrize(("n", "vector"), _RESTS)
def test_a_rest_writes_no_element_behind_its_buffer(n: int, vector: int, emitter: str) -> None:
    """One i64 that becomes an i32 under a mask: LLVM wrote 8 bytes."""
    memory = np.full(n + 16, 77, np.int32)
    _NARROW.build(emitter, vector, n)(np.arange(n), memory[:n])
    np.testing.assert_array_equal(memory, [*range(n), *[77] * 16])


def _padded(n: int, dtype: str) -> Func:
    """`x[i] if i < n else 0`."""
    x, y = Buffer("X", (const(n),), dtype), Buffer("Y", (const(n + 13),), dtype)
    i = variable("i", n + 13)
    store = Store("Y", (y,), (i,), (select(i < n, x[i], const(0, dtype)),))
    return Func("f", (x, y), (y,), (), (For(i, (store,), "vectorize"),))


_ENDS = [(1, 16), (10, 32), (21, 32), (19, 64)]
_DTYPES = ["f32", "f64", "i32", "i64", "u8"]
_PADDED = Together(_padded, [(vector, (n, dtype)) for n, vector in _ENDS for dtype in _DTYPES])


@each_emitter
@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize(("n", "vector"), _ENDS)
def test_beyond_the_end_there_are_zeros(n: int, vector: int, dtype: str, emitter: str) -> None:
    """`x[i] if i < n else 0` is vectors of which a part is loaded, and none outside is stored."""
    given: Any = np.arange(1, n + 9).astype(NUMPY[dtype])  # not zeros where nothing may be read
    memory: Any = np.full(n + 13 + 16, 77, NUMPY[dtype])

    run = _PADDED.build(emitter, vector, n, dtype)
    run(given[:n], memory[: n + 13])

    np.testing.assert_array_equal(memory, [*given[:n], *[0] * 13, *[77] * 16])
    assert emitter != "c" or "load_part_" in run.source.body


@each_emitter
def test_what_only_a_gpu_runs_is_refused(emitter: str) -> None:
    a, i = Buffer("A", (const(4),)), variable("i", 4)
    store = Store("A", (a,), (i,), (const(1.0, "f32"),))
    threads = Func("f", (a,), (a,), (), (For(i, (store,), "threadIdx.x"),))
    with pytest.raises(EmitError, match=r"loop i is bound to threadIdx\.x: only for GPUs"):
        build(threads, emitter=emitter)
    with pytest.raises(EmitError, match=r"barrier\(\) outside of GPU code"):
        build(threads.with_body([Barrier()]), emitter=emitter)
    local = replace(threads.with_body([]), locals=(Buffer("L", (variable("n"),), scope="local"),))
    with pytest.raises(EmitError, match=r"local buffer L: f32\[n\]: its size is not a number"):
        build(local, emitter=emitter)


def test_without_llvmlite_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("byparts_tensor_ir.jit", raising=False)
    monkeypatch.setitem(sys.modules, "byparts_tensor_ir.jit", None)
    with pytest.raises(CompilerError, match=r"no llvmlite .*pip install byparts-tensor-ir\[llvm\]"):
        build(Func("f", (), (), (), ()), emitter="llvm")


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite is not installed")
def test_what_llvm_and_the_c_library_refuse_is_named() -> None:
    jit: Any = importlib.import_module("byparts_tensor_ir.jit")
    source: Any = importlib.import_module("byparts_tensor_ir.emit.llvm").LlvmSource
    with pytest.raises(CompilerError, match="f calls nosuchf, which the C library does not have"):
        jit.compiled([source("f", "", 0, frozenset({"nosuchf"}))])
    with pytest.raises(CompilerError, match="LLVM refuses f: "):
        jit.compiled([source("f", "define nothing", 0, frozenset())])


def _filled(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _same_as_interpreted(functions: Together, vector: int, *case: int) -> str:
    """Compare the C of a case with the interpreter to the bit; the C."""
    func = functions.make(*case)
    x, y = [tuple([int(d.attr) for d in b.shape]) for b in func.params]
    expected, got = np.zeros(y, np.float32), np.full(y, 7, np.float32)
    interpret(func, _filled(x), expected)
    run = functions.build("c", vector, *case)
    run(_filled(x), got)
    np.testing.assert_array_equal(got, expected)
    return str(run.source.body)


def _second(n: int) -> Func:
    x, y, i = Buffer("x", (const(2 * n),)), Buffer("y", (const(n),)), variable("i", n)
    store = Store("y", (y,), (i,), (x[i * 2 + 1],))
    return Func("f", (x, y), (y,), (), (For(i, (store,), "vectorize"),))


_VECTORS, _SECONDS = [16, 32, 64], [3, 8, 12, 16, 24, 40, 200]
_SECOND = Together(_second, [(vector, (n,)) for n in _SECONDS for vector in _VECTORS])


@c_emitter
@pytest.mark.parametrize("vector", _VECTORS)
@pytest.mark.parametrize("n", _SECONDS)
def test_every_second_element_is_read_as_two_vectors(n: int, vector: int) -> None:
    """Nothing beyond the last of them is read: the array ends there."""
    assert "shufflevector" in _same_as_interpreted(_SECOND, vector, n)


def _repeated(n: int, times: int) -> Func:
    """y[i] = x[(i + 2 times) // times], and 0 where i % times is 1."""
    x, y, i = Buffer("x", (const(n + 3),)), Buffer("y", (const(n),)), variable("i", n)
    element = select((i % times).equal(1), const(0.0, "f32"), x[(i + 2 * times) // times])
    store = Store("y", (y,), (i,), (element,))
    return Func("f", (x, y), (y,), (), (For(i, (store,), "vectorize"),))


_TIMES, _REPEATS = [2, 4, 3], [6, 8, 13, 16, 24, 45, 200]
_REPEATED = Together(
    _repeated, [(vector, (n, t)) for n in _REPEATS for t in _TIMES for vector in _VECTORS]
)


@c_emitter
@pytest.mark.parametrize("vector", _VECTORS)
@pytest.mark.parametrize("times", _TIMES)
@pytest.mark.parametrize("n", _REPEATS)
def test_elements_that_several_lanes_read_are_loaded_once(n: int, times: int, vector: int) -> None:
    text = _same_as_interpreted(_REPEATED, vector, n, times)
    assert ("shufflevector" in text) == (times < vector // 4 and (vector // 4) % times == 0)


@c_emitter
@pytest.mark.parametrize("in_place", [False, True])
def test_large_outputs_are_stored_past_the_caches(in_place: bool) -> None:
    """Also at places that no vector is aligned to; not where they lie over an input."""
    rows, columns = 1030, 4111
    x, y = (Buffer(name, (const(rows), const(columns))) for name in "xy")
    i, j = variable("i", rows), variable("j", columns)
    store = Store("y", (y,), (i, j), (x[i, j] * 2.0,))
    func = Func("f", (x, y), (y,), (), (For(i, (For(j, (store,), "vectorize"),)),))
    run = build(func, None, "c")
    given = _filled((rows, columns))
    out = given.copy() if in_place else np.zeros_like(given)
    run(out if in_place else given, out)

    assert "stream_end();" in run.source.body
    np.testing.assert_array_equal(out, given * 2)


@each_emitter
@pytest.mark.parametrize("kind", ["serial", "vectorize"])
def test_a_product_of_many_indices_keeps_all_its_factors(kind: str, emitter: str) -> None:
    """Sizes that are known when the function is called: i * m * n * j is one node of four."""
    m, n = var("m"), var("n")
    x = placeholder((m, n), "X", "i64")
    y = compute((m, n), lambda i, j: x[i, j] + cast(i * m * n * j + i * m * n, "i64"), "Y")
    schedule = Schedule(lower([x, y], "product"))
    if kind == "vectorize":
        schedule.vectorize("Y_j")
    given, made, at = np.arange(15).reshape(3, 5), np.empty((3, 5), np.int64), np.ogrid[:3, :5]

    build(schedule.func, emitter=emitter)(given, made)

    np.testing.assert_array_equal(made, given + at[0] * 15 * at[1] + at[0] * 15)
