"""Random programs on PyTorch's kernels, and the programs that once were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from program_trials import check, check_again, each_of_the_corpus, overflows

pytest.importorskip("torch")


@overflows
def test_programs_on_torch_give_what_they_mean() -> None:
    """Two hundred, in all the ways of building."""
    check("torch", 200, 0, 20)


@pytest.mark.long
@overflows
@pytest.mark.parametrize("part", range(5))
def test_thousands_of_programs_on_torch(part: int) -> None:
    """Five thousand."""
    check("torch", 1000, 10_000 + 1000 * part, 25)


@overflows
@each_of_the_corpus
def test_what_was_wrong_once_is_right_on_torch(path: Path) -> None:
    check_again(path, "torch")
