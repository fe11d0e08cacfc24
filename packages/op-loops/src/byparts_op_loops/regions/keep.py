"""Decides which values of a region are stored because several loops would compute them again.

A value is kept where it is dear, or where its elements are read far from each other: the columns of
a matrix that is transposed, say.
"""

from __future__ import annotations

from byparts_graph_ir import Value
from byparts_op_loops.elementwise import cost
from byparts_op_loops.movement import movement
from byparts_op_loops.reduction import reduction
from byparts_op_loops.regions.nest import Nest
from byparts_op_loops.regions.steps import Step, Steps


def values_to_keep(nest: Nest, dear: int) -> frozenset[Value]:
    """The values that are dear and would be computed in several loops, always at one place.

    Args:
        nest: the loops in which nothing is kept yet.
        dear: additions an element.
    """
    steps = nest.steps
    uses: dict[Value, set[int]] = {}
    for s, path in nest.paths.items():
        loop = id(path[-1]) if path else 0
        for v in _written_into(steps, s):
            uses.setdefault(v, set()).add(loop)
    moved = steps.layout.moved
    shared = {v for v, loops in uses.items() if len(loops) > 1 and v not in moved}
    shared -= steps.makers.keys()
    return frozenset(
        _last_of_chain(steps, v, shared)
        for v in shared
        if cost(type(steps.producers[v].op)) >= dear or _strides(steps, v)
    )


def _written_into(steps: Steps, s: Step) -> list[Value]:
    """The elementwise values whose expressions s contains."""
    written: dict[Value, None] = {}
    todo = [s.value] if isinstance(s.value, Value) and not s.rule else steps.sources(s)
    while todo:
        v = todo.pop()
        if v in written or v not in steps.producers or (v in steps.makers and v is not s.value):
            continue
        if type(steps.producers[v].op) in reduction:
            continue
        written[v] = None
        todo += steps.producers[v].inputs
    return list(written)


def _last_of_chain(steps: Steps, v: Value, shared: set[Value]) -> Value:
    """Follow v to the last value made from it alone: to keep that one spares more than v."""
    nodes = steps.graph.nodes
    readers = {n.outputs[0] for n in nodes if v in n.inputs}
    while len(readers) == 1 and readers <= shared:
        (y,) = readers
        if y.type.shape != v.type.shape or v in steps.graph.outputs:
            break
        v, readers = y, {n.outputs[0] for n in nodes if y in n.inputs}
    return v


def _strides(steps: Steps, v: Value) -> bool:
    """Whether elements side by side in v are read far from each other."""
    (part,) = steps.layout.parts[steps.producers[v]]
    if steps.producers[v].op not in movement or not part.write:
        return False
    if len(part.reads) != 1:  # of padding around nothing, none
        return False
    ((_, read),) = part.reads
    return not read or read[-1].steps != part.write[-1].steps
