"""Reverse mode over graphs: a gradient is made of ordinary nodes, so it has gradients itself.

A forward sweep marks the nodes on paths from `xs` to `ys`.  A backward sweep applies the gradient
rule (`Op.gradient`) of each marked node and adds contributions to the same value.  Rules of other
nodes are not called, so an op without a gradient elsewhere in the graph does no harm.  This is
NNVM's `Gradient` pass (2016) without its defects: seeds of one y listed twice are added, an output
that gets no gradient is given zeros, and the result of each rule is checked.

Contributions to one value are added one after another, `(a + b) + c`, the one from the reader
nearest to the ys first: the gradient of a weight of an unrolled recurrence is summed from the last
time step to the first, in the order in which the contributions are computed.  A balanced tree would
keep log2(n) contributions alive at once and an n-ary sum all n; this order keeps one, and the
planner lets each sum overwrite the one before.  The price is a chain of n - 1 adds in depth and in
rounding, as in every framework that accumulates.

O(n log n) in the nodes that ys depend on, iterative: depth costs no stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Optional, Union

from byparts_autodiff.errors import GradientError
from byparts_graph_ir import (
    FLOATS,
    GraphError,
    Input,
    Node,
    Op,
    Value,
    add_note,
    compatible,
    inherit,
    producers,
)
from byparts_graph_ir.contract import checked
from byparts_opset import StopGradient, ones_like, zeros_like

Values = Union[Value, Sequence[Value]]
Seeds = Union[Value, Sequence[Optional[Value]], None]
Gradients = dict[Value, Value]  # value -> sum of the contributions to its gradient so far


@checked
def gradients(
    ys: Values,
    xs: Values,
    dys: Seeds = None,
    *,
    unreachable: Literal["error", "zeros"] = "error",
) -> tuple[Value, ...]:
    """The gradient of `sum(dy * y)` over all `ys`, with respect to each of `xs`.

    Args:
        ys: floating point values.  One listed twice counts twice.
        xs: floating point values, inputs or not.
        dys: for each y, the gradient of the quantity to differentiate with respect to that y, of
            the type of y; ones where not given.
        unreachable: for an x that no gradient reaches: "error" raises, "zeros" gives zeros.

    Raises:
        GradientError: a value that carries no gradient, an op in between that has none, a rule
            that gives one of another type than its input, or an x that no gradient reaches: no y
            depends on it, or all ways are cut.
    """
    ys, xs = as_values("ys", ys), as_values("xs", xs)
    grads: Gradients = {}
    for y, dy in zip(ys, _seeds(ys, dys), strict=True):
        _add(grads, y, dy)
    for node in _readers_first(_between(xs, ys)):
        if any(v in grads for v in node.outputs):
            _pull_back(node, grads)
    return tuple(
        grads[x] if x in grads else _missing(i, x, ys, unreachable) for i, x in enumerate(xs)
    )


def as_values(name: str, given: Values) -> tuple[Value, ...]:
    """Return `given` as a tuple of values that carry gradients.

    Raises:
        GradientError: a value is of an integer or bool type.
    """
    values = (given,) if isinstance(given, Value) else tuple(given)
    for i, v in enumerate(values):
        if v.type.dtype not in FLOATS:
            raise GradientError(
                f"gradients: {name}[{i}]{_called(v)} is {v.type}, and only floating point values "
                f"carry a gradient; differentiate what is computed from it after a cast"
            )
    return values


def _seeds(ys: Sequence[Value], dys: Seeds) -> list[Value]:
    given = [None] * len(ys) if dys is None else [dys] if isinstance(dys, Value) else list(dys)
    if len(given) != len(ys):
        raise GradientError(f"gradients: {len(given)} dys for {len(ys)} ys")
    for i, (y, dy) in enumerate(zip(ys, given, strict=True)):
        if dy is not None and not compatible(y.type, dy.type):
            raise GradientError(f"gradients: dys[{i}] is {dy.type} and its y is {y.type}")
    return [ones_like(y) if dy is None else dy for y, dy in zip(ys, given, strict=True)]


def _between(xs: Sequence[Value], ys: Sequence[Value]) -> list[Node]:
    """The nodes through which a gradient may flow from `ys` to `xs`, inputs first."""
    carries = set(xs)
    path = []
    for node in producers(ys):
        if not (carries.isdisjoint(node.inputs) or isinstance(node.op, StopGradient)):
            outputs = [v for v in node.outputs if v.type.dtype in FLOATS]
            if outputs:
                carries.update(outputs)
                path.append(node)
    return path


def _readers_first(path: Sequence[Node]) -> list[Node]:
    """Sort `path` so that readers come first: by the length of the longest path to one of the ys.

    The reverse of `path` would be a valid order too, but in it all products `x[t] @ w` of an
    unrolled recurrence may come after the last time step, so that all their contributions to the
    gradient of `w` would be alive at once.
    """
    reader_distance: dict[Value, int] = {}  # value -> the largest distance of its readers
    distance: dict[Node, int] = {}  # node -> longest path to one of the ys, in nodes
    for node in reversed(path):
        distance[node] = 1 + max([reader_distance.get(v, 0) for v in node.outputs])
        for v in node.inputs:
            reader_distance[v] = max(reader_distance.get(v, 0), distance[node])
    return sorted(distance, key=distance.__getitem__)


def _pull_back(node: Node, grads: Gradients) -> None:
    """Apply the gradient rule of `node` and add its results to the gradients of the inputs."""
    if type(node.op).gradient is Op.gradient:
        raise _placed(node, f"{node.op.name} has no gradient, and one has to pass through it")
    with inherit(node.where):
        dys = [grads[v] if v in grads else zeros_like(v) for v in node.outputs]
        try:
            dxs = node.op.gradient(node, *dys)
        except GradientError:
            raise
        except NotImplementedError as error:
            raise _placed(node, str(error)) from error
        except GraphError as error:
            add_note(error, f"in the gradient of {node.op.name}, created at {node.where}")
            raise
    if len(dxs) != len(node.inputs):
        raise _broken(node, f"gives {len(dxs)} gradients for {len(node.inputs)} inputs")
    for i, (x, dx) in enumerate(zip(node.inputs, dxs, strict=True)):
        if dx is not None and x.type.dtype in FLOATS:
            if not compatible(x.type, dx.type):
                raise _broken(node, f"gives {dx.type} for input {i}, which is {x.type}")
            _add(grads, x, dx)


def _add(grads: Gradients, v: Value, dv: Value) -> None:
    if v not in grads:
        grads[v] = dv
        return
    with inherit(_where(v)):
        grads[v] = grads[v] + dv


def _missing(i: int, x: Value, ys: Sequence[Value], unreachable: str) -> Value:
    if unreachable == "zeros":
        return zeros_like(x)
    if unreachable != "error":
        raise GradientError(f"gradients: unreachable={unreachable!r} is not 'error' or 'zeros'")
    raise GradientError(
        f"gradients: no gradient reaches xs[{i}]{_called(x)} of type {x.type}: {_why(x, ys)}"
    )


def _why(x: Value, ys: Sequence[Value]) -> str:
    """Say why no gradient reaches `x`, and what to do."""
    read = {v for node in producers((x,)) for v in node.inputs}
    later = [i for i, y in enumerate(ys) if y in read]
    if later:
        return f"it is computed from ys[{later[0]}]; swap them, as in gradients(loss, [w])"
    return f"{_obstacle(x, ys)}; unreachable='zeros' gives zeros"


def _obstacle(x: Value, ys: Sequence[Value]) -> str:
    """The first op that stops the gradient, or that no y depends on x, as text."""
    dependent = {x}
    for node in producers(ys):
        if dependent.isdisjoint(node.inputs):
            continue
        if isinstance(node.op, StopGradient) or not any(
            v.type.dtype in FLOATS for v in node.outputs
        ):
            return f"none passes {node.op.name}, created at {node.where}"
        dependent.update(node.outputs)
    return (
        "no y depends on it"
        if len(dependent) == 1
        else "a gradient rule between x and ys returns none for it"
    )


def _placed(node: Node, message: str) -> GradientError:
    types = ", ".join(str(v.type) for v in node.inputs)
    error = GradientError(f"{message}; it is applied to ({types})")
    if node.where:
        add_note(error, f"created at {node.where}")
    return add_note(error, "wrap its input or its result in stop_gradient(...) to cut this path")


def _broken(node: Node, message: str) -> GradientError:
    kind = type(node.op)
    error = GradientError(f"{node.op.name}: its gradient rule {message}")
    return add_note(error, f"this is a mistake in {kind.__module__}.{kind.__qualname__}.gradient")


def _called(v: Value) -> str:
    made = _where(v)
    name = f" {v.name!r}" if isinstance(v, Input) and v.name else ""
    return name + (f" (made at {made})" if made else "")


def _where(v: Value) -> str:
    return v.node.where if v.node is not None else v.where if isinstance(v, Input) else ""
