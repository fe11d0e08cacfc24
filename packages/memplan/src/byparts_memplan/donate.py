"""Donation: the new value of a variable, written over the old one.

A training step maps old variables to new ones, which live outside the arena.  Where the old value
is dead by the time the new one is written, the new one needs no memory, and no copy afterwards.
The price: a run that fails half way has already changed the variable.  So the caller has to ask.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import Decision, Values, apart, needed

Readers = dict[int, list[int]]  # root -> positions among the inputs of one step


def donations(
    values: Values, external: Container[int], donate: Mapping[int, int]
) -> tuple[dict[int, int], list[Decision]]:
    """Those of `donate` (external input -> output) that are safe, and what was decided on each.

    Raises:
        PlanError: there is no such input or output, or the input lives in the arena.
    """
    graph, taken, decisions = values.graph, {}, []
    writers: dict[int, int] = {}  # root -> the input it is written over
    readers: dict[int, Readers] = {}  # by step: the positions where it reads each root
    for k, j in donate.items():
        if k not in external:
            raise PlanError(f"donate: input {k} is not among the external inputs")
        if not 0 <= j < len(graph.outputs):
            raise PlanError(f"donate: there is no output {j}; the graph has {len(graph.outputs)}")
        target = graph.ids[graph.outputs[j]]
        root = values.root[target]
        reason = _refusal(values, k, target, readers)
        if not reason and root in writers:
            reason = f"the output is written over input {writers[root]}"
        if not reason:
            taken[k], writers[root] = j, k
        decisions.append(Decision("donation", values.born[target], k, target, reason))
    return taken, decisions


def _refusal(values: Values, k: int, target: int, readers: dict[int, Readers]) -> str:
    root, types = values.root[target], values.types
    if root < len(values.graph.inputs):
        return f"the output is the bytes of input {root}, nothing computes it"
    if types[k] != types[target]:
        return f"types differ: {types[k]} and {types[target]}"
    if reason := apart(values, k, root):
        return reason
    if values.size[root] != values.size[target]:
        return f"the output is only a part of %{root}"
    step = values.born[root]
    if values.last[k] > step:
        return needed(values, values.last[k])
    if step not in readers:
        readers[step] = _readers(values, step)
    return forbids(values, step, readers[step].get(k, []), root)


def reads_of(values: Values, step: int, root: int) -> list[int]:
    """Positions among the step's inputs that read the bytes of `root`.  O(inputs of the step)."""
    return _readers(values, step).get(root, [])


def forbids(values: Values, step: int, positions: Sequence[int], root: int) -> str:
    """Why `root` may not be written over what its step reads at these positions; "" if it may."""
    op, output = values.graph.nodes[step].op, root - values.first[step]
    for p in positions:
        v = values.reads[step][p]
        if (p, output) not in values.inplace[step] or values.types[v] != values.types[root]:
            return f"step {step} ({op.name}) reads the old value and may not write over it"
    return ""


def _readers(values: Values, step: int) -> Readers:
    """An optimizer's step reads thousands of variables, each of which asks for its own reads."""
    found: Readers = {}
    ignores = values.graph.nodes[step].op.ignores
    for p, v in enumerate(values.reads[step]):
        if p not in ignores:
            found.setdefault(values.root[v], []).append(p)
    return found
