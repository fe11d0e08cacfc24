import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, GraphError, Input, ShapeError, TensorType
from byparts_opset.dtypes import Array
from byparts_opset.index import Gather, OneHot, Scatter, ScatterAdd, gather, one_hot, scatter


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64])
def test_gather_takes_any_integers(dtype: type) -> None:
    """Their axes stand where the axis was."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    indices: Array = np.array([[3, 0], [1, 1]], dtype)

    np.testing.assert_array_equal(call(lambda v, i: gather(v, i, -1), x, indices), x[:, indices])


@pytest.mark.parametrize(("wrong", "said"), [(3, "3"), (-1, "-1")])
def test_an_index_out_of_range_is_an_error(wrong: int, said: str) -> None:
    """When it runs, naming it; a negative one is out of range."""
    indices = np.array([[0, 1], [wrong, 2]], np.int32)
    message = rf"index {said} at \[1, 0\] is out of range for axis 0 of size 3"

    with pytest.raises(GraphError, match="gather: " + message):
        Gather().evaluate(np.zeros((3, 2), np.float32), indices)
    with pytest.raises(GraphError, match="scatter_add: " + message):
        ScatterAdd().evaluate(indices, np.zeros((2, 2), np.float32), np.zeros(3, np.float32))
    with pytest.raises(GraphError, match=rf"scatter: index {said} at \[2\] is out of range"):
        Scatter().evaluate(np.zeros(3, np.float32), indices.reshape(-1), np.zeros(4, np.float32))


def test_repeated_indices_add_up() -> None:
    """The gradient of an embedding whose row was used twice."""
    x, i, dy = (
        Input(TensorType(d, s)) for d, s in (("f32", ("v", 2)), ("i32", (3,)), ("f32", (3, 2)))
    )
    dx, none = Gather().gradient(gather(x, i).node, dy)  # type: ignore[arg-type]
    rows = np.array([[1, 2], [3, 4], [5, 6]], np.float32)

    (found,) = run(
        Graph.of((x, i, dy), [dx]),  # type: ignore[list-item]
        np.zeros((4, 2), np.float32),
        np.array([2, 0, 2], np.int32),
        rows,
    )

    assert none is None
    np.testing.assert_array_equal(found, [[3, 4], [0, 0], [6, 8], [0, 0]])


def test_of_updates_at_one_index_the_last_stays() -> None:
    """Assignment is no addition: 1 and 2 to one place give 2, and in the other order 1."""
    x, updates = np.zeros(3, np.float32), np.array([1, 5, 2], np.float32)
    indices = np.array([1, 0, 1], np.int32)

    np.testing.assert_array_equal(call(scatter, x, indices, updates), [5, 2, 0])
    np.testing.assert_array_equal(call(scatter, x, indices[::-1], updates[::-1]), [5, 1, 0])


def test_assignment_is_that_of_numpy_along_any_axis() -> None:
    """Many indices, each several times; also where the axis is counted from the end."""
    random = np.random.default_rng(0)
    x, indices = random.normal(size=(4, 5, 3)), random.integers(0, 5, 300)
    updates = random.normal(size=(4, 300, 3))
    want = x.copy()
    for i, at in enumerate(indices):
        want[:, at] = updates[:, i]

    got = call(lambda x, i, u: scatter(x, i, u, -2), x, indices, updates)
    np.testing.assert_array_equal(got, want)


def test_only_the_update_that_stays_gets_a_gradient() -> None:
    """What is overwritten, by an update or of x, has no part in y."""
    given = ("f32", (3,)), ("i32", (3,)), ("f32", (3,)), ("f32", (3,))
    x, i, updates, dy = (Input(TensorType(d, s)) for d, s in given)
    dx, none, dupdates = Scatter().gradient(scatter(x, i, updates).node, dy)  # type: ignore[arg-type]

    graph = Graph.of((x, i, updates, dy), [dx, dupdates])  # type: ignore[list-item]
    zeros, rows = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    found = run(graph, zeros, np.array([1, 0, 1], np.int32), zeros, rows)

    assert none is None
    np.testing.assert_array_equal(found, [[0, 0, 3], [0, 1, 2]])


def test_bools_are_assigned() -> None:
    got = call(scatter, np.zeros(3, bool), np.array([2, 2]), np.array([False, True]))

    np.testing.assert_array_equal(got, [False, False, True])


def test_half_types_accumulate_in_f32() -> None:
    """4096 ones on one index."""
    updates = np.ones(4096, np.float16)

    (y,) = ScatterAdd().evaluate(np.zeros(4096, np.int32), updates, np.zeros(1, np.float16))

    np.testing.assert_array_equal(y, np.array([4096], np.float16))


def test_one_hot_rows() -> None:
    """Out of range is a row of `off`."""
    found = call(lambda i: one_hot(i, 3, "i32", 5, -5), np.array([2, -1, 3, 0], np.int64))

    np.testing.assert_array_equal(found, [[-5, -5, 5], [-5] * 3, [-5] * 3, [5, -5, -5]])


def test_one_hot_in_parts_counts_past_the_range_of_its_indices() -> None:
    """In u8 itself 300 would be 44."""
    i = Input(TensorType("u8", ()))
    parts = Graph.of((i,), OneHot(301).decompose(i) or ())

    assert np.flatnonzero(run(parts, np.uint8(44))[0]) == [44]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda x: gather(x, x),
            r"gather: indices are integers, got f32\[3\]; cast\(indices, 'i32'\)",
        ),
        (lambda x: one_hot(x, 3), r"one_hot: indices are integers, got f32\[3\]"),
        (lambda x: gather(x, Input(TensorType("i32", ())), 1), r"gather: axis 1 is out of range"),
        (
            lambda x: ScatterAdd()(Input(TensorType("i32", (2,))), x, x),
            r"scatter_add: shapes differ: f32\[2\] and f32\[3\]",
        ),
        (lambda x: one_hot(Input(TensorType("i32", (3,))), 3, "i32", 0.5), r"0\.5 is no i32"),
        (
            lambda x: scatter(x, Input(TensorType("i32", (2, 2))), x),
            r"scatter: indices have one axis, got i32\[2,2\]; reshape them to -1",
        ),
        (
            lambda x: scatter(x, Input(TensorType("i32", (2,))), x),
            r"scatter: shapes differ: f32\[2\] and f32\[3\]",
        ),
        (
            lambda x: scatter(x, Input(TensorType("i32", (2,))), Input(TensorType("f64", (2,)))),
            r"scatter: dtypes differ: f32\[3\] and f64\[2\]",
        ),
    ],
)
def test_refusals(make: type, message: str) -> None:
    """With the types."""
    with pytest.raises(ShapeError, match=message):
        make(Input(TensorType("f32", (3,))))
