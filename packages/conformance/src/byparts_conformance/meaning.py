"""Checks the methods of an op against each other, without a backend.

Each function returns a sentence about the first error, or "".  Shape rule, unknown shapes,
decomposition and gradient are compared with `evaluate`; text and JSON with the op itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.cases import Case
from byparts_conformance.compare import difference
from byparts_graph_ir import (
    FLOATS,
    Dimension,
    Graph,
    Input,
    Node,
    Op,
    Sample,
    TensorType,
    Types,
    Value,
    dimension,
    dimension_names,
    from_json,
    nested,
    to_json,
    verify,
)
from byparts_graph_ir.contract import checked
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate

Array = NDArray[Any]

STEP, NEAR = 1e-5, 1e-6  # step of central differences in f64; tolerance of a gradient


def graph_of(case: Case | Sample) -> Graph:
    """A graph of one node with the op of the case."""
    inputs = tuple(Input(t, None, f"x{i}") for i, t in enumerate(case.types))
    return Graph.of(inputs, Node(case.op, inputs).outputs)


@checked
def shape_rule(case: Case) -> str:
    """`evaluate` returns the types that `infer` gives and does not change its inputs."""
    arrays = case.arrays()
    before = [a.copy() for a in arrays]
    with np.errstate(all="ignore"):  # edges overflow
        results = case.op.evaluate(*arrays)
    for i, (a, b) in enumerate(zip(arrays, before, strict=True)):
        if a.tobytes() != b.tobytes():
            return f"evaluate changed its input {i}"
    for i, (got, t) in enumerate(zip(results, case.outputs, strict=True)):
        if not isinstance(got, np.ndarray) or got.shape != t.dims or got.dtype != _dtype(t):
            kind = f"{got.dtype}{list(got.shape)}" if hasattr(got, "dtype") else repr(got)
            return f"output {i} of evaluate is a {type(got).__name__}, {kind}; infer says {t}"
    return ""


@checked
def unknown_shapes(case: Case) -> str:
    """With named or unknown dimensions, or unknown rank, the shape rule gives a true type."""
    for types in (_named(case.types), _unknown(case.types)):
        for got, want in zip(case.op.infer(*types), case.outputs, strict=True):
            if not _true_of(got, want):
                return (
                    f"infer({', '.join(map(str, types))}) says {got}, and static types give {want}"
                )
    if case.types:
        unranked = tuple(TensorType(t.dtype, None) for t in case.types)
        for got, want in zip(case.op.infer_unranked(*unranked), case.outputs, strict=True):
            if not _true_of(got, want):
                return f"infer_unranked says {got}, and static types give {want}"
    return ""


@checked
def round_trips(case: Case) -> str:
    """The text and the JSON of the op load back to an equal op."""
    from byparts_graph_ir.formats.text import parse  # wheels for small devices leave it out

    graph = graph_of(case)
    ops = {n.op.name: type(n.op) for inner in nested(graph) for n in inner.nodes}
    if parse(str(graph), ops) != graph:
        return f"text does not parse back:\n{graph}"
    return "" if from_json(to_json(graph), ops) == graph else "JSON does not load back"


@checked
def decomposition(case: Case) -> str:
    """If the op has a decomposition, it computes the same values."""
    graph = graph_of(case)
    simpler = case.op.decompose(*graph.inputs)
    if simpler is None:
        return ""
    arrays = case.arrays()
    with np.errstate(all="ignore"):
        wants, measure = case.op.evaluate(*arrays), case.measure(arrays)
        results = evaluate(verify(Graph.of(graph.inputs, simpler)), *arrays)
    for i, got in enumerate(results):
        if wrong := difference(got, wants[i], case.outputs[i], measure):
            return f"decomposed, output {i} {wrong}"
    return ""


def differentiable(op: type[Op]) -> bool:
    """Whether the op has a rule for its gradient."""
    return op.gradient is not Op.gradient


Gradient = Callable[[Node, tuple[Value, ...]], tuple[Value | None, ...]]


def _own_gradient(node: Node, dys: tuple[Value, ...]) -> tuple[Value | None, ...]:
    return node.op.gradient(node, *dys)


@checked
def gradient(case: Case, rule: Gradient = _own_gradient) -> str:
    """The gradient rule agrees with central differences in f64, for every float input it covers.

    Args:
        case: the op, and inputs where it is smooth.
        rule: makes the gradients of a node; by default its op's own.
    """
    graph = graph_of(case)
    node = graph.nodes[0]
    dys = tuple(Input(v.type, None, f"dy{i}") for i, v in enumerate(node.outputs))
    floats = tuple(dy for dy in dys if dy.type.dtype in FLOATS)
    if not floats:
        return ""
    gradients = rule(node, dys)
    if len(gradients) != len(node.inputs):
        return f"{len(gradients)} gradients for {len(node.inputs)} inputs"
    covered = [i for i, d in enumerate(gradients) if d is not None]
    wanted = [d for d in gradients if d is not None]
    backward = verify(Graph.of((*graph.inputs, *dys), wanted))
    rng, arrays = np.random.default_rng(1), case.arrays()
    seeds = [rng.uniform(-1, 1, dy.type.dims).astype(_dtype(dy.type)) for dy in dys]
    for i, got in zip(covered, evaluate(backward, *arrays, *seeds), strict=True):
        wrong = _against_differences(case, node, i, got, arrays, seeds)
        if wrong:
            return wrong
    return ""


def _against_differences(
    case: Case, node: Node, i: int, got: Array, arrays: Sequence[Array], seeds: Sequence[Array]
) -> str:
    if got.shape != arrays[i].shape or case.types[i].dtype not in FLOATS:
        return (
            f"the gradient of input {i} is {got.dtype}{list(got.shape)}, the input {case.types[i]}"
        )
    for at in np.ndindex(arrays[i].shape):
        ahead, behind = (_weighed(case, arrays, i, at, s, seeds) for s in (STEP, -STEP))
        want = (ahead - behind) / (2 * STEP)
        if not abs(got[at] - want) <= NEAR * max(1.0, abs(want)):
            return (
                f"the gradient of input {i} at {list(at)} is {got[at]}, and differences give {want}"
            )
    return ""


def _weighed(
    case: Case,
    arrays: Sequence[Array],
    i: int,
    at: tuple[int, ...],
    step: float,
    seeds: Sequence[Array],
) -> float:
    """The sum of seed * output, with one element of input i moved by a step."""
    moved = [a.copy() for a in arrays]
    moved[i][at] += step
    outputs = case.op.evaluate(*moved)
    floats = [
        (y, s) for y, s, t in zip(outputs, seeds, case.outputs, strict=True) if t.dtype in FLOATS
    ]
    return float(sum(np.sum(y.astype("float64") * s) for y, s in floats))


def _named(types: Types) -> Types:
    def name(d: Dimension) -> Dimension:
        return f"d{d}" if isinstance(d, int) and d > 1 else d

    return tuple(TensorType(t.dtype, tuple(map(name, t.dims))) for t in types)


def _unknown(types: Types) -> Types:
    return tuple(TensorType(t.dtype, (None,) * len(t.dims)) for t in types)


def _true_of(said: TensorType, static: TensorType) -> bool:
    """Whether a type inferred from less knowledge holds for the static type."""
    if said.dtype != static.dtype:
        return False
    if said.shape is None:
        return True
    pairs = zip(said.shape, static.dims, strict=False)
    return len(said.shape) == len(static.dims) and all(
        d is None or dimension(d, {name: int(name[1:]) for name in dimension_names(d)}) == n
        for d, n in pairs
    )


def _dtype(t: TensorType) -> Any:
    return numpy_dtype(t.dtype)
