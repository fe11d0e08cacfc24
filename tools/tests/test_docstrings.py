"""Docstrings begin with a noun or a verb; no part has many that open with a riddle."""

from __future__ import annotations

import pytest

import docstrings
from budgets import parts


@pytest.mark.parametrize("part", [p.name for p in parts()])
def test_few_docstrings_open_with_a_riddle(part: str) -> None:
    there = [f"{d.file}:{d.line}: {d.text:.60}" for d in docstrings.riddles(part)]

    assert docstrings.share(part) <= docstrings.MOST, there


@pytest.mark.parametrize(
    "text",
    [
        "As a kernel binds.",
        "Of the block, at a time.",
        "Those of the compiler.",
        "It no longer waits; returns its range.",
        "What a call runs.",
        "One for each value.",
        "Whether it is this very variable.",
    ],
)
def test_a_riddle_is_seen(text: str) -> None:
    assert docstrings.is_riddle(text)


@pytest.mark.parametrize(
    "text",
    [
        "Bind the steps of the body to addresses.",
        "Whether the kernel is atomic.",
        "The location of each value.",
        "`None` for the arena, else the position of an input.",
        "...",
    ],
)
def test_a_noun_or_a_verb_is_none(text: str) -> None:
    assert not docstrings.is_riddle(text)
