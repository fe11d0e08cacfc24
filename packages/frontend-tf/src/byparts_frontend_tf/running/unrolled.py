"""A loop as its rounds, one after the other: states that change their shapes, with gradients.

A body of graph-ir has states of fixed types.  Where they grow, and a gradient is to pass, and the
condition is known before anything runs, each round is lowered by itself, for its own shapes.
Cost: as many operations as the rounds have together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed_inside
from byparts_frontend_tf.running.run import Run
from byparts_frontend_tf.running.signals import OnHost, Wanted
from byparts_graph_ir import FLOATS, Value

_MOST = 2000  # rounds
_FOLDED = 16  # elements of a state that is kept as a number


def gradient_passes(run: Run, op: Operation) -> bool:
    """Whether a gradient of this run passes through `op` to something that it depends on."""
    todo = [t for t in op.outputs if t.dtype.is_floating]
    seen = set(todo)
    while todo:
        for reader in todo.pop().consumers():
            if reader not in run.operations:
                continue
            if reader.type == "SymbolicGradient":
                through = any(t in seen for t in reader.inputs[: reader.attributes["ys"]])
                if through and _reads_any(op, reader.inputs[-len(reader.outputs) :]):
                    return True
                continue
            more = [t for t in reader.outputs if t.dtype.is_floating and t not in seen]
            seen.update(more)
            todo += more
    return False


def _reads_any(op: Operation, wanted: Sequence[Tensor]) -> bool:
    """Whether an operation depends on one of these tensors."""
    seen: set[Tensor] = set()
    todo, targets = list(op.inputs), set(wanted)
    while todo:
        t = todo.pop()
        if t in targets:
            return True
        if t not in seen:
            seen.add(t)
            todo += t.op.inputs
    return False


def unrolled(
    lowering: Lowering, op: Operation, first: Sequence[Any], most: Optional[int]
) -> list[Any]:
    """The results of a loop, round after round.

    Raises:
        OnHost: how many rounds there are is not known, or they write variables.
    """
    counters = dict(lowering.counters)
    try:
        return _rounds(lowering, op, list(first), most)
    except OnHost:
        lowering.counters = counters  # the host's rounds draw, and advance them
        raise


def _rounds(lowering: Lowering, op: Operation, states: list[Any], most: Optional[int]) -> list[Any]:
    for _ in range(_MOST if most is None else most):
        states, more = _round(lowering, op, states)
        if not more:
            return states
    if most is None:
        raise OnHost(op, f"it has more than {_MOST} rounds")
    return states


def _round(lowering: Lowering, op: Operation, states: list[Any]) -> tuple[list[Any], bool]:
    """The states after a round, or the same if there is none."""
    given = op.attributes
    made: list[Operation] = []
    try:
        for tensor, state in zip(given["states"], states, strict=True):
            lowering.env[tensor] = state
        test = _lowered(lowering, op, [given["cond"]], made)[0]
        if not lowering.decided(test):
            raise OnHost(op, "how many rounds it has depends on data")
        if not lowering.test(test):
            return states, False
        return _lowered(lowering, op, given["news"], made), True
    finally:
        for inner in filter(given["body"].holds, made):
            lowering.done.discard(inner)
            lowering.variables.visible.pop(inner, None)
            for tensor in inner.outputs:
                lowering.env.pop(tensor, None)
        for tensor in given["states"]:
            lowering.env.pop(tensor, None)


def _lowered(
    lowering: Lowering, op: Operation, targets: Sequence[Tensor], made: list[Operation]
) -> list[Any]:
    writes = sum(map(len, lowering.variables.writes.values()))
    try:
        lowering.lower_now(needed_inside(targets, lowering.known, op.attributes["body"]), made)
    except Wanted as wanted:  # each try would make other values, and want these
        raise OnHost(made[-1], "what it is depends on data") from wanted
    if sum(map(len, lowering.variables.writes.values())) != writes:
        raise OnHost(op, "its rounds write variables")
    return [_result(lowering, t) for t in targets]


def _result(lowering: Lowering, tensor: Tensor) -> Any:
    rows = lowering.array_of(tensor)
    if rows is not None:
        return rows
    value: Value = lowering.value(tensor)
    if value.type.size <= _FOLDED and value.type.dtype not in FLOATS and lowering.decided(value):
        return ops.constant(lowering.number(value))  # a counter
    return value
