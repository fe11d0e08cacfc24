"""Programs whose values end or begin at pages that nobody may touch; they run in a child."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs import Program, expected, generate, trial
from byparts_conformance.programs.guarded import Guards
from byparts_graph_ir import Backend, Graph, Input, Table, TensorType
from byparts_kernels_numpy import make
from mutation.trying import in_child


def tried(backends: Sequence[Any], programs: Sequence[Program]) -> Any:
    """The sentences on wrong programs, run in guarded memory; "dies" where one reads outside."""
    wants = [expected(p) for p in programs]

    def job() -> list[str]:
        said = [
            trial(p, some, backends=backends, **Guards().options())
            for p, some in zip(programs, wants, strict=True)
        ]
        return [sentence for sentence in said if sentence]

    return in_child(job)


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=lambda b: b[0])
def test_programs_touch_nothing_beside_their_values(backends: Sequence[str]) -> None:
    assert tried(backends, [generate(seed, 12) for seed in range(8)]) == []


@pytest.mark.parametrize(
    ("of", "at"), [(0, -1), (1, 64)], ids=["before the first value", "behind the second"]
)
def test_a_read_beside_a_value_ends_the_child(of: int, at: int) -> None:
    """The first one begins at a page, the second one ends there; reads inside do no harm."""
    x = Input(TensorType("f32", (16,)), None, "x")
    program = Program(Graph.of((x,), (ops.neg(x),)), (np.ones(16, np.float32),), seed=0)

    assert tried((reading(of, 63),), [program]) == []
    assert tried((reading(of, at),), [program]) == "dies"


def reading(of: int, at: int) -> Backend:
    """A backend whose `neg` also reads a byte so far behind the start of its input or output."""
    kernels: Table[Any] = Table("kernel")

    @kernels.on(ops.Neg)
    def neg(op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], object]:
        pair = inputs[0], outputs[0]
        return lambda: (np.negative(*pair), ctypes.string_at(pair[of].ctypes.data + at, 1))

    return Backend("reading", make().view, kernels)
