"""Modules: fields that are parameters, what is found in them, and what counts as a change."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_graph_ir import GraphError, TensorType
from byparts_nn.initialize import ones

X = bp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))


class Scale(nn.Module):
    """y = factor * x + weight, with a plain field and a list of modules."""

    def __init__(self) -> None:
        self.factor = 2.0
        self.weight: Any = nn.Parameter((3,), ones)
        self.layers: Any = []

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.factor * x + self.weight


def test_a_field_reads_as_its_value_and_assigning_is_an_update() -> None:
    """Also of a number, which gets the parameter's dtype; the cell stays."""
    module = Scale()
    cell = module.cell("weight")
    module.weight = module.weight + 1

    assert module.weight.numpy().tolist() == [2, 2, 2]
    module.weight = np.zeros(3)
    assert module.weight.dtype == "f32"
    assert module.cell("weight") is cell


def test_assigning_is_an_update_of_a_compiled_function() -> None:
    """Each call goes on from where the one before ended."""
    module = Scale()

    @bp.compile
    def step(x: Any) -> Any:
        module.weight = module.weight + x[0]
        return module(x)

    step(X)
    assert step(X).numpy().tolist() == [[1, 5, 9], [7, 11, 15]]
    assert module.weight.numpy().tolist() == [1, 3, 5]


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(GraphError, match=r"cell 'weight' is f32\[3\], and cannot become f32\[2\]"):
        Scale().weight = np.zeros(2)


def test_a_traced_value_in_a_plain_field_is_refused() -> None:
    """It would be of no use when the tracing has ended."""
    module = Scale()

    def keep(x: Any) -> Any:
        module.last = x * 2
        return x

    with pytest.raises(GraphError, match=r"Scale.last would keep a value .* f32\[2,3\]; declare"):
        bp.compile(keep)(X)


def test_a_field_may_not_hide_a_method_of_modules() -> None:
    with pytest.raises(GraphError, match="every module has a method 'cells'"):
        Scale().cells = 3  # type: ignore[method-assign, assignment]


def test_a_missing_field_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Scale has no field 'wieght'"):
        Scale().wieght  # noqa: B018


def test_cells_are_found_in_lists_tuples_and_dicts() -> None:
    """By paths; what stands in two places is there once, under the first."""
    shared = nn.Linear(3, 3, bias=False)
    model = nn.Module()
    model.layers = [nn.Linear(3, 2), (shared, {"again": shared, "norm": nn.LayerNorm(3)})]
    model.shift = nn.Parameter((3,))
    model.drop = nn.Dropout(0.5)

    assert list(model.parameters()) == [
        "shift",
        *["layers.0.weight", "layers.0.bias", "layers.1.0.weight"],
        *["layers.1.1.norm.weight", "layers.1.1.norm.bias"],
    ]
    assert list(model.cells())[-2:] == ["drop.random.seed", "drop.random.position"]


def test_a_shared_parameter_is_one() -> None:
    """An update of one module is one of the other; a gradient has both parts."""
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    b.weight = a.cell("weight")
    model = nn.Sequential(a, b)
    a.weight = np.eye(3)

    assert b.weight.numpy().tolist() == np.eye(3).tolist()
    assert list(model.parameters()) == ["layers.0.weight", "layers.0.bias", "layers.1.bias"]
    _, gradients = bp.value_and_grad(lambda m: ops.sum(m(X)))(model)
    assert len(gradients) == 3


def traced_anew(module: nn.Module, change: Any) -> tuple[int, Any]:
    """How many programs a compiled call has after a change, and what it gives."""
    call = bp.compile(lambda x: module(x))
    call(X)
    call(X)
    change(module)
    return call(X), len(call.programs)


CHANGES = {
    "an array": lambda m: setattr(m, "factor", X[0]),
    "a number": lambda m: setattr(m, "factor", 3.0),
    "another type": lambda m: setattr(m, "factor", 2),
    "append": lambda m: m.layers.append(ops.neg),
    "insert": lambda m: m.layers.insert(0, ops.neg),
    "a nested list": lambda m: m.layers.extend([ops.neg, ops.exp]),
    "another parameter": lambda m: setattr(m, "weight", nn.Parameter((3,))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_plain_fields_is_traced_anew(name: str) -> None:
    """The compiled call gives what the module gives."""
    module = Scale()
    y, programs = traced_anew(module, CHANGES[name])

    assert programs == 2
    np.testing.assert_array_equal(y, module(X).numpy())


def test_what_is_no_change_is_not_traced_anew() -> None:
    """A new value of a parameter, an equal number; and another module's fields."""
    module = Scale()

    def change(m: Any) -> None:
        m.weight, m.factor = np.zeros(3), 2.0
        Scale().factor = 5.0

    y, programs = traced_anew(module, change)
    assert programs == 1
    np.testing.assert_array_equal(y, 2 * X.numpy())


def test_freezing_is_seen_by_a_compiled_step() -> None:
    """A frozen weight stays from the next call on; by pattern, and back again."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    optimizer = nn.SGD(0.1)

    @bp.compile
    def step(x: Any) -> Any:
        loss, gradients = bp.value_and_grad(lambda m: ops.mean(m(x)))(model)
        optimizer.update(gradients)
        return loss

    step(X)
    model.freeze(r"^layers\.0")
    before = {path: c.value.numpy().copy() for path, c in model.parameters().items()}
    step(X)
    moved = [p for p, c in model.parameters().items() if (c.value.numpy() != before[p]).any()]
    assert moved == ["layers.1.weight", "layers.1.bias"]
    model.unfreeze()
    assert all(c.trainable for c in model.parameters().values())


def test_a_method_that_reads_fields_is_traced_anew() -> None:
    """Not only `__call__`."""

    class Two(Scale):
        def shifted(self, x: Any) -> Any:
            return x + self.factor

    module = Two()
    call = bp.compile(lambda x: module.shifted(x))
    call(X)
    module.factor = 7.0

    np.testing.assert_array_equal(call(X), X.numpy() + 7)


def test_a_compiled_method_is_traced_anew() -> None:
    """It reads fields of an argument, and calls no method of it."""

    class Two(nn.Module):
        def __init__(self) -> None:
            self.factor: Any = bp.asarray([2.0, 2.0, 2.0])

        @bp.compile
        def step(self, x: Any) -> Any:
            return x * self.factor

    module = Two()
    module.step(X)
    module.factor = bp.asarray([1.0, 0.0, 3.0])

    np.testing.assert_array_equal(module.step(X), X.numpy() * [1, 0, 3])


def test_a_gradient_has_the_dtype_of_its_parameter() -> None:
    """And a mixture is refused with both types."""
    for dtype in ("f32", "f64"):
        layer = nn.Linear(3, 2, dtype=dtype)
        x = bp.asarray(X, dtype=dtype)
        assert {d.dtype for d in bp.grad(lambda m, x: ops.sum(m(x)))(layer, x).values()} == {dtype}
    with pytest.raises(GraphError, match=r"f32.*f64"):
        nn.Linear(3, 2, dtype="f64")(X)


def test_a_copy_is_apart_and_shares_what_was_shared() -> None:
    """Open shapes stay open in the copy, and are found there."""
    model = nn.Sequential(nn.Linear(None, 3), nn.Linear(3, 3))
    model.layers[1].weight = model.layers[1].cell("weight")
    other = copy.deepcopy(model)
    other(X)

    assert model.layers[0].cell("weight").is_open
    np.testing.assert_array_equal(other(X), model(X))  # the same numbers to draw by
    other.layers[0].bias = np.ones(3)
    assert not np.array_equal(other(X), model(X))


def test_a_pickle_gives_the_same_model() -> None:
    """Statistics, positions of random numbers and frozen parameters too."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(), nn.Dropout(0.5), nn.LSTM(None, 2))
    model.layers.pop()
    bp.value_and_grad(lambda m: ops.sum(m(X)))(model)
    model.freeze("bias")
    other = pickle.loads(pickle.dumps(model))

    assert list(other.parameters()) == list(model.parameters())
    assert [c.trainable for c in other.parameters().values()] == [True, False, True, False]
    for path, cell in model.cells().items():
        np.testing.assert_array_equal(other.cells()[path].value, cell.value)


def test_open_shapes_are_found_at_the_first_call() -> None:
    """And by `init`, on types alone; the values are those of the same model with shapes given."""
    nn.seed(3)
    model = nn.Sequential(nn.Linear(None, 4), ops.relu, nn.Linear(None, 2))
    nn.seed(3)
    given = nn.Sequential(nn.Linear(3, 4), ops.relu, nn.Linear(4, 2))
    nn.init(model, TensorType("f32", (5, 3)))

    assert model.layers[2].cell("weight").type == TensorType("f32", (4, 2))
    np.testing.assert_array_equal(model(X), given(X))


def test_open_shapes_are_found_within_a_compiled_step() -> None:
    model = nn.Sequential(nn.Linear(None, 4), nn.BatchNorm(), nn.Linear(None, 2))
    grad = bp.compile(lambda x: next(iter(bp.grad(lambda m: ops.sum(m(x)))(model).values())))

    assert grad(X).shape == (3, 4)


def test_open_shapes_that_nothing_tells_are_named() -> None:
    class Lonely(nn.Module):
        def __init__(self) -> None:
            self.scale: Any = nn.Parameter((None,))

        def __call__(self, x: Any) -> Any:
            return ops.sum(x) * ops.sum(self.scale)

    with pytest.raises(GraphError, match=r"cell 'scale' is f32\[\?\]: nothing that reads it"):
        Lonely()(X)


def test_a_bias_of_an_open_layer_cannot_be_read() -> None:
    """It is drawn by the width of the weight."""
    with pytest.raises(GraphError, match=r"the shape of its weight, f32\[\?,3\], .* init\("):
        nn.Linear(None, 3).bias  # noqa: B018


def test_an_error_names_the_module() -> None:
    """Its path in the whole model, its class, and the types that it was called on."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Residual(nn.Linear(5, 5)))

    with pytest.raises(GraphError, match=r"f32\[2,4\]") as caught:
        model(X)
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "in module 'layers.1.body' (Linear) on (f32[2,4])" in text
    assert text.count("in module") == 1


def test_watching_sees_each_call() -> None:
    """Inner modules first; arguments and results."""
    seen: list[str] = []
    model = nn.Sequential(nn.Linear(3, 2), nn.Flatten())
    with nn.watching(
        lambda m, given, y: seen.append(f"{type(m).__name__} {given[0].shape} {y.shape}")
    ):
        model(X)
    model(X)

    assert seen == ["Linear (2, 3) (2, 2)", "Flatten (2, 2) (2, 2)", "Sequential (2, 3) (2, 2)"]
