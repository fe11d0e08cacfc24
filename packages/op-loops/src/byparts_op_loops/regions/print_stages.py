"""Prints the stages of a region for people: the text of `explain(stages=True)`.

layout     axes a0: 4, a1: 20
  %1[a0] = sum(%0[a0, a1])
  %2[a0, a1] = div(%0[a0, a1], %1[a0])
steps
  t0[] = sum of %0 over a1
  out0[a0, a1] = %2
loops
  for a0 of 4
    for a1 of 20: t0
    for a1 of 20: out0
in place   in0 and out0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from byparts_graph_ir import Value
from byparts_op_loops.movement import Place
from byparts_op_loops.regions.nest import Item, Nest
from byparts_op_loops.regions.steps import Step, Steps
from byparts_tensor_ir.statement import Func


def printed(nest: Nest, func: Func, pairs: Sequence[tuple[int, int]]) -> str:
    """The results of the stages of a region, one below the other, and the function."""
    dims = nest.steps.layout.dims
    axes = ", ".join([f"a{a}: {n}" for a, n in enumerate(dims)])
    ends = ", ".join([f"in{i} and out{o}" for i, o in pairs])
    return "\n".join(
        [
            f"layout     axes {axes}",
            *_layout_lines(nest.steps),
            "steps",
            *[f"  {_step(nest, s)}" for s in nest.steps.order],
            "loops",
            *_loop_lines(nest, nest.body, "  "),
            f"in place   {ends or 'no pair'}",
            str(func),
        ]
    )


def _layout_lines(steps: Steps) -> Iterator[str]:
    """A line for each part of each node: what it reads, and where its result lies."""
    for n, parts in steps.layout.parts.items():
        for p in parts:
            reads = [f"{_name(steps, n.inputs[i])}{_at(read)}" for i, read in p.reads]
            value = f"{n.op.name}({', '.join(reads)})" if reads else str(p.value)
            yield f"  {_name(steps, n.outputs[0])}{_at(p.write)} = {value}"


def _step(nest: Nest, s: Step) -> str:
    """A step: where it stores, what, and over which axes it combines."""
    steps = nest.steps
    place = f"[{', '.join([f'a{a}' for a in nest.kept[s]])}]" if not s.outputs else _at(s.write)
    if not isinstance(s.value, Value):
        return f"{_target(steps, s)}{place} = {s.value}"
    if s.rule is None:
        return (
            f"{_target(steps, s)}{place} = {_name(steps, s.value)}{_at(s.read) if s.read else ''}"
        )
    node = steps.producers[s.value]
    over = ", ".join([f"a{a}" for a in s.over])
    return (
        f"{_target(steps, s)}{place} = {node.op.name} of {_name(steps, node.inputs[0])} over {over}"
    )


def _loop_lines(nest: Nest, items: Sequence[Item], indent: str) -> Iterator[str]:
    """The loops, one in the other, and the names of what the steps store."""
    for item in items:
        if isinstance(item, Step):
            yield f"{indent}{_target(nest.steps, item)}"
            continue
        head = f"{indent}for a{item.axis} of {nest.steps.layout.dims[item.axis]}"
        if len(item.body) == 1 and isinstance(item.body[0], Step):
            yield f"{head}: {_target(nest.steps, item.body[0])}"
        else:
            yield head
            yield from _loop_lines(nest, item.body, f"{indent}  ")


def _target(steps: Steps, s: Step) -> str:
    """The name of a buffer of its own, or those of outputs."""
    if not s.outputs:
        return f"t{list(steps.makers.values()).index(s)}"
    return ", ".join([f"out{o}" for o in s.outputs])


def _name(steps: Steps, v: Value) -> str:
    return f"%{steps.graph.ids[v]}"


def _at(place: Place) -> str:
    """The indices of a place: `[a0, 2 * a1 + 4]`."""
    indices = []
    for offset, terms in place:
        words = [f"a{axis}" if step == 1 else f"{step} * a{axis}" for axis, step in terms]
        words += [str(offset)] if offset or not words else []
        indices.append(" + ".join(words))
    return f"[{', '.join(indices)}]"
