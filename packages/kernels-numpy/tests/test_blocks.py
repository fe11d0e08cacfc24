from collections.abc import Sequence

import numpy as np
import pytest
from bound import BACKEND, Array, spread

from byparts_graph_ir.backend.kernel import Workspace
from byparts_kernels_numpy.blocks import BLOCK, in_blocks, in_wide_blocks


def plus_one(x: Array, y: Array, spare: Array) -> None:
    """Two calls and scratch."""
    np.add(x, 0.5, spare)
    np.add(spare, 0.5, y)


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (BLOCK + 7,), (3, BLOCK), (BLOCK, 3), (2, 0)])
def test_blocks_cover_every_element(shape: tuple[int, ...]) -> None:
    """Contiguous and with gaps; the last block is shorter."""
    x, y = np.arange(np.prod(shape), dtype=np.float32).reshape(shape), np.zeros(shape, np.float32)
    in_blocks(plus_one, (x,), y, Workspace(BACKEND), (np.float32,))()
    np.testing.assert_array_equal(x + 1, y)

    y = spread(np.zeros(shape, np.float32))
    in_blocks(plus_one, (spread(x),), y, Workspace(BACKEND), (np.float32,))()
    np.testing.assert_array_equal(x + 1, y)


@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((), (3, 4)), ((1, 1), (3, 4)), ((3, 4), (1,))])
def test_inputs_broadcast(shapes: Sequence[tuple[int, ...]]) -> None:
    """As the arrays of one call would."""
    a, b = (np.random.default_rng(0).normal(size=s) for s in shapes)
    y = np.empty((3, 4))
    in_blocks(np.multiply, (a, b), y, Workspace(BACKEND))()

    np.testing.assert_array_equal(a * b, y)


def test_half_types_round_once() -> None:
    """2046.5 is no f16: rounded between the two calls, it would fall back to 2046."""
    x = np.array([2046], np.float16)
    y = np.empty_like(x)
    in_wide_blocks(plus_one, (x,), y, Workspace(BACKEND), 1)()

    assert y[0] == 2047
