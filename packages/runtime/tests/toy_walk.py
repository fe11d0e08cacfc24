"""The toy backend with loops: its `capture` walks instructions in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest
import toy_loops
from toy_backend import TOY

from byparts_graph_ir.backend.instruction import Add, Counter, Host, Jump, Label, Move, Set
from byparts_graph_ir.model.frozen import replace

walks: list[int] = []  # how many lines each walk of the test had


def capture(lines: Sequence[Any], warm: bool) -> Any:
    return partial(_walk, lines, {line: i for i, line in enumerate(lines) if type(line) is Label})


WALKING = replace(TOY, capture=capture, stretches=True, loops=True)


@pytest.fixture(params=["in Python", "by instructions"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test runs on the toy backend, and on that with loops, which then has walked one."""
    walking = request.param == "by instructions"
    monkeypatch.setattr(toy_loops, "BACKEND", WALKING if walking else TOY)
    walks.clear()
    yield
    assert walking == (len(walks) > 0)


def _walk(lines: Sequence[Any], labels: dict[Label, int]) -> None:
    walks.append(len(lines))
    i = 0
    while i < len(lines):
        line, i = lines[i], i + 1
        match line:
            case Label():
                pass
            case Set(counter, value):
                counter.value = value
            case Add(counter, by):
                counter.value += by
            case Move():
                ctypes.memmove(
                    line.target.ctypes.data + _distance(line.target_at),
                    line.source.ctypes.data + _distance(line.source_at),
                    line.size_bytes,
                )
            case Jump(to, test, when):
                i = labels[to] if test is None or _holds(test) == when else i
            case Host(call) | call:
                call()


def _distance(at: tuple[Counter, int] | None) -> int:
    return 0 if at is None else at[0].value * at[1]


def _holds(test: Any) -> bool:
    return bool(test[0].value < test[1].value) if isinstance(test, tuple) else bool(test)
