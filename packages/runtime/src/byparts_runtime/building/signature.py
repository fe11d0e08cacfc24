"""Finds which inputs of a graph are variables and which outputs their new values, and checks both.

A variable is the value of the input of its name, wherever that input stands and in whatever order
the variables are given: two variables of one shape in the wrong order would run, and be wrong.
Inputs without a name can only be bound by position: the variables that name no input go to the last
of the inputs that are left, in order.  A mapping `{input: variable}` binds whatever the names are.
A store gives those of its variables that an input is named after, so that programs which need
different parts of a model, such as one that trains and one that evaluates, take the same store.
Outputs have no names, so `updates` are bound by position: the last outputs, in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Union

from byparts_graph_ir import (
    ArgumentError,
    Graph,
    GraphError,
    ShapeError,
    Types,
    Value,
    compatible,
)
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.memory.store import Store
from byparts_runtime.memory.variable import Variable

VariablesArgument = Union[Sequence[Variable], Mapping[Value, Variable], Store]
Bound = dict[int, Variable]  # input position -> its variable, ascending
_SHOWN = 12  # names in a message, of each list


class Signature(Frozen):
    """The role of each input and output of a program.

    The inputs of its graph are `feeds` feeds, then the `variables`, then `constants` constants; the
    outputs are `fetches` fetches, then the new values of `updates`, in order.
    """

    feeds: int
    variables: tuple[Variable, ...]
    fetches: int
    updates: tuple[Variable, ...]
    constants: int = 0

    @property
    def first_constant(self) -> int:
        """Position of the first constant among the inputs."""
        return self.feeds + len(self.variables)

    @property
    def inputs(self) -> int:
        """The number of inputs: feeds, variables and constants."""
        return self.first_constant + self.constants

    @property
    def outside(self) -> frozenset[int]:
        """Positions of the inputs that are not in the arena: variables and constants."""
        return frozenset(range(self.feeds, self.inputs))

    def variable_values(self, graph: Graph) -> tuple[Value, ...]:
        """The inputs that are old values of variables, one for each."""
        return graph.inputs[self.feeds : self.first_constant]

    def constant_values(self, graph: Graph) -> tuple[Value, ...]:
        """The inputs that are constants."""
        return graph.inputs[self.first_constant : self.inputs]

    def new_values(self, graph: Graph) -> tuple[Value, ...]:
        """The outputs that are new values of variables, one for each of `updates`."""
        return graph.outputs[self.fetches :]

    def input_types(self, graph: Graph) -> Types:
        """The types of the feeds as the graph has them, then those of the variables themselves."""
        feeds = graph.inputs[: self.feeds]
        return (*(v.type for v in feeds), *(v.type for v in self.variables))

    def check_updates(self, graph: Graph) -> None:
        """Refuse new values that their variables cannot take, now that the types are known.

        Raises:
            ShapeError: a new value is of another type than its variable.
        """
        for value, variable in zip(self.new_values(graph), self.updates, strict=True):
            if value.type != variable.type:
                raise ShapeError(f"{variable!r} cannot take a new value of type {value.type}")

    def __str__(self) -> str:
        inputs = f"{self.feeds} feeds, {len(self.variables)} variables, {self.constants} constants"
        return f"{inputs} -> {self.fetches} fetches, {len(self.updates)} updates"


def signature_of(
    graph: Graph, variables: VariablesArgument, updates: Sequence[Variable], spaces: Collection[str]
) -> tuple[Graph, Signature]:
    """The graph with its feeds first, and the roles of its inputs and outputs.

    Checks all but the types of the new values.

    Raises:
        GraphError, ShapeError: these variables cannot be those of the graph.
    """
    bound, written = bind_variables(graph, variables), known_variables("updates", updates)
    if len(written) > len(graph.outputs):
        raise GraphError(f"{len(written)} updates for a graph of {len(graph.outputs)} outputs")
    for i, variable in bound.items():
        if not compatible(graph.inputs[i].type, variable.type):
            raise ShapeError(f"{variable!r} cannot be the input of type {graph.inputs[i].type}")
    _check_updated_once(written)
    _check_space((*bound.values(), *written), spaces)
    feeds, fetches = len(graph.inputs) - len(bound), len(graph.outputs) - len(written)
    return feeds_first(graph, bound), Signature(feeds, tuple(bound.values()), fetches, written)


def bind_variables(graph: Graph, variables: VariablesArgument) -> Bound:
    """Input position -> the variable that is its value, in the order of the inputs.  O(inputs).

    Raises:
        GraphError: a variable names no input, or an input that is not the only one of its name.
    """
    if not isinstance(graph, Graph):
        raise ArgumentError(f"build: graph is {graph!r:.60}; give a Graph, as Graph.of makes")
    if isinstance(variables, Mapping):
        return _bound_as_given(graph, variables)
    names = [getattr(v, "name", "") for v in graph.inputs]
    if isinstance(variables, Store):
        variables = _named_in(variables, names)
    sequence = known_variables("variables", variables)
    if len(sequence) > len(graph.inputs):
        raise GraphError(f"{len(sequence)} variables for a graph of {len(graph.inputs)} inputs")
    positions: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        positions.setdefault(name, []).append(i)
    bound: Bound = {}
    by_position: list[Variable] = []
    for variable in sequence:
        at = positions.get(variable.name, []) if variable.name else []
        if not at:
            by_position.append(variable)
        elif len(at) > 1 or at[0] in bound:
            raise _not_unique(variable.name, names, sequence)
        else:
            bound[at[0]] = variable
    free = [i for i in range(len(names)) if i not in bound]
    free = free[len(free) - len(by_position) :]
    if any(names[i] for i in free):
        raise _no_input(by_position, names, sequence)
    bound.update(zip(free, by_position, strict=True))
    return dict(sorted(bound.items()))


def feeds_first(graph: Graph, bound: Bound) -> Graph:
    """The graph with the inputs in `bound` behind the others; unchanged if they are there."""
    feeds = [v for i, v in enumerate(graph.inputs) if i not in bound]
    inputs = (*feeds, *(graph.inputs[i] for i in bound))
    return graph if inputs == graph.inputs else Graph(inputs, graph.nodes, graph.outputs)


def known_variables(what: str, argument: object) -> tuple[Variable, ...]:
    """A sequence of variables as a tuple; `what` names the argument.

    Raises:
        GraphError: it is no sequence of variables.
    """
    if not isinstance(argument, Iterable) or isinstance(argument, (str, bytes)):
        raise GraphError(f"{what} is {argument!r:.60}: give a sequence of variables, as in [w, b]")
    variables: tuple[Any, ...] = tuple(argument)
    for i, variable in enumerate(variables):
        if not isinstance(variable, Variable):
            kind = f"{type(variable).__name__} {variable!r:.60}"
            raise GraphError(
                f"{what}[{i}] is no variable: {kind}; make one with Variable(name, value)"
            )
    return variables


def _bound_as_given(graph: Graph, variables: Mapping[Any, Any]) -> Bound:
    known_variables("variables", variables.values())
    positions = {v: i for i, v in enumerate(graph.inputs)}
    for value in variables:
        if value not in positions:
            raise GraphError(
                f"variables: the key {value!r:.60} is no input of the graph; keys are its inputs, "
                "as in variables={graph.inputs[1]: w}"
            )
    return {i: variables[v] for v, i in positions.items() if v in variables}


def _named_in(store: Store, names: Sequence[str]) -> list[Variable]:
    """The variables of a store that inputs are named after."""
    named = [v for v in store if v.name in names]
    if len(store) and not named:
        raise _no_input(list(store), names, list(store))
    return named


def _not_unique(name: str, names: Sequence[str], variables: Sequence[Variable]) -> GraphError:
    counts = (
        f"{names.count(name)} inputs and {sum(v.name == name for v in variables)} variables "
        f"are named {name!r}"
    )
    return GraphError(
        f"variables: {counts}, so the name does not say which is which; give "
        "variables={input: variable, ...}"
    )


def _no_input(
    unknown: Sequence[Variable], names: Sequence[str], known: Sequence[Variable]
) -> GraphError:
    """The error for variables that name no input: lists the variables and the inputs."""
    missing = _listed([repr(v.name) for v in unknown])
    variables = _listed([repr(v.name) for v in known])
    inputs = _listed([repr(name) if name else "(no name)" for name in names])
    return GraphError(
        f"variables: no input is named {missing}: the variables are {variables}; the inputs of the "
        f"graph are {inputs}; name them alike, or give variables={{input: variable, ...}}"
    )


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _check_updated_once(updates: Sequence[Variable]) -> None:
    seen: set[int] = set()
    for variable in updates:
        if id(variable) in seen:
            raise GraphError(f"{variable!r} is updated twice in one step; which value should win?")
        seen.add(id(variable))


def _check_space(variables: Sequence[Variable], spaces: Collection[str]) -> None:
    for variable in variables:
        if variable.space.name not in spaces:
            where = f"is in {variable.space.name}, the backends are in {', '.join(spaces)}"
            raise GraphError(f"{variable!r} {where}; make it with space=backend.space")
