import numpy as np

import byparts as bp
import byparts_conformance as kit
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_numpy import make
from byparts_opset.evaluate import evaluate
from exercise import only

POINTS = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])


def test_meaning(student):
    """Evaluate gives 1 / (1 + (x / width)^2), as a tuple of one array."""
    for width in (1.0, 2.0):
        given, right = student.Bump(width).evaluate(POINTS), 1 / (1 + (POINTS / width) ** 2)
        only("evaluate", given)
        sentence = f"Bump({width}) of {POINTS} is {given[0].round(4)}; right is {right.round(4)}"
        assert np.allclose(given[0], right), sentence


def test_every_dtype(student):
    """The kit finds its types, text and decomposition right on samples of every dtype."""
    only("decompose", student.Bump().decompose(Input(TensorType("f32", (3,)))))
    for check in (kit.shape_rule, kit.unknown_shapes, kit.round_trips, kit.decomposition):
        for case in kit.cases_of(student.Bump):
            wrong = check(case)
            assert not wrong, f"{check.__name__} of {case}: {wrong}"


def test_chain_rule(student):
    """Gradient builds a graph, and multiplies by what comes from behind."""
    x, dy = (Input(TensorType("f64", (5,)), name=name) for name in ("x", "dy"))
    node = student.Bump()(x).node
    try:
        graph = Graph.of([x, dy], only("gradient", node.op.gradient(node, dy)))
    except (TypeError, AttributeError) as error:
        sentence = (
            "gradient builds a graph of ops, as ops.square: there are no numbers yet, for NumPy"
        )
        raise AssertionError(f"{sentence}; yours ends in {type(error).__name__}: {error}") from None
    once, twice = (evaluate(graph, POINTS, np.full(5, n))[0].round(3) for n in (1.0, 2.0))
    sentence = (
        f"dy is a factor of the gradient: for dy = 1 yours is {once}, for twice the dy {twice}"
    )
    assert np.allclose(2 * once, twice, atol=2e-3), sentence


def test_gradient(student):
    """The kit finds that the gradient agrees with finite differences, and NumPy's kernels run it."""
    for case in kit.f64_cases(student.Bump):
        wrong = kit.gradient(case)
        assert not wrong, f"the gradient of {case}: {wrong}"
    for case in kit.cases_of(student.Bump):
        said = kit.kernel_check(make(), case, "plain")
        assert said.startswith(("ok", "via")), f"{case} on NumPy's kernels: {said}"


def test_eager_and_compiled(student):
    """Arrays compute it at once; grad of it, and grad of grad, compile to a program."""

    def slope(x):
        return bp.grad(lambda x: bp.ops.sum(student.Bump(2.0)(x)))(x)

    def curvature(x):
        return bp.grad(lambda x: bp.ops.sum(slope(x)))(x)

    x, y = bp.asarray(POINTS), 1 / (1 + (POINTS / 2) ** 2)
    for f, right in ((slope, -POINTS / 2 * y**2), (curvature, POINTS**2 / 2 * y**3 - y**2 / 2)):
        for how, run in (("at once", f), ("compiled", bp.compile(f, backends=("numpy",)))):
            given = np.asarray(run(x))
            sentence = f"the {f.__name__} of Bump(2.0) at {POINTS}, {how}, is {given.round(4)}"
            assert np.allclose(given, right), f"{sentence}; right is {right.round(4)}"
