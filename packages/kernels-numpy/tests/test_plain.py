"""Blocks of lines, and stand-ins for arrays that no kernel likes."""

import numpy as np
import pytest

from byparts_kernels_numpy import plain
from byparts_kernels_numpy.plain import blocks


@pytest.mark.parametrize(("shape", "axis"), [((7, 3), -1), ((7, 3), 0), ((3, 4, 5), 1), ((5,), 0)])
@pytest.mark.parametrize("block_bytes", [1, 40, 1 << 17])
def test_blocks_cover_every_element_once(
    shape: tuple[int, ...], axis: int, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fits a block; each has whole lines along the axis."""
    monkeypatch.setattr(plain, "BLOCK_BYTES", block_bytes)
    x = np.zeros(shape, np.float32)

    for (block,) in blocks(axis, x):
        assert block.shape[1] == shape[axis]
        block += 1

    assert (x == 1).all()


def test_long_lines_are_cut_beside_the_axis() -> None:
    """[2, 100000] along axis 0: a block of few outer rows would be the whole array."""
    x = np.zeros((2, 100000), np.float32)

    assert {b.nbytes <= plain.BLOCK_BYTES for (b,) in blocks(0, x)} == {True}


def test_nothing_has_no_blocks() -> None:
    """Neither no lines nor lines of nothing."""
    assert blocks(-1, np.zeros((0, 3))) == []
    assert blocks(-1, np.zeros((3, 0))) == []
