"""Gives a program more definite input types, and everything that follows from them.

`specialize` re-types the inputs and rebuilds: shape rules run forwards as nodes are made, shape
arithmetic folds to constants (`Op.canonical`), and a symbol bound at one input is bound everywhere,
in expressions too; an input of "2*n+1" elements binds `n` as well.
`infer_inputs` runs the rules both ways to a fixpoint, which is what finds the shape of a weight
from the shape of the data.

A symbol at an input of a body is the body's own: it is bound by whoever gives the body its inputs,
and each caller has another name for it, or a number.  Any other symbol in a body is the program's,
and so is one that begins with `OF_THE_PROGRAM`: a name that the runtime gives.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError, ShapeError, add_note
from byparts_graph_ir.model.bodies import map_bodies
from byparts_graph_ir.model.frozen import replace
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.op import Op
from byparts_graph_ir.model.types import Dimension, TensorType, unify
from byparts_graph_ir.model.value import Input, Node, Types, Value, output_types
from byparts_graph_ir.model.where import inherit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

Known: TypeAlias = "Sequence[TensorType | None]"
OF_THE_PROGRAM = "_size_"


def specialize(graph: Graph, types: Known = (), *, simplify: bool = True) -> Graph:
    """The same program with its inputs of these types, one for each input (`None`: as it was).

    Needs nothing; preserves meaning and the order of effects.  O(nodes).

    Args:
        graph: the program.
        types: of its inputs.
        simplify: whether nodes that are simple on these types are simplified (`Op.canonical`).

    Raises:
        ShapeError: a type contradicts the graph, or binds one symbol to two numbers.
    """
    new_types = _input_types(graph, types)
    bound = sizes_of(graph, new_types)
    return _rebuilt(graph, [substitute(t, bound) for t in new_types], bound, simplify)


def _rebuilt(
    graph: Graph, types: Sequence[TensorType], bound: Mapping[str, int], simplify: bool = True
) -> Graph:
    """The program on inputs of these types, with the bound symbols replaced in its fields."""
    env: dict[Value, Value] = {}
    for v, t in zip(graph.inputs, types, strict=True):
        env[v] = _retyped(v, t)
    for old in graph.nodes:
        inputs = tuple([env[v] for v in old.inputs])
        op = bind_fields(old.op, bound, simplify)
        node = old if inputs == old.inputs and op is old.op else Node(op, inputs, old.where)
        with inherit(old.where):
            simpler = node.op.canonical(node) if simplify else None
        env.update(zip(old.outputs, simpler or node.outputs, strict=True))
    inputs = tuple(env[v] for v in graph.inputs)
    return Graph.of(inputs, [env[v] for v in graph.outputs], order=env.values())


def infer_inputs(graph: Graph, types: Known = ()) -> Types:
    """The types of the inputs, when the shape rules have run both ways, to a fixpoint.

    A sweep forwards and one backwards, until a sweep finds nothing new; each finding makes a
    dimension definite, so it ends.  O(nodes * sweeps), two sweeps in practice.

    Raises:
        ShapeError: two rules contradict each other; names the node.
    """
    input_types = _input_types(graph, types)
    bound = sizes_of(graph, input_types)
    known: dict[Value, TensorType] = {}
    for v, t in zip(graph.inputs, input_types, strict=True):
        known[v] = substitute(t, bound)
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


def body_for(op: Op, body: Graph, types: Sequence[TensorType]) -> Graph:
    """The body on inputs of these types; itself where they are its own.

    Kept with the body: each level of graphs inside graphs asks several times, so that without this
    the cost would double with every level.

    Raises:
        ShapeError: the types do not fit; `op` is the one whose body it is.
    """
    own = [v.type for v in body.inputs]
    if list(types) == own:
        return body
    _check_count(op, body, types)
    specialized: dict[Types, Graph] = body.__dict__.setdefault("_specialized", {})
    key = tuple(types)
    if key not in specialized:
        mine = _symbols(body)
        try:
            new = specialize(body, [_without(t, mine) for t in types])
        except GraphError as error:
            add_note(error, f"in a body of {op.name}")
            raise
        specialized[key] = body if new == body else new
    return specialized[key]


def result_types(op: Op, body: Graph, types: Sequence[TensorType]) -> Types:
    """The output types of the body for inputs of these types, in the caller's names of dimensions.

    Raises:
        ShapeError: as `body_for`.
    """
    if list(types) == [v.type for v in body.inputs]:
        return tuple([v.type for v in body.outputs])
    if all([t.static for t in types]):
        return _static_results(op, body, types)
    special = body_for(op, body, types)
    names: dict[str, Dimension] = {}
    for v, t in zip(body.inputs, types, strict=True):
        dims = t.shape if t.shape is not None else (None,) * (v.type.rank or 0)
        for own, size in zip(v.type.shape or (), dims, strict=False):
            if isinstance(own, str) and own.isidentifier() and names.get(own) is None:
                names[own] = size
    return tuple([_renamed(v.type, names) for v in special.outputs])


def _static_results(op: Op, body: Graph, types: Sequence[TensorType]) -> Types:
    """The output types of the body for types without names, by its shape rules; makes no graph.

    Kept with the body, as in `body_for`.
    """
    _check_count(op, body, types)
    known: dict[Types, Types] = body.__dict__.setdefault("_static_results", {})
    key = tuple(types)
    if key not in known:
        try:
            bound = sizes_of(body, _input_types(body, key))
            of_value = dict(zip(body.inputs, key, strict=True))
            for node in body.nodes:
                here = bind_fields(node.op, bound, simplify=False)
                given = output_types(here, [of_value[v] for v in node.inputs])
                of_value.update(zip(node.outputs, given, strict=True))
        except GraphError as error:
            add_note(error, f"in a body of {op.name}")
            raise
        known[key] = tuple([of_value[v] for v in body.outputs])
    return known[key]


def body_inputs(op: Op, body: Graph, types: Sequence[TensorType]) -> Types:
    """The types of the body's inputs, given these: `infer_inputs`, numbers alone.

    Raises:
        ShapeError: as `infer_inputs`.
    """
    _check_count(op, body, types)
    mine = _symbols(body)
    try:
        known = infer_inputs(body, [_without(t, mine) for t in types])
    except GraphError as error:
        add_note(error, f"in a body of {op.name}")
        raise
    names = dict.fromkeys([name for t in known for d in t.shape or () for name in names_of(d)])
    return tuple([unify(t, _renamed(k, names)) for t, k in zip(types, known, strict=True)])


def _check_count(op: Op, body: Graph, types: Sequence[TensorType]) -> None:
    own = [v.type for v in body.inputs]
    if len(types) != len(own):
        takes, got = ", ".join(map(str, own)), ", ".join(map(str, types))
        raise ShapeError(f"{op.name}: the graph inside takes ({takes}), got ({got})")


def _without(t: TensorType, names: set[str]) -> TensorType:
    """The type without the caller's names that mean something else in the body."""
    if t.shape is None or t.static:
        return t
    return TensorType(t.dtype, tuple([None if names & names_of(d) else d for d in t.shape]))


def _renamed(t: TensorType, names: Mapping[str, Dimension]) -> TensorType:
    if t.shape is None or t.static or not names:
        return t
    return TensorType(t.dtype, tuple([_dimension(d, names) for d in t.shape]))


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


def sizes_of(graph: Graph, types: Types) -> dict[str, int]:
    """Name -> number, wherever an input's new type has a number in the place of its name.

    `types` are those of the first inputs.

    Names come first, then expressions, which may leave one name open ("2*n+1" = 7 binds n to 3).

    Raises:
        ShapeError: a name would be two numbers; says at which inputs.
    """
    bound: dict[str, int] = {}
    firsts: dict[str, int] = {}
    places = [
        (i, old, new)
        for i, (v, t) in enumerate(zip(graph.inputs, types, strict=False))
        for old, new in zip(v.type.shape or (), t.shape or (), strict=False)
        if isinstance(old, str) and isinstance(new, int)
    ]
    for i, old, new in places:
        if old.isidentifier() and bound.setdefault(old, new) != new:
            first, here = _input_name(graph, firsts[old]), _input_name(graph, i)
            raise ShapeError(
                f"dimension {old!r} is {bound[old]} at input {first} and {new} at input {here}"
            )
        firsts.setdefault(old, i)
    for i, old, new in places:
        if not old.isidentifier():
            _bind_expression(old, new, bound, _input_name(graph, i))
    return bound


def _input_name(graph: Graph, i: int) -> str:
    return repr(getattr(graph.inputs[i], "name", "") or i)


def _bind_expression(text: str, size: int, bound: dict[str, int], where: str) -> None:
    from byparts_graph_ir.model.dimension import solve  # few programs need the parser

    left = _dimension(text, bound)
    if isinstance(left, int) and left != size:
        names = ", ".join(f"{name} = {bound[name]}" for name in sorted(names_of(text)))
        raise ShapeError(f"dimension {text!r} is {left} with {names}, and {size} at input {where}")
    if isinstance(left, str):
        solution = solve(left, size)
        if solution is not None:
            bound[solution[0]] = solution[1]


def substitute(t: TensorType, bound: Mapping[str, int]) -> TensorType:
    """The type with the bound names replaced in its dimensions."""
    if not bound or t.shape is None:
        return t
    return TensorType(t.dtype, tuple(_dimension(d, bound) for d in t.shape))


def bind_fields(op: Op, bound: Mapping[str, int], simplify: bool = True) -> Op:
    """The op with bound symbols replaced in the fields that hold shapes, and in its bodies."""
    if not bound:
        return op
    op = map_bodies(op, lambda body: _bind_body(body, bound, simplify))
    if not (op.shape_fields or op.size_fields):
        return op
    new: dict[str, Any] = {}
    for f in op.shape_fields:
        if getattr(op, f) is not None:  # or the shape is that of an input
            new[f] = tuple([_dimension(d, bound) for d in getattr(op, f)])
    for f in op.size_fields:
        if isinstance(getattr(op, f), str):
            new[f] = _dimension(getattr(op, f), bound)
    return op if all(getattr(op, f) == s for f, s in new.items()) else replace(op, **new)


def _bind_body(body: Graph, bound: Mapping[str, int], simplify: bool) -> Graph:
    own = {name for name in _symbols(body) if not name.startswith(OF_THE_PROGRAM)}
    free = {name: number for name, number in bound.items() if name not in own}
    types = [substitute(v.type, free) for v in body.inputs]
    return _rebuilt(body, types, free, simplify) if free else body


def _symbols(graph: Graph) -> set[str]:
    """The names in the dimensions of its inputs."""
    return {name for v in graph.inputs for d in v.type.shape or () for name in names_of(d)}


def names_of(d: Dimension) -> frozenset[str]:
    """The names in a dimension."""
    if not isinstance(d, str) or d.isidentifier():
        return frozenset([d]) if isinstance(d, str) else frozenset()
    from byparts_graph_ir.model.dimension import dimension_names  # few programs need the parser

    return dimension_names(d)


def _dimension(d: Dimension, names: Mapping[str, Dimension]) -> Dimension:
    """The dimension with the names replaced."""
    if not isinstance(d, str) or d.isidentifier():
        return names.get(d, d) if isinstance(d, str) else d
    from byparts_graph_ir.model.dimension import dimension  # few programs need the parser

    return dimension(d, names)


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
    known: dict[Value, TensorType], node: Node, values: Sequence[Value], types: Types
) -> bool:
    changed = False
    for v, t in zip(values, types, strict=True):
        old = known.get(v, v.type)
        try:
            known[v] = unify(old, t)
        except ShapeError as error:
            add_note(error, f"in {node.op.name}, created at {node.where}")
            raise
        changed |= known[v] != old
    return changed
