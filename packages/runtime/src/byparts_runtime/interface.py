"""Which inputs of a graph are variables, which outputs their new values; checked."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Graph, GraphError, ShapeError, Space, Types, compatible
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.variable import Variable


@dataclass(frozen=True)
class Interface:
    """Which inputs are variables, and which outputs their new values."""

    first_variable: int
    variables: tuple[Variable, ...]
    first_update: int
    updates: tuple[Variable, ...]

    def input_types(self, graph: Graph) -> Types:
        """Of the feeds as the graph says, of the variables as they are."""
        feeds = graph.inputs[: self.first_variable]
        return (*(v.type for v in feeds), *(v.type for v in self.variables))

    def check_updates(self, graph: Graph) -> None:
        """Refuse new values that their variables cannot take, now that the types are known."""
        for value, variable in zip(graph.outputs[self.first_update :], self.updates, strict=True):
            if value.type != variable.type:
                raise ShapeError(f"{variable!r} cannot take a new value of type {value.type}")


def interface_of(
    graph: Graph, variables: tuple[Variable, ...], updates: tuple[Variable, ...], space: Space
) -> Interface:
    """Which inputs and outputs are variables; checked, the types of the outputs apart.

    Raises:
        GraphError, ShapeError: these variables cannot be those of the graph.
    """
    _check_counts(graph, variables, updates)
    _check_variables(graph, variables, updates, space)
    first_variable, first_update = len(graph.inputs) - len(variables), len(graph.outputs)
    return Interface(first_variable, variables, first_update - len(updates), updates)


def _check_counts(graph: Graph, variables: Sequence[Variable], updates: Sequence[Variable]) -> None:
    if len(variables) > len(graph.inputs):
        raise GraphError(f"{len(variables)} variables for a graph of {len(graph.inputs)} inputs")
    if len(updates) > len(graph.outputs):
        raise GraphError(f"{len(updates)} updates for a graph of {len(graph.outputs)} outputs")


def _check_variables(
    graph: Graph, variables: Sequence[Variable], updates: Sequence[Variable], space: Space
) -> None:
    first = len(graph.inputs) - len(variables)
    for value, variable in zip(graph.inputs[first:], variables, strict=True):
        if not compatible(value.type, variable.type):
            raise ShapeError(f"{variable!r} cannot be the input of type {value.type}")
    seen: set[int] = set()
    for variable in updates:
        if id(variable) in seen:
            raise GraphError(f"{variable!r} is updated twice in one step; which value should win?")
        seen.add(id(variable))
    for variable in (*variables, *updates):
        if variable.space.name != space.name:
            where = f"is in {variable.space.name}, the backends are in {space.name}"
            raise GraphError(f"{variable!r} {where}; make it with space=backend.space")
