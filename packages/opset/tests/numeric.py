"""Interprets graphs by `evaluate`, and checks gradients by central differences in f64."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FLOATS, Graph, Input, Node, Op, TensorType, Types, Value
from byparts_opset import OPS, gradient_by_decomposition, ones_like
from byparts_opset.dtypes import dtype_name

Array = NDArray[Any]
T = TypeVar("T")


def ops_of(*modules: str) -> list[type[Op]]:
    """The ops that these modules define."""
    return [op for op in OPS.values() if op.__module__.partition(".")[2] in modules]


def run(graph: Graph, *arrays: Array) -> tuple[Array, ...]:
    """The outputs of `graph`, by the meaning of its ops; checks every output against its type."""
    known: dict[Value, Array] = dict(zip(graph.inputs, map(np.asarray, arrays), strict=True))
    for node in graph.nodes:
        outputs = node.op.evaluate(*(known[v] for v in node.inputs))
        for v, y in zip(node.outputs, outputs, strict=True):
            check_type(node.op, v.type, y)
            known[v] = y
    return tuple(known[v] for v in graph.outputs)


def call(function: Any, *arrays: Array) -> Array:
    """A function of values on arrays: static inputs, one output."""
    inputs = [Input(type_of(np.asarray(a))) for a in arrays]
    (y,) = run(Graph.of(inputs, [function(*inputs)]), *arrays)
    return y


def present(x: T | None) -> T:
    """What is there: the node of a value, a gradient, a decomposition."""
    assert x is not None
    return x


def type_of(x: Array, prefix: str | None = None) -> TensorType:
    """The type of an array; with a prefix, every dimension is a symbol of that prefix."""
    shape = x.shape if prefix is None else tuple(f"{prefix}{i}" for i in range(x.ndim))
    return TensorType(dtype_name(x.dtype), shape)


def check_type(op: Op, expected: TensorType, y: Any) -> None:
    """`evaluate` gave an array of the dtype and, as far as known, of the shape that was inferred."""
    assert isinstance(y, np.ndarray), f"{op}: evaluate gave a {type(y).__name__}"
    assert expected.dtype == dtype_name(y.dtype), f"{op}: inferred {expected}, got {y.dtype}"
    if expected.shape is not None:
        assert len(expected.shape) == y.ndim, f"{op}: inferred {expected}, got shape {y.shape}"
        same = [
            not isinstance(d, int) or d == n for d, n in zip(expected.shape, y.shape, strict=True)
        ]
        assert all(same), f"{op}: inferred {expected}, got shape {y.shape}"


def check_gradient(
    op: Op,
    *arrays: Any,
    symbolic: bool = True,
    unranked: bool = False,
    step: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> None:
    """The op's gradient is that of central differences: on static types, on symbolic ones, on any.

    Float arrays are taken as f64.  Inputs whose gradient is `None` must be no floats, or flat.
    """
    given = [np.asarray(a) for a in arrays]
    given = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in given]
    kinds = [[type_of(a) for a in given]]
    if symbolic:
        kinds.append([type_of(a, f"d{i}_") for i, a in enumerate(given)])
    if unranked:
        kinds.append([TensorType(dtype_name(a.dtype), None) for a in given])
    expected, weights = _differences(op, given, step), _weights(op, given)
    for types in kinds:
        for i, (dx, want) in enumerate(
            zip(_gradients(op, types, given, weights), expected, strict=True)
        ):
            message = f"{op}, gradient of input {i} of {', '.join(map(str, types))}"
            np.testing.assert_allclose(dx, want, rtol=rtol, atol=atol, err_msg=message)


def slopes(op: Op, *arrays: Array) -> list[Array]:
    """The gradient of the sum of all outputs with respect to each input."""
    given = [np.asarray(a) for a in arrays]
    ones = [np.ones(y.shape, y.dtype) for y in op.evaluate(*given)]
    return _gradients(op, [type_of(a) for a in given], given, ones)


class Function(Op):
    """A function of values as an op, whose gradient is that of what it is made of."""

    function: Any

    def infer(self, *types: TensorType) -> Types:
        return (self.function(*map(Input, types)).type,)

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        return (call(self.function, *arrays),)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return gradient_by_decomposition(node, *dys)

    def decompose(self, *inputs: Value) -> tuple[Value, ...]:
        return (self.function(*inputs),)


def slope_of(function: Any) -> Any:
    """The gradient of the sum of a function of one value, as a function of values."""

    def slope(x: Value) -> Value:
        y = Function(function)(x)
        (dx,) = gradient_by_decomposition(present(y.node), ones_like(y))
        return present(dx)

    return slope


def _gradients(
    op: Op, types: list[TensorType], arrays: list[Array], weights: list[Array]
) -> list[Array]:
    """The gradient graph, run; zeros where the op says there is no gradient."""
    inputs = tuple(Input(t) for t in types)
    node = Node(op, inputs)
    heads = [Input(v.type) for v in node.outputs]
    gradients = node.op.gradient(node, *heads)
    assert len(gradients) == len(inputs), f"{op}: {len(gradients)} gradients, {len(inputs)} inputs"
    asked = [g for g in gradients if g is not None]
    found = iter(run(Graph.of((*inputs, *heads), asked), *arrays, *weights))
    result = []
    for g, v, x in zip(gradients, inputs, arrays, strict=True):
        dx = np.zeros(x.shape) if g is None else next(found)
        assert g is None or g.type.dtype == v.type.dtype, f"{op}: gradient {g} of input {v}"
        assert dx.shape == x.shape, f"{op}: gradient of shape {dx.shape} for input {x.shape}"
        result.append(dx)
    return result


def _differences(op: Op, arrays: list[Array], step: float) -> list[Array]:
    weights = _weights(op, arrays)
    result = []
    for i, x in enumerate(arrays):
        slopes = np.zeros(x.shape)
        if dtype_name(x.dtype) in FLOATS:
            for at in np.ndindex(x.shape):
                sides = []
                for sign in (1, -1):
                    moved = x.copy()
                    moved[at] += sign * step
                    sides.append(_weighed(op, [*arrays[:i], moved, *arrays[i + 1 :]], weights))
                slopes[at] = (sides[0] - sides[1]) / (2 * step)
        result.append(slopes)
    return result


def _weighed(op: Op, arrays: list[Array], weights: list[Array]) -> float:
    outputs = op.evaluate(*arrays)
    return float(
        sum((y * w).sum() for y, w in zip(outputs, weights, strict=True) if y.dtype.kind == "f")
    )


def _weights(op: Op, arrays: list[Array]) -> list[Array]:
    """One fixed random number for each output element."""
    random = np.random.default_rng(7)
    return [
        np.asarray(random.uniform(0.5, 1.5, y.shape)).astype(y.dtype) for y in op.evaluate(*arrays)
    ]
