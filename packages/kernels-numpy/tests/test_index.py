import numpy as np
import pytest
from bound import BACKEND, bound, kernel, node_on

from byparts_graph_ir import GraphError
from byparts_opset.index import Gather, Scatter, ScatterAdd

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64])
def test_indices_of_any_integer_type(dtype: type) -> None:
    """All are looked up as they are."""
    (y,) = kernel(Gather(), TABLE, np.array([3, 0], dtype))

    np.testing.assert_array_equal(y, TABLE[[3, 0]])


@pytest.mark.parametrize("wrong", [4, -1, -(2**31)])
def test_an_index_out_of_range_is_an_error_and_writes_nothing(wrong: int) -> None:
    """Found before anything is copied."""
    indices = np.array([0, wrong], np.int32)
    message = f"index {wrong} at \\[1\\] is out of range for axis 0 of size 4"

    with pytest.raises(GraphError, match="gather: " + message):
        kernel(Gather(), TABLE, indices)
    with pytest.raises(GraphError, match="scatter_add: " + message):
        kernel(ScatterAdd(), indices, TABLE[:2], TABLE)
    with pytest.raises(GraphError, match="scatter: " + message):
        kernel(Scatter(), TABLE, indices, TABLE[:2])


def test_indices_are_read_at_each_run() -> None:
    """What was checked once may change."""
    indices = np.array([1], np.int64)
    run = bound(Gather(), TABLE, indices)
    run()
    indices[0] = 9

    with pytest.raises(GraphError, match="index 9"):
        run()


@pytest.mark.parametrize("width", [1, 3, 300])
@pytest.mark.parametrize("axis", [0, 1])
def test_updates_of_one_index_add_up(width: int, axis: int) -> None:
    """Element by element, or by rows where those are wide."""
    random = np.random.default_rng(2)
    like = np.zeros((5, 6, width), np.float32)
    indices = random.integers(0, 5, (4, 2))
    shape = (4, 2, 6, width) if axis == 0 else (5, 4, 2, width)
    updates = random.normal(size=shape).astype(np.float32)

    (found,) = kernel(ScatterAdd(axis), indices, updates, like)

    (expected,) = ScatterAdd(axis).evaluate(indices, updates, like)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_third_input_is_not_read() -> None:
    """The planner may have given its bytes away: here there are none."""
    indices, updates = np.array([0, 1, 1]), np.ones((3, 1), np.float16)
    y = np.empty((2, 1), np.float16)

    BACKEND.bind(node_on(ScatterAdd(), indices, updates, y), [indices, updates, None], [y])()

    np.testing.assert_array_equal(y, [[1], [2]])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.bool_])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_of_updates_at_one_index_the_last_stays(axis: int, dtype: type) -> None:
    """Far more indices than slices; the arrays are views with strides of their own."""
    random = np.random.default_rng(axis)
    shape = [5, 6, 7]
    x = random.normal(size=shape[::-1]).astype(dtype).T
    indices = random.integers(0, shape[axis], 2000)[::-2]
    shape[axis] = 1000
    updates = random.normal(size=shape[::-1]).astype(dtype).T

    (found,) = kernel(Scatter(axis), x, indices, updates)

    want = np.moveaxis(x.copy(), axis, 0)
    for at, row in zip(indices, np.moveaxis(updates, axis, 0), strict=True):
        want[at] = row
    np.testing.assert_array_equal(np.moveaxis(found, axis, 0), want)


def test_assignment_over_its_own_input_copies_nothing_else() -> None:
    x = np.arange(4, dtype=np.float32)
    inputs = [x, np.array([2, 2]), np.array([7, 8], np.float32)]

    BACKEND.bind(node_on(Scatter(), *inputs), inputs, [x])()

    np.testing.assert_array_equal(x, [0, 1, 8, 3])
