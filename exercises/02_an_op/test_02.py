"""Exercise 2: what the op `Bump` must be."""

import numpy as np

import byparts_eager as bp
import byparts_opset as ops
from byparts_conformance import cases_of, decomposition, f64_cases, gradient, kernel_check
from byparts_conformance import round_trips, shape_rule, unknown_shapes
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_numpy import make
from byparts_opset.evaluate import evaluate

POINTS = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])


def test_meaning(student):
    """Evaluate gives 1 / (1 + (x / width)^2), as a tuple of one array."""
    for width in (1.0, 2.0):
        given = student.Bump(width).evaluate(POINTS)
        assert isinstance(given, tuple) and len(given) == 1, (
            f"evaluate gives {given!r:.60}: make it a tuple of one array, (y,), or use computed"
        )
        right = 1 / (1 + (POINTS / width) ** 2)
        assert np.allclose(given[0], right), (
            f"Bump({width}) of {POINTS} is {given[0].round(4)}; right is {right.round(4)}"
        )


def test_every_dtype(student):
    """The kit finds its types, text and decomposition right on samples of every dtype."""
    for check in (shape_rule, unknown_shapes, round_trips, decomposition):
        for case in cases_of(student.Bump):
            wrong = check(case)
            assert not wrong, f"{check.__name__} of {case}: {wrong}"


def test_chain_rule(student):
    """Gradient builds a graph, and multiplies by what comes from behind."""
    x, dy = (Input(TensorType("f64", (5,)), name=name) for name in ("x", "dy"))
    node = student.Bump()(x).node
    try:
        (dx,) = node.op.gradient(node, dy)
        graph = Graph.of([x, dy], [dx])
    except (TypeError, AttributeError) as error:
        raise AssertionError(
            f"gradient must build a graph out of ops, such as ops.square: there are no numbers yet, so "
            f"NumPy's functions cannot be used; yours ends in {type(error).__name__}: {error}"
        ) from None
    once, twice = (evaluate(graph, POINTS, np.full(5, n))[0] for n in (1.0, 2.0))
    assert np.allclose(2 * once, twice), (
        f"dy is a factor of the gradient: for twice the dy it must be twice as large; yours is {once.round(3)} for dy = 1 "
        f"and {twice.round(3)} for dy = 2"
    )


def test_gradient(student):
    """The gradient agrees with finite differences."""
    for case in f64_cases(student.Bump):
        wrong = gradient(case)
        assert not wrong, f"the gradient of {case}: {wrong}"


def test_kernels(student):
    """NumPy's kernels run what it decomposes into, on every sample."""
    for case in cases_of(student.Bump):
        said = kernel_check(make(), case, "plain")
        assert said == "ok" or said.startswith("via"), f"{case} on NumPy's kernels: {said}"


def test_eager_and_compiled(student):
    """Arrays compute it at once; grad of it, and grad of grad, compile to a program."""
    def slope(x):
        return bp.grad(lambda x: ops.sum(student.Bump(2.0)(x)))(x)

    def curvature(x):
        return bp.grad(lambda x: ops.sum(slope(x)))(x)

    x = bp.asarray(POINTS)
    y = 1 / (1 + (POINTS / 2) ** 2)
    right = {"slope": -POINTS / 2 * y**2, "curvature": POINTS**2 / 2 * y**3 - y**2 / 2}
    for f in (slope, curvature):
        for how, run in (("at once", f), ("compiled", bp.compile(f, backends=("numpy",)))):
            given = np.asarray(run(x))
            assert np.allclose(given, right[f.__name__]), (
                f"the {f.__name__} of Bump(2.0), {how}, is {given.round(4)} at {POINTS}; right is "
                f"{right[f.__name__].round(4)}"
            )
