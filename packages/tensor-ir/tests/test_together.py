"""Cases that are compiled together stay apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import together
from emitters import c_emitter
from together import Together

from byparts_tensor_ir import compile
from byparts_tensor_ir.compile import CompilerError
from byparts_tensor_ir.expression import const, variable
from byparts_tensor_ir.statement import Buffer, For, Func, Store

pytestmark = c_emitter


def _times(k: int) -> Func:
    if k < 0:
        raise ValueError(f"{k} is below zero")
    a, b, i = Buffer("A", (const(3),)), Buffer("B", (const(3),)), variable("i", 3)
    return Func("f", (a, b), (b,), (), (For(i, (Store("B", (b,), (i,), (a[i] * float(k),)),)),))


def _run(functions: Together, k: int) -> list[float]:
    x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    functions.build("c", 16, k)(x, y)
    return list(y.tolist())


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many functions each file has that is compiled."""
    sizes: list[int] = []

    def counted(sources: Any) -> dict[str, int]:
        sizes.append(len(sources))
        return compile.compiled(sources)

    monkeypatch.setattr(together, "compiled", counted)
    return sizes


def test_all_cases_are_one_file(files: list[int]) -> None:
    functions = Together(_times, [(16, (k,)) for k in range(4)])

    assert [_run(functions, k) for k in range(4)] == [[0, k, 2 * k] for k in range(4)]
    assert files == [4]


def test_a_case_that_raises_does_so_alone(files: list[int]) -> None:
    functions = Together(_times, [(16, (k,)) for k in (1, -1, 2)])

    assert _run(functions, 1) == [0, 1, 2] and _run(functions, 2) == [0, 2, 4]
    with pytest.raises(ValueError, match="-1 is below zero"):
        _run(functions, -1)
    assert files == [2]


def test_a_file_that_is_refused_is_compiled_case_by_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(sources: Any) -> Any:
        raise CompilerError("refused")

    monkeypatch.setattr(together, "compiled", refuse)
    functions = Together(_times, [(16, (k,)) for k in (1, 2)])

    assert [_run(functions, k) for k in (1, 2)] == [[0, 1, 2], [0, 2, 4]]
