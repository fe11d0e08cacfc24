"""Gives a program more definite input types, and everything that follows from them.

`specialize` re-types the inputs and rebuilds: shape rules run forwards as nodes are made, shape
arithmetic folds to constants (`Op.canonical`), and a symbol bound at one input is bound everywhere.
`infer_inputs` runs the rules both ways to a fixpoint, which is what finds the shape of a weight
from the shape of the data.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError, ShapeError, add_note
from byparts_graph_ir.graph import Graph, Input, Node, Op, Types, Value, output_types
from byparts_graph_ir.lazy_dataclass import replace
from byparts_graph_ir.types import Dimension, TensorType, unify
from byparts_graph_ir.where import inherit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

Known: TypeAlias = "Sequence[TensorType | None]"


def specialize(graph: Graph, types: Known = ()) -> Graph:
    """The same program with its inputs of these types, one for each input (`None`: as it was).

    Needs nothing; preserves meaning and the order of effects.  O(nodes).

    Raises:
        ShapeError: a type contradicts the graph, or binds one symbol to two numbers.
    """
    new_types = _input_types(graph, types)
    bound = _bind_symbols(graph, new_types)
    env: dict[Value, Value] = {}
    for v, t in zip(graph.inputs, new_types, strict=True):
        env[v] = _retyped(v, _substitute(t, bound))
    for old in graph.nodes:
        inputs = tuple([env[v] for v in old.inputs])
        op = _bind_fields(old.op, bound)
        node = old if inputs == old.inputs and op is old.op else Node(op, inputs, old.where)
        with inherit(old.where):
            simpler = node.op.canonical(node)
        env.update(zip(old.outputs, simpler or node.outputs, strict=True))
    inputs = tuple(env[v] for v in graph.inputs)
    return Graph.of(inputs, [env[v] for v in graph.outputs], order=env.values())


def infer_inputs(graph: Graph, types: Known = ()) -> Types:
    """What is known of every input when the shape rules have run both ways, to a fixpoint.

    A sweep forwards and one backwards, until a sweep finds nothing new; each finding makes a
    dimension definite, so it ends.  O(nodes * sweeps), two sweeps in practice.

    Raises:
        ShapeError: two rules contradict each other; names the node.
    """
    given = _input_types(graph, types)
    bound = _bind_symbols(graph, given)
    known: dict[Value, TensorType] = {}
    for v, t in zip(graph.inputs, given, strict=True):
        known[v] = _substitute(t, bound)
    changed = True
    while changed:
        changed = False
        for node in graph.nodes:
            changed |= _learn(known, node, node.outputs, _forward(known, node))
        for node in reversed(graph.nodes):
            before = tuple(known[v] for v in node.inputs)
            after = node.op.infer_inputs(before, tuple(known[v] for v in node.outputs))
            changed |= _learn(known, node, node.inputs, after)
    return tuple(known[v] for v in graph.inputs)


def _input_types(graph: Graph, types: Known) -> Types:
    if types and len(types) != len(graph.inputs):
        raise ShapeError(f"{len(types)} types for a graph of {len(graph.inputs)} inputs")
    merged = []
    for i, v in enumerate(graph.inputs):
        new = types[i] if types else None
        try:
            merged.append(v.type if new is None else unify(v.type, new))
        except ShapeError as error:
            name = getattr(v, "name", "") or str(i)
            raise ShapeError(
                f"input {name!r} is {v.type} in the graph and cannot be {new}"
            ) from error
    return tuple(merged)


def _bind_symbols(graph: Graph, types: Types) -> dict[str, int]:
    """Symbol -> number, wherever an input's new type has a number in the place of its symbol."""
    bound: dict[str, int] = {}
    for v, t in zip(graph.inputs, types, strict=True):
        for old, new in zip(v.type.shape or (), t.shape or (), strict=False):
            if isinstance(old, str) and isinstance(new, int) and bound.setdefault(old, new) != new:
                raise ShapeError(
                    f"dimension {old!r} is {bound[old]} at one input and {new} at another"
                )
    return bound


def _substitute(t: TensorType, bound: Mapping[str, int]) -> TensorType:
    if not bound or t.shape is None:
        return t
    return TensorType(t.dtype, tuple(_number(d, bound) for d in t.shape))


def _bind_fields(op: Op, bound: Mapping[str, int]) -> Op:
    """The op with bound symbols replaced in the fields that hold shapes."""
    if not bound or not op.shape_fields:
        return op
    shapes = {f: tuple(_number(d, bound) for d in getattr(op, f)) for f in op.shape_fields}
    return op if all(getattr(op, f) == s for f, s in shapes.items()) else replace(op, **shapes)


def _number(d: Dimension, bound: Mapping[str, int]) -> Dimension:
    return bound.get(d, d) if isinstance(d, str) else d


def _retyped(v: Value, t: TensorType) -> Value:
    if t == v.type:
        return v
    return Input(t, None, v.name, v.where) if isinstance(v, Input) else Value(t)


def _forward(known: Mapping[Value, TensorType], node: Node) -> Types:
    try:
        return output_types(node.op, [known[v] for v in node.inputs])
    except GraphError as error:
        if node.where:
            add_note(error, f"created at {node.where}")
        raise


def _learn(
    known: dict[Value, TensorType], node: Node, values: Sequence[Value], found: Types
) -> bool:
    changed = False
    for v, t in zip(values, found, strict=True):
        old = known.get(v, v.type)
        try:
            known[v] = unify(old, t)
        except ShapeError as error:
            add_note(error, f"in {node.op.name}, created at {node.where}")
            raise
        changed |= known[v] != old
    return changed
