"""Programs that must give the same as another one: bodies written out, and rounds of a loop.

`unrolled` replaces calls and scans by the nodes of their bodies; `as_rounds` computes a whole
program as the body of a scan over two copies of its inputs.  So what a backend does with bodies is
held against what it does without, on every op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

import byparts_opset as ops
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, GraphError, Input, Node, TensorType, Value, specialize
from byparts_graph_ir.parts.hub import parts


def unrolled(program: Program, longest: int = 12) -> Program:
    """The program without calls and scans: the nodes of their bodies in the place of each.

    Scans of more than `longest` rounds stay.
    """
    graph = program.graph
    order: list[Value] = []
    outputs = _inlined(graph, graph.inputs, longest, order)
    return replace(program, graph=Graph.of(graph.inputs, outputs, order=order))


def before_shapes(program: Program) -> Program:
    """The program as a pass leaves it that does not know its shapes, then given them again.

    Some dimensions of a feed are unknown, or all of them, or its rank is, as the seed says.
    The program itself where ops need more than that, or no part `optimize` is installed.
    """
    if "optimize" not in parts.names("passes"):
        return program
    graph, dice = program.graph, Random(program.seed)
    kinds = [v.type for v in graph.inputs]
    hidden = [_hidden(t, dice) for t in kinds[: program.feeds]] + kinds[program.feeds :]
    inputs = [Input(t) for t in hidden]
    new: dict[Value, Value] = dict(zip(graph.inputs, inputs, strict=True))
    try:
        for node in graph.nodes:
            made = Node(node.op, tuple([new[v] for v in node.inputs]), node.where)
            new.update(zip(node.outputs, made.outputs, strict=True))
        unknown = Graph.of(inputs, [new[v] for v in graph.outputs], order=new.values())
    except GraphError:
        return program
    optimized = parts.get("passes", "optimize")(unknown)
    return replace(program, graph=specialize(optimized, kinds))


def _hidden(kind: TensorType, dice: Random) -> TensorType:
    """The type without its shape, or without some or all of its dimensions."""
    way = dice.randrange(4)
    if way == 0:
        return TensorType(kind.dtype, None)
    known = [d if way == 1 and dice.random() < 0.5 else None for d in kind.dims]
    return TensorType(kind.dtype, tuple(known))


def _written_out(longest: int, node: Node, order: list[Value]) -> tuple[Value, ...] | None:
    """The outputs of a call or a scan, made by nodes; `None` for other nodes and empty scans."""
    op = node.op
    if isinstance(op, ops.Call):
        return _inlined(op.body, node.inputs, longest, order)
    if not isinstance(op, ops.Scan):
        return None
    states = list(node.inputs[: op.states])
    sequences = node.inputs[op.states : op.states + op.sequences]
    kept = node.inputs[op.states + op.sequences :]
    length = sequences[0].type.dims[0] if sequences else op.length
    if not length or length > longest:
        return None
    rows: list[Sequence[Value]] = []
    for t in reversed(range(length)) if op.reverse else range(length):
        given = (*states, *[ops.getitem(xs, t) for xs in sequences], *kept)
        made = _inlined(op.body, given, longest, order)
        states = list(made[: op.states])
        rows.append(made[op.states :])
    if op.reverse:
        rows.reverse()
    return (*states, *[ops.stack(some, 0) for some in zip(*rows, strict=True)])


def _inlined(
    body: Graph, given: Sequence[Value], longest: int, order: list[Value]
) -> tuple[Value, ...]:
    """The outputs of a body on these values, by copies of its nodes, which `order` notes.

    It notes those that nothing reads too, for their effects.
    """
    new: dict[Value, Value] = dict(zip(body.inputs, given, strict=True))
    for node in body.nodes:
        copy = Node(node.op, tuple([new[v] for v in node.inputs]), node.where)
        made = _written_out(longest, copy, order)
        outputs = copy.outputs if made is None else made
        new.update(zip(node.outputs, outputs, strict=True))
        order.extend(outputs)
    return tuple([new[v] for v in body.outputs])


def as_rounds(program: Program) -> Program:
    """The program as the body of a scan of two rounds, over two copies of each input.

    Programs with variables and with effects stay as they are.  The outputs are those of the second
    round.
    """
    graph = program.graph
    if program.variables or graph.has_effect or not graph.inputs or not graph.outputs:
        return program
    stacked = tuple([np.stack([a, a]) for a in program.arrays])
    inputs = [
        Input(TensorType(v.type.dtype, (2, *v.type.dims)), None, f"x{i}", "")
        for i, v in enumerate(graph.inputs)
    ]
    scanned = ops.Scan(graph, 0, len(inputs)).outputs_of(*inputs)
    outputs = [ops.getitem(ys, 1) for ys in scanned]
    return replace(program, graph=Graph.of(inputs, outputs), arrays=stacked)
