"""Steps: which stores a region has, before loops are put around them.

A step is each output, each reduction, and each value that is kept because several loops need it.
All else is written into the expressions that read it, at the index at which they do.  So what is
sliced or transposed is never there as a whole, and what is put together of parts is some steps that
store into one buffer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

import byparts_opset as ops
from byparts_graph_ir import Graph, Node, Refused, Value
from byparts_op_loops.movement import Place, movement
from byparts_op_loops.reduction import Reduced, reduction
from byparts_op_loops.regions.axes import is_reshape_of_ones
from byparts_op_loops.regions.layout import Axes, Layout


@dataclass(frozen=True, eq=False)
class Step:
    """A store: an element of `value`, or a number, for all of `axes`, combined over `over`.

    Attributes:
        write: where in the outputs, or in a buffer of its own.
        outputs: the numbers of the outputs that it stores into.
        read: which element of the value.
        copies: whether the value is stored as another step, or the caller, has it.
    """

    value: Value | Union[int, float]
    axes: Axes
    write: Place
    outputs: tuple[int, ...] = ()
    over: Axes = ()
    rule: Reduced | None = None
    read: Place = ()
    copies: bool = False


@dataclass(frozen=True, eq=False)
class Steps:
    """The stores of a region.

    Attributes:
        graph: the region.
        layout: its axes.
        producers: value -> the node that makes it.
        order: the steps, in the order of the nodes.
        makers: value that is read from memory -> the step that makes it.
        needs: step -> the steps whose results it reads.
    """

    graph: Graph
    layout: Layout
    producers: Mapping[Value, Node]
    order: tuple[Step, ...]
    makers: Mapping[Value, Step]
    needs: Mapping[Step, tuple[Step, ...]]

    def sources(self, s: Step) -> list[Value]:
        """The values that s reads or computes first."""
        if not isinstance(s.value, Value):
            return []
        return [s.value] if s.copies else list(self.producers[s.value].inputs)


def steps_of(graph: Graph, layout: Layout, kept: frozenset[Value] = frozenset()) -> Steps:
    """The steps of a region in which the values of `kept` are stored.

    Raises:
        Refused: a value is stored, and read at another place than its own.
    """
    order: list[Step] = []
    makers: dict[Value, Step] = {}
    for n in graph.nodes:
        (y,) = n.outputs
        outputs = tuple([o for o, v in enumerate(graph.outputs) if v is y])
        steps = _steps_of(n, outputs, layout, kept)
        if steps and y not in layout.put_together:
            makers[y] = steps[0]
        order += steps
    for o, v in enumerate(graph.outputs):
        if v in graph.inputs:
            place = _place_of(v, layout)
            order.append(_copy(v, place, place, (o,)))
    producers = {v: n for n in graph.nodes for v in n.outputs}
    steps_alone = Steps(graph, layout, producers, tuple(order), makers, {})
    needs = {s: _needs(steps_alone, s) for s in order}
    return Steps(graph, layout, producers, tuple(order), makers, needs)


def _steps_of(
    n: Node, outputs: tuple[int, ...], layout: Layout, kept: frozenset[Value]
) -> list[Step]:
    """The steps that make the result of a node, or store it into these outputs."""
    (y,) = n.outputs
    first = layout.parts[n][0]
    reduces = type(n.op) in reduction
    if (outputs or reduces) and y in layout.moved:
        raise Refused(f"{n.op.name} is stored, and read at another place")
    if reduces:
        whole = axes_of(first.reads[0][1])
        over = tuple([a for a in whole if a not in axes_of(first.write)])
        total = Step(y, whole, first.write, (), over, reduction[n.op](n.op))
        return [total, *([_copy(y, first.write, first.write, outputs)] if outputs else [])]
    if y in layout.put_together:
        return [
            _copy(n.inputs[p.reads[0][0]], p.write, p.reads[0][1], outputs)
            if p.reads
            else Step(p.value, axes_of(p.write), p.write, outputs)
            for p in layout.parts[n]
        ]
    stored = bool(outputs) or y in kept
    return [Step(y, axes_of(first.write), first.write, outputs)] if stored else []


def _copy(v: Value, write: Place, read: Place, outputs: tuple[int, ...]) -> Step:
    return Step(v, axes_of(write), write, outputs, read=read, copies=True)


def _place_of(v: Value, layout: Layout) -> Place:
    """The place at which an input is read as a whole.

    Raises:
        Refused: there is none.
    """
    for n, parts in layout.parts.items():
        for p in parts:
            for i, read in p.reads:
                if n.inputs[i] is v and layout.is_plain(v, read):
                    return read
    raise Refused("an input is an output, and read in parts")


def _needs(steps: Steps, s: Step) -> tuple[Step, ...]:
    """The steps whose results s reads."""
    needed: dict[Step, None] = {}
    todo, done = steps.sources(s), set()
    while todo:
        v = todo.pop()
        if v in done:
            continue
        done.add(v)
        if v in steps.makers:
            needed[steps.makers[v]] = None
            if steps.makers[v].rule is not None:
                continue
        if v in steps.producers:
            todo += steps.producers[v].inputs
    return tuple(needed)


def axes_of(place: Place) -> Axes:
    """The axes of a place, in the order of loops."""
    return tuple(sorted({axis for index in place for axis, _ in index.steps}))


def is_copy(n: Node) -> bool:
    """Whether a node only moves elements."""
    return n.op in movement or type(n.op) is ops.BroadcastTo or is_reshape_of_ones(n)
