"""Donation: the new value of a variable, written over the old one.

A training step maps old variables to new ones, which live outside the arena.  Where the old value
is dead by the time the new one is written, the new one needs no memory, and no copy afterwards.
The price: a run that fails half way has already changed the variable.  So the caller has to ask.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import Decision, Values, spaces_differ, still_needed
from byparts_memplan.overwrite import overwrite_refusal


def donations(
    values: Values, external: Container[int], donate: Mapping[int, int]
) -> tuple[dict[int, int], list[Decision]]:
    """The donations (external input -> output) that are safe, and what was decided on each.

    Raises:
        PlanError: there is no such input or output, or the input lives in the arena.
    """
    graph, taken, decisions = values.graph, {}, []
    writers: dict[int, int] = {}  # root -> the input it is written over
    for k, j in donate.items():
        if k not in external:
            raise PlanError(f"donate: input {k} is not among the external inputs")
        if not 0 <= j < len(graph.outputs):
            raise PlanError(f"donate: there is no output {j}; the graph has {len(graph.outputs)}")
        target = graph.ids[graph.outputs[j]]
        root = values.root[target]
        reason = _refusal(values, k, target)
        if not reason and root in writers:
            reason = f"the output is written over input {writers[root]}"
        if not reason:
            taken[k], writers[root] = j, k
        decisions.append(Decision("donation", values.born[target], k, target, reason))
    return taken, decisions


def _refusal(values: Values, k: int, target: int) -> str:
    """Why the output `target` may not be written over the external input `k`; "" if it may."""
    root, types = values.root[target], values.types
    if root < len(values.graph.inputs):
        return f"the output is the bytes of input {root}, nothing computes it"
    if types[k] != types[target]:
        return f"types differ: {types[k]} and {types[target]}"
    if values.size[root] != values.size[target]:
        return f"the output is only a part of %{root}"
    return replace_refusal(values, k, root)


def replace_refusal(values: Values, k: int, y: int) -> str:
    """Why `y`, as large as input `k`, may not be computed in its bytes; "" if it may."""
    step = values.born[y]
    if values.last[k] > step:
        return still_needed(values, values.last[k])
    if k in values.readers(step):
        return overwrite_refusal(values, step, k, y)
    return spaces_differ(values, k, y)
