"""Compiled code on functions written by hand: what no tensor expression makes."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from byparts_tensor_ir.build import build
from byparts_tensor_ir.expression import const, variable
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.statement import Buffer, For, Func, Store

has_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


@has_compiler
def test_what_a_loop_stores_is_read_again_in_each_round() -> None:
    """B[0] is read before the loop, and in it before it is stored."""
    a, b, c = Buffer("A", (const(3),)), Buffer("B", (const(1),)), Buffer("C", (const(4),))
    i, zero = variable("i", 3), const(0)
    again = (Store("C", (c,), (i + 1,), (b[0],)), Store("B", (b,), (zero,), (a[i],)))
    func = Func("f", (a, b, c), (b, c), (), (Store("C", (c,), (zero,), (b[0],)), For(i, again)))
    results = []
    for run in (interpret, lambda f, *arrays: build(f)(*arrays)):
        x, y, z = np.float32([1, 2, 3]), np.float32([7]), np.zeros(4, np.float32)
        run(func, x, y, z)
        results.append((*y, *z))
    assert results == [(3, 7, 7, 1, 2)] * 2
