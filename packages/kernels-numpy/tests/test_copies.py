from typing import Any

import numpy as np
import pytest
from bound import BACKEND, kernel, node_on

from byparts_graph_ir import Op
from byparts_opset.axes import Reverse
from byparts_opset.pad import Pad
from byparts_opset.reshape import Reshape
from byparts_opset.slicing import Slice

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric"])
@pytest.mark.parametrize("paddings", [((2, 1), (0, 3)), ((0, 2), (1, 0)), ((1, 0), (3, 3))])
def test_borders_are_those_of_numpy(paddings: tuple[tuple[int, int], ...], mode: Any) -> None:
    """Corners as well."""
    (y,) = kernel(Pad(paddings, 0, mode), X)

    np.testing.assert_array_equal(y, np.pad(X, paddings, mode))


def test_a_strided_input_is_read_at_each_run() -> None:
    """Reshaping it when bound would have made a copy, which goes stale."""
    memory = np.zeros((3, 4), np.float32)
    y = np.zeros((2, 6, 2), np.float32)
    x = memory.T
    run = BACKEND.bind(node_on(Reshape((2, 6)), x), [x], [y[..., 0]])
    run()
    memory[...] = X
    run()

    np.testing.assert_array_equal(y[..., 0], X.T.reshape(2, 6))


@pytest.mark.parametrize("op", [Reverse(()), Slice((), (), ())], ids=str)
def test_a_0_d_array_is_read_when_it_runs(op: Op) -> None:
    """NumPy gives numbers, not views, for some indices of 0-d arrays."""
    x, y = np.array(1.0), np.array(0.0)
    run = BACKEND.bind(node_on(op, x), [x], [y])
    x[...] = 2
    run()

    assert y == 2
