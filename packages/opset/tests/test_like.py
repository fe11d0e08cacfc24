from collections.abc import Callable

import numpy as np
import pytest
from numeric import check_gradient, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value, producers, specialize
from byparts_opset.axes import BroadcastTo
from byparts_opset.like import (
    BroadcastLike,
    ReshapeLike,
    SumLike,
    broadcast_like,
    count_like,
    reshape_like,
    sum_like,
    zeros_like,
)
from byparts_opset.reduce import Sum

Two = Callable[[Value, Value], Value]


def f32(*shape: int | str | None) -> Input:
    """An input of this shape."""
    return Input(TensorType("f32", shape))


def ops(y: Value) -> list[str]:
    """Names of the ops behind y."""
    return [node.op.name for node in producers([y])]


@pytest.mark.parametrize("function", [broadcast_like, sum_like, reshape_like])
def test_equal_shapes_need_no_op(function: Two) -> None:
    """The value itself, also where a symbol stands; two unknown dimensions may differ."""
    static, symbol, unknown = f32(2, 3), f32("n", 3), f32(None, 3)

    assert static is function(static, f32(2, 3))
    assert symbol is function(symbol, f32("n", 3))
    assert unknown is not function(unknown, f32(None, 3))


def test_static_types_give_static_ops() -> None:
    """No `_like` op in a static graph."""
    assert ops(broadcast_like(f32(3, 1), f32(2, 3, 4))) == ["broadcast_to"]
    assert ops(sum_like(f32(2, 3, 4), f32(3, 1))) == ["sum", "expand_dims"]
    assert ops(reshape_like(f32(2, 3), f32(6))) == ["reshape"]
    assert ops(count_like(f32(2, 3))) == ["fill"]
    assert ops(zeros_like(f32(2, 3))) == ["fill"]


def test_a_batch_of_unknown_size_is_summed_statically() -> None:
    """The gradient of a bias: only the axis in front was repeated, whatever n is."""
    assert Sum((0,), False)(f32("n", 3)).type == sum_like(f32("n", 3), f32(3)).type
    assert ops(sum_like(f32("n", 3), f32(3))) == ["sum"]
    assert ops(sum_like(f32("n", 3), f32(None))) == ["sum_like"]


def test_specialize_removes_like_ops() -> None:
    """`canonical` on the types that arrive."""
    x, like = f32(None, 1), f32(None, None)
    graph = Graph.of((x, like), [broadcast_like(x, like)])

    known = specialize(graph, (TensorType("f32", (2, 1)), TensorType("f32", (2, 5))))

    assert [BroadcastTo((2, 5))] == [n.op for n in known.nodes]


def test_count_is_known_as_soon_as_its_axes_are() -> None:
    """Other axes may stay open; and unknown ones count when it runs."""
    x = f32("n", 3, 4)

    assert ops(count_like(x, (1, -1))) == ["fill"]
    (count,) = run(Graph.of((x,), [count_like(x)]), np.zeros((5, 3, 4), np.float32))
    assert count == 60


@pytest.mark.parametrize(
    ("op", "x", "like"),
    [
        (BroadcastLike(), (3, 1), (2, 3, 4)),
        (SumLike(), (2, 3, 4), (3, 1)),
        (ReshapeLike(), (2, 3), (3, 2)),
    ],
)
def test_gradients(op: BroadcastLike, x: tuple[int, ...], like: tuple[int, ...]) -> None:
    """On static, symbolic and unknown shapes."""
    random = np.random.default_rng(0)

    check_gradient(op, random.normal(size=x), random.normal(size=like), unranked=True)


def test_shapes_that_cannot_fit_are_refused() -> None:
    """Numbers that contradict; a higher rank."""
    with pytest.raises(ShapeError, match=r"broadcast_like: .*f32\[3\] and f32\[\?,4\]"):
        BroadcastLike()(f32(3), f32(None, 4))
    with pytest.raises(
        ShapeError, match=r"f32\[1,2\] does not broadcast to f32\[2\], rank 2 over 1"
    ):
        BroadcastLike()(f32(1, 2), f32(2))
    with pytest.raises(ShapeError, match=r"f32\[2,3\] has 6 elements, f32\[5\] has 5"):
        ReshapeLike()(f32(2, 3), f32(5))
