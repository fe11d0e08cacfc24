"""Compiled code on functions written by hand: what no tensor expression makes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from emitters import each_emitter

from byparts_tensor_ir import compile
from byparts_tensor_ir.build import build, default_emitter
from byparts_tensor_ir.compile import CompilerError
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
