import numpy as np
import pytest
from numeric import call, check_gradient, run, slopes

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.reduce import (
    LogSumExp,
    Max,
    Mean,
    Min,
    Sum,
    all,
    any,
    logsumexp,
    max,
    mean,
    min,
    sum,
)

INF = np.inf


def value(dtype: str, *shape: int | str | None) -> Input:
    return Input(TensorType(dtype, shape))


def test_nn_inf_reduce() -> None:
    """NNVM's seven cases; all axes give 0-d, where NNVM gave (1,)."""
    x, y = value("f32", 4, 5), value("f32", 4, 5, 10)

    assert sum(x).type.shape == ()
    assert sum(x, keepdims=True).type.shape == (1, 1)
    assert sum(x, 1).type.shape == (4,)
    assert sum(x, 0, keepdims=True).type.shape == (1, 5)
    assert sum(y, (0, 1)).type.shape == (10,)
    assert sum(y, (1, 2), keepdims=True).type.shape == (4, 1, 1)
    assert sum(y, -2).type.shape == (4, 10)


def test_axes_are_written_one_way() -> None:
    """Negative ones and all of them, when built and once the rank is known."""
    x = Input(TensorType("f32", None))
    graph = Graph.of((x,), [Sum((-1, 0))(x)])

    assert Sum((0, 2)) == sum(value("f32", 2, 3, 4), (-1, 0)).node.op  # type: ignore[union-attr]
    assert Sum(None) == sum(value("f32", 2), 0).node.op  # type: ignore[union-attr]
    assert [Sum((0, 2))] == [n.op for n in specialize(graph, [value("f32", 2, 3, 4).type]).nodes]
    assert [Sum(None)] == [n.op for n in specialize(graph, [value("f32", 2, 3).type]).nodes]


def test_no_axes_is_nothing() -> None:
    """`()` is none of the axes, not all."""
    x = value("f32", 2, 3)

    assert (x,) == specialize(Graph.of((x,), [sum(x, ())]), [None]).outputs


def test_what_unknown_shapes_leave_known() -> None:
    """A symbol stays; all of an unknown rank is still 0-d."""
    assert sum(value("f32", "n", 3), 1).type.shape == ("n",)
    assert sum(value("f32", "n", None), 0, keepdims=True).type.shape == (1, None)
    assert sum(Input(TensorType("f32", None))).type.shape == ()


def test_sums_keep_their_dtype() -> None:
    """200 + 100 is 44 in u8, as addition has it."""
    assert np.uint8(44) == call(sum, np.array([200, 100], np.uint8))


def test_half_types_accumulate_in_f32() -> None:
    """In f16 itself 2048 + 1 is 2048."""
    assert np.float16(4096) == call(sum, np.ones(4096, np.float16))
    assert np.float16(10) == call(mean, np.full(60000, 10, np.float16))


@pytest.mark.parametrize("shape", [(3,), ("n",)])
def test_gradient_of_a_mean_of_many_halves(shape: tuple[int | str, ...]) -> None:
    """70000 is no f16, and its reciprocal is one."""
    x, dy = value("f16", *shape), value("f16")
    (dx,) = Mean().gradient(mean(x).node, dy)  # type: ignore[arg-type]
    graph = specialize(Graph.of((x, dy), [dx]), [x.type, None])  # type: ignore[list-item]
    count = 3 if shape == (3,) else 70000

    (found,) = run(graph, np.ones(count, np.float16), np.float16(7))

    np.testing.assert_allclose(found, 7 / count, rtol=5e-3)


def test_reductions_of_nothing() -> None:
    """Each has its neutral element, mean has nan; nothing warns."""
    nothing = np.zeros((0, 2), np.float32)

    np.testing.assert_array_equal(call(lambda x: sum(x, 0), nothing), [0, 0])
    np.testing.assert_array_equal(call(lambda x: mean(x, 0), nothing), [np.nan, np.nan])
    np.testing.assert_array_equal(call(lambda x: logsumexp(x, 0), nothing), [-INF, -INF])
    assert not call(any, nothing > 0)
    assert call(all, nothing > 0)


@pytest.mark.parametrize("function", [max, min])
def test_there_is_no_extreme_of_nothing(function: type) -> None:
    """Refused where the size is known, and where it turns out."""
    empty = np.zeros((0, 2), np.float32)

    with pytest.raises(
        ShapeError, match=r"there is none of no elements: x is f32\[0,2\], over axes"
    ):
        function(value("f32", 0, 2), 0)
    with pytest.raises(ShapeError, match=r"there is none of no elements: x is f32\[0,2\]"):
        function(value("f32", "n", 2), 0).node.op.evaluate(empty)
    assert function(value("f32", 0, 2), 1).type.shape == (0,)


def test_extremes_pass_nan_on() -> None:
    """As NumPy does, and TensorFlow."""
    assert np.isnan(call(max, np.array([1, np.nan, 2], np.float32)))
    assert np.isnan(call(min, np.array([1, np.nan, 2], np.float32)))


def test_equal_extremes_share_the_gradient() -> None:
    """A mask of the input, by what it adds up to (NNVM took it of dy: defect N4)."""
    x, dy = value("f32", 2, 3), value("f32", 2)
    (dx,) = Max((1,)).gradient(max(x, 1).node, dy)  # type: ignore[arg-type]

    (found,) = run(
        Graph.of((x, dy), [dx]),  # type: ignore[list-item]
        np.array([[5, 1, 5], [2, 3, 1]], np.float32),
        np.array([2, -7], np.float32),
    )

    np.testing.assert_array_equal(found, [[1, 0, 1], [0, -7, 0]])


@pytest.mark.parametrize(("axes", "expected"), [((1,), [[0, 1, 0], [1, 0, 0]]), (None, [1])])
def test_the_first_of_equal_extremes_gets_the_gradient(
    axes: tuple[int, ...] | None, expected: list[object]
) -> None:
    """Where that is asked for: torch's maximum along an axis."""
    x = np.array([[1.0, 3, 3], [2, 2, 2]]) if axes else np.array([5.0])

    np.testing.assert_array_equal(expected, slopes(Max(axes, first=True), x)[0])
    np.testing.assert_array_equal(expected, slopes(Min(axes, first=True), -x)[0])


def test_the_first_of_all_equal_extremes() -> None:
    """Counted through all axes."""
    (dx,) = slopes(Max(first=True), np.ones((2, 2)))

    np.testing.assert_array_equal([[1, 0], [0, 0]], dx)


def test_the_first_of_several_axes_is_refused() -> None:
    """There is no order of axes that says which is first."""
    with pytest.raises(ShapeError, match=r"max: first is of one axis or of all, got axes \(0, 1\)"):
        Max((0, 1), first=True)


def test_logsumexp_neither_overflows_nor_forgets() -> None:
    """exp(1000) is inf, exp(-1000) is 0."""
    for far in (1000.0, -1000.0):
        x = np.array([far, far], np.float32)
        np.testing.assert_allclose(call(logsumexp, x), far + np.log(2), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "y"), [([-INF, 0], 0), ([-INF, -INF], -INF), ([INF, 1], INF), ([np.nan, 1], np.nan)]
)
def test_logsumexp_of_infinities(x: list[float], y: float) -> None:
    """Whole and in parts."""
    v = value("f32", 2)
    parts = Graph.of((v,), LogSumExp().decompose(v) or ())

    assert np.array_equal(y, call(logsumexp, np.array(x, np.float32)), equal_nan=True)
    with np.errstate(all="ignore"):
        assert np.array_equal(y, run(parts, np.array(x, np.float32))[0], equal_nan=True)


def test_gradient_of_logsumexp_where_all_is_minus_infinite() -> None:
    """Masked-out rows give 0, not nan."""
    x, dy = value("f32", 2, 2), value("f32", 2)
    (dx,) = LogSumExp((1,)).gradient(logsumexp(x, 1).node, dy)  # type: ignore[arg-type]

    rows = np.array([[-INF, -INF], [-INF, 3]], np.float32)
    (found,) = run(Graph.of((x, dy), [dx]), rows, np.ones(2, np.float32))  # type: ignore[list-item]

    np.testing.assert_array_equal(found, [[0, 0], [0, 1]])


@pytest.mark.parametrize("op", [Sum((0, -1)), Mean((1,), True), Max((-1,)), Min((0,), True)])
def test_gradients_where_the_rank_is_unknown(op: Sum | Mean | Max | Min) -> None:
    """Axes are put back before anything is broadcast."""
    check_gradient(op, np.random.default_rng(1).normal(size=(2, 3, 4)), unranked=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: mean(value("i32", 3)),
            r"mean: takes floats, got i32\[3\]; cast\(x, 'f32'\) first",
        ),
        (lambda: sum(value("bool", 3)), r"sum: bool has no arithmetic, got bool\[3\]; use any or"),
        (lambda: any(value("f32", 3)), r"any: takes bools, got f32\[3\]; compare first"),
        (lambda: sum(value("f32", 3), 1), r"sum: axis 1 is out of range for rank 1"),
        (lambda: sum(value("f32", 3, 3), (0, -2)), r"sum: axes \(0, -2\) name one axis twice"),
    ],
)
def test_refusals(make: type, message: str) -> None:
    """Each says what it got."""
    with pytest.raises(ShapeError, match=message):
        make()


def test_the_first_of_equal_extremes_where_shapes_are_unknown() -> None:
    """Along each axis and through all of them."""
    x = np.array([[1.0, 3, 2], [3, 0, -1]])

    check_gradient(Max((0,), first=True), x, unranked=True)
    check_gradient(Min((-1,), True, first=True), x, unranked=True)
    check_gradient(Max(first=True), x + np.arange(6).reshape(2, 3) / 7, unranked=True)
