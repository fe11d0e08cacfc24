import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.join import Concat, Split, SplitLike, concat, split, stack, unstack


def f32(*shape: int | str | None) -> Input:
    return Input(TensorType("f32", shape))


def test_nn_inf_concat() -> None:
    """The axis adds up, the others agree."""
    x = f32(10, 20)

    assert concat([x, f32(10, 30)], 1).type.shape == (10, 50)
    assert concat([x, x], 0).type.shape == (20, 20)
    assert concat([f32(None, 2), f32("n", 3)], -1).type.shape == ("n", 5)
    assert concat([f32("n", 3), f32("n", 3)]).type.shape == ("2*n", 3)
    assert concat([f32("n", 3), f32(None, 3)]).type.shape == (None, 3)
    assert concat([f32("n", 3), f32(4, 3), f32("m", 3)]).type.shape == ("m+n+4", 3)


def test_nn_inf_split() -> None:
    """Into sizes, or so many."""
    x = f32(10, 20)

    assert [y.type.shape for y in split(x, (11, 9), 1)] == [(10, 11), (10, 9)]
    assert [y.type.shape for y in split(x, 2, -1)] == [(10, 10), (10, 10)]


def test_stack_and_unstack() -> None:
    """One new axis, there and back."""
    x, y = f32(2, 3), f32(2, 3)

    assert stack([x, y], 1).type.shape == (2, 2, 3)
    assert [v.type.shape for v in unstack(x, -1)] == [(2,), (2,), (2,)]
    assert unstack(f32(0, 3)) == ()


def test_joined_values_are_cut_where_they_were_joined() -> None:
    """Of any dtype."""
    x, y = np.arange(4).reshape(2, 2), np.arange(2).reshape(2, 1)

    np.testing.assert_array_equal(
        call(lambda a, b: concat([a, b], 1), x, y), [[0, 1, 0], [2, 3, 1]]
    )
    np.testing.assert_array_equal(call(lambda a: split(a, (1, 1), 1)[1], x), [[1], [3]])
    np.testing.assert_array_equal(call(lambda a: stack(unstack(a, 1), 0), x), [[0, 2], [1, 3]])


def test_gradient_of_joining_what_has_no_size_yet() -> None:
    """Cut like the inputs, and by numbers once there are some; no byte of them is read."""
    x, y, dy = f32("n", 2), f32("m", 2), f32(None, 2)
    dx, _ = Concat(0).gradient(concat([x, y]).node, dy)  # type: ignore[arg-type]
    graph = Graph.of((x, y, dy), [dx])  # type: ignore[list-item]

    assert [SplitLike(0, 2)] == [n.op for n in graph.nodes]
    assert graph.nodes[0].op.ignores == (1, 2)
    known = specialize(graph, [f32(1, 2).type, f32(3, 2).type, None])
    assert [Split((1, 3), 0)] == [n.op for n in known.nodes]
    assert run(known, *(np.zeros((n, 2), "f") for n in (1, 3, 4)))[0].shape == (1, 2)


def test_parts_along_the_first_axis_are_views() -> None:
    """At the bytes where they begin; along another axis only of a single row."""
    x = TensorType("f32", (5, 3))

    assert Split((2, 3), 0).views(x) == ((0, 0, 0), (0, 1, 24))
    assert Split((1, 2), 1).views(x) == ()
    assert Split((1, 2), 1).views(TensorType("f32", (1, 3))) == ((0, 0, 0), (0, 1, 4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: concat([x, f32(2, 4)], 0), r"concat: axis 1 differs: f32\[2,3\] and f32\[2,4\]"),
        (lambda x: concat([x, f32(2)], 0), r"concat: ranks differ: f32\[2,3\] and f32\[2\]"),
        (lambda x: concat([]), r"concat: takes one value at least"),
        (
            lambda x: split(x, (1, 1), 1),
            r"split: sizes \(1, 1\) sum to 2, axis 1 of f32\[2,3\] does",
        ),
        (lambda x: split(x, 2, 1), r"split: axis 1 of f32\[2,3\] is not cut into 2 equal parts"),
        (lambda x: unstack(f32("n", 3)), r"unstack: the size of axis 0 of f32\[n,3\] is not known"),
        (
            lambda x: concat([x, Input(TensorType("f64", (2, 3)))]),
            r"concat: dtypes differ: f32\[2,3\] and f64\[2,3\]",
        ),
    ],
)
def test_refusals(make: type, message: str) -> None:
    """With the types."""
    with pytest.raises(ShapeError, match=message):
        make(f32(2, 3))


def test_split_like_wants_parts_that_add_up() -> None:
    """The types say so before anything runs; what is not known is no error."""
    with pytest.raises(ShapeError, match=r"x is f32\[4,2\], and the 2 parts add up to f32\[3,2\]"):
        SplitLike(0, 2).infer(*(f32(n, 2).type for n in (4, 1, 2)))
    with pytest.raises(ShapeError, match=r"split_like: x is f32\[3\].*f32\[3,2\], of rank 2"):
        SplitLike(0, 2).infer(f32(3).type, f32(1, 2).type, f32(2, 2).type)
    assert len(SplitLike(0, 2).infer(f32("n", 2).type, f32("a", 2).type, f32("b", 2).type)) == 2
