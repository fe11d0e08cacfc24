"""From fetches and feeds to a pure graph: (feeds, old variables) -> (fetches, new variables).

Fed values are cut off from what made them, assignments become outputs, groups fall away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from byparts_frontend_tf.tinyflow.random import RUNS, next_runs
from byparts_frontend_tf.tinyflow.state import Assign, Group, Variable
from byparts_graph_ir import (
    Graph,
    GraphError,
    Input,
    Node,
    TensorType,
    Types,
    Value,
    producers,
    specialize,
)


@dataclass(frozen=True)
class Step:
    """What one `run` asks for, once for each set of fetches and feeds.

    Attributes:
        graph: inputs are the feeds, then `variables`; outputs the values fetched, then new values.
        fed: which of the values fed are inputs, in order; the others are not needed.
        fetched: for each fetch, which output it is, or `None` for a group.
        variables: read by the trailing inputs.
        updates: written by the trailing outputs.
        states: those trailing inputs.
    """

    graph: Graph
    fed: tuple[Value, ...]
    fetched: tuple[int | None, ...]
    variables: tuple[Variable, ...]
    updates: tuple[Variable, ...]
    states: tuple[Value, ...]
    _types: dict[Types, Types] = field(default_factory=dict, compare=False)

    def update_types(self, types: Types) -> Types:
        """The types of the new values, for inputs of these types."""
        if types not in self._types:
            outputs = specialize(self.graph, types).outputs
            self._types[types] = tuple(v.type for v in outputs[len(outputs) - len(self.updates) :])
        return self._types[types]


def make_step(
    fetches: Sequence[Value], fed: Iterable[Value], changed: Mapping[Variable, TensorType]
) -> Step:
    """The step for these fetches.  O(nodes they depend on).

    Args:
        fetches: what is computed.
        fed: what is given instead of being computed.
        changed: variables that hold a value of another type than they were made with.

    Raises:
        GraphError: a placeholder is needed and not fed, or a variable is assigned twice.
        ShapeError: what was built on the old type of a changed variable does not fit the new.
    """
    inputs = {v: Input(v.type, None, _label(v), _line(v)) for v in fed}
    others: dict[Value, Input] = {}
    for v, t in changed.items():
        if v not in inputs:
            others[v] = Input(t, None, v.name, v.where)
    held: dict[Value, Variable] = {others[v]: v for v in changed if v in others}
    env: dict[Value, Value] = dict(inputs)
    env.update(others)
    updates: dict[Variable, Value] = {}
    for node in producers(fetches):
        _translate(node, env, updates)
    if RUNS in env:
        updates[RUNS] = next_runs()
    wanted = [v for v in fetches if not _is_group(v)]
    # A variable fetched beside its assignment gives the new value, as in TinyFlow.
    values = [
        updates.get(v, env.get(v, v)) if isinstance(v, Variable) else env.get(v, v) for v in wanted
    ]
    outputs = (*values, *updates.values())
    needed = _needed(outputs)
    used = tuple(v for v, made in inputs.items() if made in needed)
    held |= {v: v for v in needed if isinstance(v, Variable)}
    states = [v for v in needed if v in held]
    _check_fed(needed, (*inputs.values(), *states))
    graph = Graph.of((*(inputs[v] for v in used), *states), outputs)
    variables = tuple(held[v] for v in states)
    positions = iter(range(len(wanted)))
    fetched = tuple(None if _is_group(v) else next(positions) for v in fetches)
    return Step(graph, used, fetched, variables, tuple(updates), tuple(states))


def _translate(node: Node, env: dict[Value, Value], updates: dict[Variable, Value]) -> None:
    """Put into `env` what the outputs of a node are in the pure graph."""
    inputs = tuple(env.setdefault(v, v) for v in node.inputs)
    if isinstance(node.op, Group):
        return
    if isinstance(node.op, Assign):
        variable = node.inputs[0]
        assert isinstance(variable, Variable), "assign checks its target"
        if variable in updates:
            raise GraphError(
                f"variable {variable.name!r} is assigned twice in one run, the second time at "
                f"{node.where}; fetch the assignments in two runs"
            )
        updates[variable] = inputs[1]
        env.setdefault(node.outputs[0], inputs[1])
        return
    new = node if inputs == node.inputs else Node(node.op, inputs, node.where)
    for old, value in zip(node.outputs, new.outputs, strict=True):
        env.setdefault(old, value)  # a fed value is already there, and stays


def _needed(outputs: Sequence[Value]) -> dict[Value, None]:
    """The values without a node that the outputs depend on."""
    inputs = {v: None for n in producers(outputs) for v in n.inputs if v.node is None}
    return inputs | {v: None for v in outputs if v.node is None}


def _check_fed(needed: Iterable[Value], known: Iterable[Value]) -> None:
    given = set(known)
    for v in needed:
        if v not in given:
            raise GraphError(
                f"placeholder {_label(v)!r} of type {v.type}, made at {_line(v)}, is needed by the "
                f"fetch and not fed; add it to feed_dict"
            )


def _is_group(v: Value) -> bool:
    return v.node is not None and isinstance(v.node.op, Group)


def _label(v: Value) -> str:
    return v.name if isinstance(v, Input) else v.node.op.name if v.node else ""


def _line(v: Value) -> str:
    return v.where if isinstance(v, Input) else v.node.where if v.node else ""
