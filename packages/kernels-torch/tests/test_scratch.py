"""Scratch memory is lent from step to step.  Needs torch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
scratch = pytest.importorskip("byparts_kernels_torch.scratch", reason="needs torch")

LIKE = torch.ones(1)


def test_steps_share_their_memory() -> None:
    """The next step takes the same bytes, and more if it needs them; all stay readable."""
    with scratch.Lent():
        small = scratch.empty((4,), LIKE)
        scratch.next_step()
        large = scratch.empty((100_000,), LIKE)
        large.fill_(7)

    assert small.data_ptr() == large.data_ptr()
    assert small.tolist() == [7, 7, 7, 7]


def test_what_one_step_takes_lies_apart_and_aligned() -> None:
    with scratch.Lent():
        parts = [scratch.empty((3,), LIKE, dtype) for dtype in (torch.int8, torch.float64)]
        for i, part in enumerate(parts):
            part.fill_(i)

    assert [p.tolist() for p in parts] == [[0, 0, 0], [1, 1, 1]]
    assert [p.data_ptr() % scratch.ALIGNMENT for p in parts] == [0, 0]


def test_programs_do_not_share() -> None:
    """They may run at the same time, in two threads."""
    with scratch.Lent():
        outer = scratch.empty((2,), LIKE).fill_(1)
        with scratch.Lent():
            scratch.empty((2,), LIKE).fill_(2)

        assert outer.tolist() == [1, 1]


def test_outside_a_program_it_is_ordinary_memory() -> None:
    first = scratch.empty((2,), LIKE).fill_(1)
    scratch.next_step()
    scratch.empty((2,), LIKE).fill_(2)

    assert first.tolist() == [1, 1]


def test_an_order_of_the_axes_is_kept() -> None:
    with scratch.Lent():
        x = scratch.empty((2, 3, 4, 5), LIKE, None, torch.channels_last)

    assert x.is_contiguous(memory_format=torch.channels_last)
