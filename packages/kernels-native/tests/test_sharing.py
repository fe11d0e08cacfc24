"""From how much work on loops are shared, and that code for another answer is other code."""

from __future__ import annotations

import re
import shutil

import pytest

import byparts_opset as ops
from byparts_graph_ir import BackendError, Graph, Input, TensorType
from byparts_kernels_native.regions import region_kernel
from byparts_kernels_native.sharing import VARIABLE, least_us, scaled, usual

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


def _graph() -> Graph:
    x = Input(TensorType("f32", (40, 9)))
    return Graph.of([x], [ops.exp(x) + ops.sum(x, 1, keepdims=True)])


def test_fifty_microseconds_are_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)

    assert (least_us(), usual(), scaled(100)) == (50.0, True, 100.0)


def test_the_variable_says_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "5")

    assert (least_us(), usual(), scaled(100)) == (5.0, False, 10.0)


@pytest.mark.parametrize("told", ["", "soon", "-1", "nan"])
def test_what_is_no_time_is_refused(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, told)

    with pytest.raises(BackendError, match=re.escape(f"{VARIABLE}={told}: no number of micros")):
        least_us()


@needs_compiler
def test_short_loops_are_shared_where_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And code that is kept on the disk for one answer is not taken for another."""
    monkeypatch.setenv("BYPARTS_EMITTER", "c")  # LLVM's code computes on one thread
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "in_parallel(" not in region_kernel(_graph()).source

    monkeypatch.setenv(VARIABLE, "0")
    assert "in_parallel(" in region_kernel(_graph()).source

    monkeypatch.setenv(VARIABLE, "50")
    assert "in_parallel(" not in region_kernel(_graph()).source
