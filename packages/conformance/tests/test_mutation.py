"""Mutation: what it calls killed, equal and survived; every op is tried in integration/."""

from __future__ import annotations

import pytest

from byparts_conformance.cases import cases_of
from byparts_conformance.kernel import ABSENT, NOTHING, OK, check, runs_of
from byparts_conformance.mutation import (
    EQUAL,
    KILLED,
    SURVIVED,
    counted,
    main,
    right_kernels,
    table,
)
from byparts_opset import Adam, Fill, Floor, Sum


def test_a_right_kernel_survives() -> None:
    """Or the mutants would be killed by a kit that calls everything wrong."""
    for op in (Floor, Sum, Adam, Fill):
        for backend in right_kernels(op):
            for column in ("basic", "edges", "long", "in place", "strided"):
                for case, how in runs_of(cases_of(op), column):
                    assert check(backend, case, how) in (OK, NOTHING, ABSENT)


def test_a_survivor_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the samples of old, which lie between 0 and 1, floor may be 0 everywhere."""
    old = tuple(c for c in cases_of(Floor) if c.column == "basic")
    monkeypatch.setattr(
        "byparts_conformance.mutation.cases_of",
        lambda op: tuple(type(c)(c.sample, c.column, "smooth") for c in old),
    )

    assert main(["--op", "floor"]) == 1
    assert "floor: constant 0 survived" in capsys.readouterr().out


def test_the_table_has_a_sign_for_each_outcome() -> None:
    """In Markdown, and one sentence that counts."""
    rows = {
        "a": {"m": KILLED, "input 0 ignored": EQUAL, "input 1 ignored": KILLED},
        "b": {"m": SURVIVED, "axis ignored": EQUAL},
    }

    assert table(rows) == [
        "| op | m | an input ignored | an attribute ignored |",
        "|---|---|---|---|",
        "| `a` | x | x |  |",
        "| `b` | ! |  | = |",
    ]
    assert counted(rows) == "2 ops, 5 mutants: 2 killed, 2 equal to their op, 1 survived"
