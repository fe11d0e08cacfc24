"""Compiled code on functions written by hand: what no tensor expression makes."""

from __future__ import annotations

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from emitters import each_emitter

from byparts_tensor_ir import compile
from byparts_tensor_ir.build import build, default_emitter
from byparts_tensor_ir.compile import CompilerError
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.expression import const, variable
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.statement import Buffer, For, Func, Store


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
    compile.compiler.cache_clear()
    module = sys.modules["byparts_tensor_ir.build"]  # the package has a function of that name
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(CompilerError, match=r"CXX; or `pip install byparts-tensor-ir\[llvm\]`"):
        default_emitter()
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    assert default_emitter() == "llvm"


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
        assert name == f"add{k}" and y.tolist() == [k] * 3
