"""How long the text of a region is: what is in both arms of many selects is written once.

A power of integers, of an exponent that is known when it runs, is 31 selects of which each is in
both arms of the next: 2^31 lines where each arm has a copy.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import byparts_opset as ops
from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.launches import Launches
from byparts_gpu_ir.mapping import mapped
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_op_loops.regions.region import RegionLoops
from byparts_tensor_ir.emit.c import emit_c

Made = Callable[[Value, Value], Value]


def power(x: Value, k: Value) -> Value:
    return ops.pow(x, k)


def quotient(x: Value, k: Value) -> Value:
    """A division has no vectors: it is made lane by lane."""
    return power(x, k) // power(x + 1, k)


def remainder_of_quotients(x: Value, k: Value) -> Value:
    y = quotient(x, k)
    return ops.mod(quotient(y, k), y)


def condition(x: Value, k: Value) -> Value:
    return ops.select(ops.greater(x, k), quotient(x, k), power(x, k))


def column_sums(x: Value, k: Value) -> Value:
    return ops.sum(quotient(x, k), axis=(0,))


def region(make: Made) -> RegionLoops:
    x, k = Input(TensorType("i32", (17, 3))), Input(TensorType("i32", ()))
    return RegionLoops(Graph.of([x, k], [make(x, k)]))


def launches(make: Made) -> Launches:
    loops = region(make)
    return mapped(loops.func, loops.inplace)


@pytest.mark.parametrize(
    ("make", "most_lines"),
    [
        (power, 600),
        (quotient, 1000),
        (remainder_of_quotients, 2500),
        (condition, 1000),
        (column_sums, 1000),
    ],
)
def test_powers_and_quotients_are_short_in_c(make: Made, most_lines: int) -> None:
    """Whole vectors, the rest of a loop, and lanes one after the other."""
    assert emit_c(region(make).func).body.count("\n") < most_lines


def test_a_division_reads_lanes_of_its_operands() -> None:
    """What is divided is a vector already; no lane of it is computed again."""
    text = emit_c(region(lambda x, k: (x * k) // (x + k)).func).body
    divisions = re.findall(r"floordiv<int32_t>\((.*)\);", text)

    assert divisions
    assert all(re.fullmatch(r"t\d+\[l\d+\], t\d+\[l\d+\]", d) for d in divisions)


@pytest.mark.parametrize("make", [power, quotient, condition])
def test_powers_and_quotients_end_on_a_gpu(make: Made) -> None:
    """Fewer lines than 31 * 31 and some, though the guard of a thread hides what is inside."""
    for kernel in launches(make).kernels:
        assert emit_cuda(kernel).body.count("\n") < 2500
        assert emulate(kernel).body.count("\n") < 2500
