"""Asking whether a backend has an op gives the answer that trying its cases would give."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from byparts_conformance import Case, cases_of, kernel_check
from byparts_conformance.backend_rules import BACKEND_RULES
from byparts_conformance.cases import COLUMNS
from byparts_conformance.kernel import cell, runs_of
from byparts_conformance.presence import few, presence
from byparts_graph_ir import Backend, Op
from byparts_kernels_numpy import make
from byparts_opset import (
    Add,
    BroadcastLike,
    Conv2d,
    Div,
    Gelu,
    Identity,
    If,
    Mul,
    Neg,
    Scan,
    Softmax,
    Softsign,
    SumLike,
    Tanh,
)


@pytest.fixture
def two() -> Backend:
    """A backend with kernels for `Add` and `Neg`."""
    made = Backend("two", make().view)
    made.kernels.on(Add)(lambda op, xs, ys: partial(np.add, *xs, *ys))
    made.kernels.on(Neg)(lambda op, xs, ys: partial(np.negative, *xs, *ys))
    return made


WAYS: dict[type[Op], str] = {
    **{Add: "ok", Neg: "ok", Mul: "-", Tanh: "-", Div: "-", Softmax: "-", Conv2d: "-"},
    **{Identity: "via decompose", BroadcastLike: "via decompose", SumLike: "via decompose"},
    **{If: "-", Scan: "-", Gelu: "-", Softsign: "-"},
}


@pytest.mark.parametrize("op", WAYS)
def test_presence_is_asked_of_the_tables(op: type[Op], two: Backend) -> None:
    """Kernels, what decomposes into them, what has bodies of them; nothing is compiled."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("compiled")

    object.__setattr__(two, "compile", refuse)
    assert presence(two, op) == WAYS[op]


@pytest.mark.parametrize("op", [If, Scan, Softsign, Gelu, Tanh])
def test_a_backend_with_all_kernels_has_what_is_made_of_them(op: type[Op]) -> None:
    """Directly, or by its bodies."""
    assert presence(make(), op) == ("via bodies" if op in (If, Scan) else "ok")


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("op", [Add, BroadcastLike, SumLike, Softmax])
def test_few_runs_say_the_same_as_all(op: type[Op], column: str, two: Backend) -> None:
    """A cell is the same whether all cases are tried or one for each dtype and way."""
    every = runs_of(cases_of(op), column)
    outcomes = [{kernel_check(two, *run) for run in runs} for runs in (every, few(two, every))]

    assert cell(outcomes[0]) == cell(outcomes[1])


@pytest.mark.parametrize("op", [Add, Neg])
def test_what_has_a_kernel_is_tried_on_all_its_cases(op: type[Op], two: Backend) -> None:
    """In every column."""
    runs = [run for column in COLUMNS for run in runs_of(cases_of(op), column)]

    assert few(two, runs) == runs


def test_rules_make_no_cases_of_ops_that_are_absent(
    two: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases of a convolution take half a second to make."""
    asked: list[type[Op]] = []

    def counted(op: type[Op]) -> tuple[Case, ...]:
        asked.append(op)
        return cases_of(op)

    monkeypatch.setattr("byparts_conformance.backend_rules.cases_of", counted)

    assert BACKEND_RULES["inputs unchanged"](two, [Conv2d, Add]) == "" and asked == [Add]
