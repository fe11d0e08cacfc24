"""Gradients of functions of arrays, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_graph_ir import ArgumentError, GraphError

X = bp.Array(np.array([[0.3, -0.7], [1.1, 0.2]]))


def f(x: Any) -> Any:
    return ops.sum(ops.tanh(x @ x) * x)


def quotients(function: Any, x: bp.Array) -> np.ndarray[Any, Any]:
    """The gradient by central differences in f64."""
    step, slopes = 1e-6, np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        moved = [np.array(x.numpy()) for _ in range(2)]
        moved[0][at] += step
        moved[1][at] -= step
        up, down = (float(function(bp.Array(m))) for m in moved)
        slopes[at] = (up - down) / (2 * step)
    return slopes


@pytest.mark.parametrize("wrapped", [lambda g: g, lambda g: bp.compile(g, backends=("numpy",))])
def test_the_gradient_is_that_of_differences(wrapped: Any) -> None:
    gradient = wrapped(bp.grad(f))(X)

    np.testing.assert_allclose(gradient.numpy(), quotients(f, X), atol=1e-8)


def test_gradients_nest() -> None:
    second = bp.grad(lambda x: ops.sum(bp.grad(f)(x)))

    expected = quotients(lambda x: ops.sum(bp.grad(f)(x)), X)
    np.testing.assert_allclose(second(X).numpy(), expected, atol=1e-7)
    np.testing.assert_allclose(
        bp.compile(second, backends=("numpy",))(X).numpy(), expected, atol=1e-7
    )


@pytest.mark.parametrize("wrapped", [lambda g: g, lambda g: bp.compile(g, backends=("numpy",))])
def test_forward_mode_agrees_with_reverse_mode(wrapped: Any) -> None:
    direction = bp.Array(np.array([[1.0, 2.0], [-1.0, 0.5]]))
    y, dy = wrapped(lambda x, t: bp.jvp(f, (x,), (t,)))(X, direction)

    assert float(y) == pytest.approx(float(f(X)))
    assert float(dy) == pytest.approx(float((quotients(f, X) * direction.numpy()).sum()), abs=1e-8)


def test_a_pull_gives_a_gradient_for_each_argument() -> None:
    y, pull = bp.vjp(lambda a, b: a @ b, X, X)
    da, db = pull(y)

    np.testing.assert_allclose(da.numpy(), (y.numpy() @ X.numpy().T))
    np.testing.assert_allclose(db.numpy(), (X.numpy().T @ y.numpy()))


def test_the_gradient_has_the_structure_of_the_argument() -> None:
    tree = {"w": [bp.asarray(2.0), bp.asarray(3.0)], "n": bp.asarray(4), "name": "linear"}
    gradient = bp.grad(lambda t: t["w"][0] * t["w"][0] + t["w"][1])(tree)

    assert [float(d) for d in gradient["w"]] == [4, 1]
    assert (gradient["n"], gradient["name"]) == (None, "linear")


def test_what_does_not_reach_the_loss_is_an_error() -> None:
    with pytest.raises(GraphError, match=r"does not depend on argument 0 \(f64\[2,2\]\)"):
        bp.grad(lambda x, y: ops.sum(y))(X, X)
    with pytest.raises(GraphError, match="nothing takes the numbers out, as numpy"):
        bp.grad(lambda x: ops.sum(bp.asarray(x.numpy()) * 2.0))(X)


def test_a_leaf_that_is_not_used_gets_zeros() -> None:
    a, b = bp.grad(lambda pair: ops.sum(pair[0]))((X, X))

    assert a.numpy().tolist() == [[1, 1], [1, 1]]
    assert b.numpy().tolist() == [[0, 0], [0, 0]]


def test_only_a_number_has_a_gradient() -> None:
    with pytest.raises(GraphError, match=r"the loss is f64\[2,2\], and only a single float"):
        bp.grad(lambda x: x * 2.0)(X)
    with pytest.raises(ArgumentError, match=r"argument 0 has no floats to differentiate: i64\[1\]"):
        bp.grad(lambda n: ops.sum(n))(bp.asarray([1]))
    with pytest.raises(ArgumentError, match="wrt=2, and there are 1 arguments"):
        bp.grad(f, 2)(X)


class Model:
    """The least that is differentiated by its cells."""

    def __init__(self) -> None:
        self.w = bp.Cell(np.float32(3), trainable=True, name="w")
        self.mean = bp.Cell(np.float32(0), name="mean")

    def cells(self) -> dict[str, bp.Cell]:
        return {"w": self.w, "mean": self.mean}

    def __call__(self, x: Any) -> Any:
        if bp.training():
            self.mean.value = 0.5 * self.mean.value + 0.5 * x
        return self.w.value * self.w.value * x


def test_a_module_is_differentiated_by_its_cells() -> None:
    """Trainable cells alone; the training mode is on, and what it assigns stays."""
    model = Model()
    y, gradients = bp.value_and_grad(lambda m: m(bp.asarray(2.0)))(model)

    assert (float(y), {c.name: float(d) for c, d in gradients.items()}) == (18, {"w": 12})
    assert (float(model.mean.value), model.w.value.node, model.mean.value.node) == (1, None, None)


def test_a_module_is_differentiated_twice() -> None:
    model = Model()

    def slope(m: Model) -> Any:
        (d,) = bp.value_and_grad(lambda m: m(bp.asarray(2.0)))(m)[1].values()
        return d

    assert float(bp.grad(slope)(model)[model.w]) == 4
    assert float(bp.compile(lambda: bp.grad(slope)(model)[model.w], backends=("numpy",))()) == 4
    assert float(model.w.value) == 3


def test_the_training_mode_can_be_overridden() -> None:
    model = Model()
    with bp.training_mode(False):
        bp.value_and_grad(lambda m: m(bp.asarray(2.0)))(model)
    assert float(model.mean.value) == 0
    with bp.training_mode(True):
        model(bp.asarray(2.0))
    assert float(model.mean.value) == 1


def test_a_compiled_function_inside_a_recorded_one_has_a_gradient() -> None:
    """A program's results remember nothing, so the function itself is called."""
    square = bp.compile(lambda x: x * x, backends=("numpy",))

    assert float(bp.grad(lambda x: square(x) * 3.0)(bp.asarray(2.0))) == 12
