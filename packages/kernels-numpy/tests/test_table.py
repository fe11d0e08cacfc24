import numpy as np
import pytest
from bound import BACKEND

from byparts_graph_ir import ITEM_BYTES, TensorType
from byparts_kernels_numpy.table import view


@pytest.mark.parametrize("dtype", ITEM_BYTES)
def test_views_share_the_memory_of_the_space(dtype: str) -> None:
    """Writing to one writes to the arena, at its offset."""
    memory = BACKEND.space.allocate(256)
    x = view(memory, 64, TensorType(dtype, (2, 3)))
    x[...] = 1

    np.testing.assert_array_equal(x, view(memory, 64, TensorType(dtype, (2, 3))))
    assert view(memory, 0, TensorType("u8", (64,))).sum() == 0


def test_views_of_nothing_and_of_one() -> None:
    """0-size at the very end, and 0-d."""
    memory = BACKEND.space.allocate(8)

    assert view(memory, 8, TensorType("f32", (0, 3))).shape == (0, 3)
    assert view(memory, 4, TensorType("f32", ())).shape == ()
