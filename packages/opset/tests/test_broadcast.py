import pytest

from byparts_graph_ir import Shape, ShapeError, TensorType
from byparts_opset.broadcast import broadcast_shape, broadcast_types, meet_types, normal_axes


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ((3, 1), (4,), (3, 4)),
        ((), (2, 0), (2, 0)),
        ((1,), (0,), (0,)),
        (("n", 3), (3,), ("n", 3)),
        (("n",), ("n",), ("n",)),
        (("n",), ("m",), (None,)),
        (("n",), (5,), (5,)),
        (("n",), (1,), ("n",)),
        ((None,), (None,), (None,)),
        ((None,), (5,), (5,)),
        ((None,), (1,), (None,)),
        (None, (5,), None),
    ],
)
def test_broadcasting_says_what_is_known(x: Shape, y: Shape, expected: Shape) -> None:
    """A number other than 1 decides; unknown beside unknown stays unknown; order is no matter."""
    types = TensorType("f32", x), TensorType("f32", y)

    assert expected == broadcast_shape("add", *types) == broadcast_shape("add", *types[::-1])


def test_numbers_that_differ_do_not_broadcast() -> None:
    """The message has both types and the numbers that meet."""
    with pytest.raises(ShapeError, match=r"^add: .* f32\[2,3\] and f32\[4\], where 3 meets 4$"):
        broadcast_shape("add", TensorType("f32", (2, 3)), TensorType("f32", (4,)))


def test_dtypes_are_not_promoted() -> None:
    """f32 with f64 is an error that names both."""
    with pytest.raises(ShapeError, match=r"^add: dtypes differ: f32\[\] and f64\[\]; cast"):
        broadcast_types("add", TensorType("f32", ()), TensorType("f64", ()))


def test_axes_count_from_the_front() -> None:
    """Negative axes, one axis, none given."""
    assert normal_axes("sum", (-1, 0), 3) == (0, 2)
    assert normal_axes("sum", 1, 3) == (1,)
    assert normal_axes("sum", None, 3) == (0, 1, 2)


@pytest.mark.parametrize(
    ("axes", "message"),
    [((3,), "sum: axis 3 is out of range for rank 3"), ((0, -3), r"sum: axes \(0, -3\) name one")],
)
def test_wrong_axes_are_refused(axes: tuple[int, ...], message: str) -> None:
    """Out of range, or one axis twice."""
    with pytest.raises(ShapeError, match=message):
        normal_axes("sum", axes, 3)


def test_meeting_types_add_up() -> None:
    """Each gives what it knows."""
    met = meet_types("op", TensorType("f32", ("n", None)), TensorType("f32", (2, "m")))

    assert TensorType("f32", (2, "m")) == met
