"""Operations that a fetch needs, in an order in which they can run."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from byparts_frontend_tf.graph.operation import Operation, Tensor


def needed(
    targets: Iterable[Tensor | Operation], given: Container[Any], body: Any = None
) -> list[Operation]:
    """The operations of `body` that targets depend on, older ones first.  O(operations needed).

    Args:
        targets: tensors and operations.
        given: tensors that are fed, and operations that are done.
        body: the branch or loop they are in; what is in another one is left out.
    """
    seen: set[Operation] = set()
    todo: list[Operation] = []
    for target in targets:
        if target in given:
            continue
        op = target if isinstance(target, Operation) else target.op
        if op.body is body and op not in given and op not in seen:
            seen.add(op)
            todo.append(op)
    later = False
    while todo:
        op = todo.pop()
        for t in op.inputs:
            if t.op not in seen and t not in given and t.op not in given and t.op.body is body:
                seen.add(t.op)
                todo.append(t.op)
        for c in op._control_inputs:
            later = later or c.number > op.number
            if c not in seen and c not in given and c.body is body:
                seen.add(c)
                todo.append(c)
    if later:
        return _sorted(seen)
    return sorted(seen, key=lambda op: op.number)


def needed_inside(
    targets: Iterable[Tensor | Operation], given: Container[Any], body: Any
) -> list[Operation]:
    """Find operations of a body as `needed`, and those outside that gradients in it go through."""
    found = needed(targets, given, body)
    through: dict[Operation, None] = {}
    for op in found:
        if op.type == "SymbolicGradient":
            through.update(dict.fromkeys(_between(op, found)))
    return [*[op for op in through if op not in given], *found]


def _between(gradient: Operation, inside: Iterable[Operation]) -> list[Operation]:
    """The operations outside of a body between the xs and the ys of a gradient in it."""
    own = set(inside)
    xs = {_source(t) for t in gradient.inputs[-len(gradient.outputs) :]}
    seen: set[Operation] = set()
    todo = [t.op for t in gradient.inputs]
    while todo:
        op = todo.pop()
        if op not in seen:
            seen.add(op)
            todo += [t.op for t in op.inputs]
    reached: set[Any] = set(xs)
    path = []
    for op in sorted(seen, key=lambda op: op.number):
        if op.kind.gradient and any(_source(t) in reached for t in op.inputs):
            reached.update([_source(t) for t in op.outputs])
            if op not in own and op is not gradient:
                path.append(op)
    return path


def _source(t: Tensor) -> Any:
    return t if t.variable is None else t.variable


def _sorted(found: set[Operation]) -> list[Operation]:
    """In an order of dependence: an operation was made to wait for a younger one."""
    order: dict[Operation, None] = {}
    for first in sorted(found, key=lambda op: op.number):
        todo = [(first, False)]
        while todo:
            op, ready = todo.pop()
            if ready:
                order[op] = None
            elif op not in order:
                todo.append((op, True))
                before = [t.op for t in op.inputs] + list(op._control_inputs)
                todo += [(b, False) for b in reversed(before) if b in found and b not in order]
    return list(order)
