"""Programs whose code is compiled together stay apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from waiting import wait

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_native import code
from byparts_runtime import build
from byparts_tensor_ir import compile

pytestmark = pytest.mark.skipif(code.emitter() != "c", reason="no C++ compiler that works")


def _squares(n: int) -> Graph:
    """n numbers, each squared."""
    x = Input(TensorType("f32", (n,)))
    return Graph.of([x], [ops.abs(x) * x])


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many functions each file has that is compiled."""
    sizes: list[int] = []
    compiled = compile.compiled

    def counted(sources: Any) -> dict[str, int]:
        sizes.append(len(sources))
        return compiled(sources)

    monkeypatch.setattr(code, "compiled", counted)
    return sizes


def _run(n: int) -> float:
    """Sum of 2 * 2, n times."""
    program = build(_squares(n), backends=("native", "numpy"))
    return float(program(np.full(n, 2, np.float32))[0].sum())


def test_programs_that_wait_are_compiled_together(files: list[int]) -> None:
    wait([_squares(n) for n in (9001, 9002, 9003)])

    assert [_run(n) for n in (9001, 9002, 9003)] == [36004, 36008, 36012]
    assert len(files) == 1 and files[0] >= 3


def test_one_that_cannot_be_built_keeps_no_other_from_waiting(files: list[int]) -> None:
    x = Input(TensorType("f32", None))
    wait([_squares(9004), Graph.of([x], [ops.tanh(x)]), _squares(9005)])

    assert [_run(n) for n in (9004, 9005)] == [36016, 36020]
    assert len(files) == 1 and files[0] >= 2
