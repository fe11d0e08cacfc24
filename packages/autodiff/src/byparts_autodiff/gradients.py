"""Reverse mode over graphs: a gradient is made of ordinary nodes, so it has gradients itself.

One sweep forwards marks the nodes between `xs` and `ys`, one sweep backwards asks each of them for
its rule (`Op.gradient`), and contributions that meet are added.  No other node is asked, so an op
without a gradient elsewhere is no obstacle.  This is NNVM's `Gradient` pass (2016) without what
broke it: seeds of one y listed twice are added, an output that gets no gradient is given zeros, and
a rule's result is checked.

Contributions to one value are added as they arrive, `(a + b) + c`, and they arrive from the reader
nearest to the ys first: the weight of an unrolled recurrence sums from the last step of time to the
first, as its gradients come into being, however the step was written.  A balanced tree would keep
log2(n) of them alive at once and an n-ary sum all n; this keeps one, and the planner lets each sum
overwrite the one before.  The price is a chain of n - 1 adds in depth and in rounding, as in every
framework that accumulates.

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
Found = dict[Value, Value]


@checked
def gradients(
    ys: Values,
    xs: Values,
    dys: Seeds = None,
    *,
    unreachable: Literal["zeros", "error"] = "zeros",
) -> tuple[Value, ...]:
    """The gradient of `sum(dy * y)` over all `ys`, with respect to each of `xs`.

    Args:
        ys: floating point values.  One listed twice counts twice.
        xs: floating point values, inputs or not.
        dys: the gradient of something with respect to each y; ones where not given.
        unreachable: what an x gets that no gradient reaches.

    Raises:
        GradientError: a value that carries no gradient, an op in between that has none, a rule
            that gives one of another type than its input, or an x out of reach (on request).
    """
    ys, xs = as_values("ys", ys), as_values("xs", xs)
    found: Found = {}
    for y, dy in zip(ys, _seeds(ys, dys), strict=True):
        _add(found, y, dy)
    for node in _outwards(_between(xs, ys)):
        if any(v in found for v in node.outputs):
            _pull_back(node, found)
    return tuple(
        found[x] if x in found else _missing(i, x, ys, unreachable) for i, x in enumerate(xs)
    )


def as_values(name: str, given: Values) -> tuple[Value, ...]:
    """`given` as a tuple of values that carry gradients.

    Raises:
        GradientError: something is no value, or is of an integer or bool type.
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


def _outwards(path: Sequence[Node]) -> list[Node]:
    """Readers before what they read, those nearest to the ys first: along the longest way there.

    The path backwards would do, but there `x[t] @ w` stands behind all of time if the node that
    reads it has another input that depends on the step before.
    """
    reads: dict[Value, int] = {}  # value -> how far away from the ys its farthest reader is
    away: dict[Node, int] = {}
    for node in reversed(path):
        away[node] = 1 + max([reads.get(v, 0) for v in node.outputs])
        for v in node.inputs:
            reads[v] = max(reads.get(v, 0), away[node])
    return sorted(away, key=away.__getitem__)


def _pull_back(node: Node, found: Found) -> None:
    """Add to `found` what the gradients of a node's outputs make of its inputs."""
    if type(node.op).gradient is Op.gradient:
        raise _placed(node, f"{node.op.name} has no gradient, and one has to pass through it")
    with inherit(node.where):
        dys = [found[v] if v in found else zeros_like(v) for v in node.outputs]
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
            _add(found, x, dx)


def _add(found: Found, v: Value, dv: Value) -> None:
    if v not in found:
        found[v] = dv
        return
    with inherit(_where(v)):
        found[v] = found[v] + dv


def _missing(i: int, x: Value, ys: Sequence[Value], unreachable: str) -> Value:
    if unreachable == "zeros":
        return zeros_like(x)
    if unreachable != "error":
        raise GradientError(f"gradients: unreachable={unreachable!r} is not 'zeros' or 'error'")
    raise GradientError(
        f"gradients: no gradient reaches xs[{i}]{_called(x)} of type {x.type}: {_why(x, ys)}; "
        f"unreachable='zeros' gives zeros"
    )


def _why(x: Value, ys: Sequence[Value]) -> str:
    """The first op on the way from x that no gradient passes, or that there is no way."""
    behind = {x}
    for node in producers(ys):
        if behind.isdisjoint(node.inputs):
            continue
        if isinstance(node.op, StopGradient) or not any(
            v.type.dtype in FLOATS for v in node.outputs
        ):
            return f"none passes {node.op.name}, created at {node.where}"
        behind.update(node.outputs)
    return "no y depends on it" if len(behind) == 1 else "an op on the way gives none for it"


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
