"""Placeholders, variables, and what changes variables.

All of them are values of the graph IR, so arithmetic, gradients and printing need nothing more.
Graphs are pure: `assign` computes the new value and says which variable it belongs to, and the
session gathers those into the outputs of the program it builds.  So all updates of a run read the
values from before it, whatever the order of nodes (TinyFlow's did not: fact T1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

from byparts_frontend_tf.tinyflow.names import automatic, forget_names
from byparts_graph_ir import (
    ArgumentError,
    GraphError,
    Input,
    Node,
    Op,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_graph_ir.contract import checked
from byparts_graph_ir.model.where import where

float32 = "f32"

Shape = Optional[Iterable[Optional[int]]]


@dataclass(frozen=True, eq=False, slots=True, init=False)
class Variable(Input):
    """A value that a session remembers between runs.

    Args:
        init: its first value, taken by `initialize_all_variables`.
        name: a label; by default variable0, variable1, ...

    Raises:
        ArgumentError: `init` is not a value of the graph.
    """

    initial: Value | None = field(default=None, repr=False)

    def __init__(self, init: Value | None = None, name: str | None = None) -> None:
        if init is not None and not isinstance(init, Value):
            raise ArgumentError(
                f"Variable: init is {init!r}; wrap it, as in Variable(tf.zeros([2, 3]))"
            )
        kind = TensorType(float32, None) if init is None else init.type
        _fill(self, kind, automatic("variable") if name is None else name, init, where())
        if init is not None:
            _pending.append(assign(self, init))


def made_by_op(kind: TensorType, name: str) -> Variable:
    """A variable that an op makes for its own parameter: no first value, a partly known shape."""
    variable = object.__new__(Variable)
    _fill(variable, kind, name, None, where())
    return variable


def _fill(v: Variable, kind: TensorType, name: str, initial: Value | None, line: str) -> None:
    for key, value in (("type", kind), ("node", None), ("name", name), ("where", line)):
        object.__setattr__(v, key, value)
    object.__setattr__(v, "initial", initial)


@checked
def placeholder(dtype: str = float32, shape: Shape = None, name: str | None = None) -> Input:
    """A value that each run is fed.  `None` in the shape is a dimension that may vary."""
    kind = TensorType(dtype, None if shape is None else tuple(shape))
    return Input(kind, None, automatic("placeholder") if name is None else name, where())


class Assign(Op):
    """y = value; and the variable is value after the run."""

    def infer(self, variable: TensorType, value: TensorType) -> Types:
        if variable.dtype != value.dtype:
            raise ShapeError(f"assign: the variable is {variable} and the value {value}")
        return (value,)

    infer_unranked = infer

    def evaluate(self, variable: Any, value: Any) -> tuple[Any, ...]:
        """The value."""
        return (value,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """All of it is the value's."""
        return (None, dy)


class Group(Op):
    """Nothing, made of several things: fetching it runs them and gives `None`."""

    def infer(self, *types: TensorType) -> Types:
        return (TensorType("u8", (0,)),)

    infer_unranked = infer

    def evaluate(self, *inputs: Any) -> tuple[Any, ...]:
        """Nothing."""
        raise GraphError("group: it has no value; a session strips it before anything runs")


def assign(variable: Value, value: Value | float, name: str | None = None) -> Value:
    """The new value of a variable; in the runs that compute it, the variable takes it.

    Raises:
        GraphError: the target is not a variable.
    """
    if not isinstance(variable, Variable):
        node = variable.node if isinstance(variable, Value) else None
        made = f" made by {node.op.name}" if node else ""
        raise GraphError(
            f"assign: Mutation target can only be Variable, this is {variable!r}{made}"
        )
    return Assign()(variable, value)


def group(*inputs: Value, name: str | None = None) -> Value:
    """One fetch that runs all of these and gives `None`."""
    return Group()(*inputs)


def initialize_all_variables() -> Value:
    """Assigns their first values to the variables made since the last call."""
    made = tuple(_pending)
    _pending.clear()
    return group(*made)


def reset_default_graph() -> None:
    """Forget pending first values and begin names and random streams again."""
    _pending.clear()
    forget_names()


def variables_of(*values: Value) -> tuple[Variable, ...]:
    """The variables that values depend on, in depth-first order (NNVM's `list_input_variables`)."""
    return tuple(v for v in leaves(values) if isinstance(v, Variable))


def leaves(values: Iterable[Value]) -> dict[Value, None]:
    """The values without a node that `values` depend on, in depth-first order.  Iterative."""
    states: dict[Value, None] = {}
    seen: set[Node] = set()
    todo = list(values)[::-1]
    while todo:
        v = todo.pop()
        if v.node is None:
            states[v] = None
        elif v.node not in seen:
            seen.add(v.node)
            todo.extend(reversed(v.node.inputs))
    return states


_pending: list[Value] = []
