"""Which variable is the value of which input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy_backend import TOY, add, build_by_hand, f32, given, graph_of, mul

from byparts_graph_ir import Graph, GraphError, Input, TensorType
from byparts_runtime import Executor, Store, Variable

ONE = TensorType("f32", ())


def executor_by_hand() -> Executor:
    return Executor(backends=(TOY,), passes=(), planner=None, legalize=None)


def variable(name: str, value: float) -> Variable:
    return Variable(name, np.float32(value))


def weighted() -> Graph:
    """x + a * b * b: swapping a and b is another number."""
    x, a, b = given("x"), given("a"), given("b")
    return graph_of([x, a, b], add(x, mul(a, mul(b, b))))


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_variables_are_bound_by_name(names: str) -> None:
    """In whatever order they are given: of one shape, the wrong order would run, and be wrong."""
    store = {"a": variable("a", 2), "b": variable("b", 3)}
    chosen = [store[name] for name in names]

    assert build_by_hand(weighted(), variables=chosen)(1)[0] == 19
    assert executor_by_hand()(weighted(), 1, variables=chosen)[0] == 19


def test_a_store_gives_the_variables_that_inputs_are_named_after() -> None:
    """A program that reads a part of a model takes the store of the whole."""
    store = Store()
    for name, value in {"unread": 7, "b": 3, "a": 2}.items():
        store.create(name, np.float32(value))

    assert build_by_hand(weighted(), variables=store)(1)[0] == 19
    assert executor_by_hand()(weighted(), 1, variables=store)[0] == 19


def test_a_store_that_no_input_is_named_after_is_refused() -> None:
    """A name in another spelling, for example."""
    store = Store()
    store.create("A", np.float32(2))

    with pytest.raises(
        GraphError, match="no input is named 'A': the variables are 'A'; the inputs"
    ):
        build_by_hand(weighted(), variables=store)


def test_inputs_that_are_variables_may_stand_anywhere() -> None:
    """The feeds are the inputs that are left, in order."""
    a, x, b, y = given("a"), given("x"), given("b"), given("y")
    graph = graph_of([a, x, b, y], add(mul(a, x), mul(b, y)))
    bound = variable("b", 100), variable("a", 1)
    program = build_by_hand(graph, variables=bound)

    assert program(5, 7)[0] == 705
    assert executor_by_hand()(graph, 5, 7, variables=bound)[0] == 705
    assert [v.name for v in program.graph.inputs] == ["x", "y", "a", "b"]  # type: ignore[attr-defined]


def test_the_executor_tells_bindings_apart() -> None:
    """Equal graphs whose names are exchanged: names are not content, and bind all the same."""
    executor, chosen = executor_by_hand(), [variable("a", 2), variable("b", 3)]
    x, a, b = given("x"), given("b"), given("a")
    twin = graph_of([x, a, b], add(x, mul(a, mul(b, b))))

    assert twin == weighted()
    assert executor(weighted(), 1, variables=chosen)[0] == 19
    assert executor(twin, 1, variables=chosen)[0] == 13
    assert executor(twin, 1, variables=chosen[::-1])[0] == 13
    assert executor.statistics.misses == 2


def test_inputs_without_names_are_bound_by_position() -> None:
    """The variables that name no input go to the last inputs, in order."""
    a, x, u, v = given("a"), given("x"), *(Input(ONE) for _ in "uv")
    graph = graph_of([a, x, u, v], add(mul(a, x), mul(u, mul(v, v))))
    chosen = [variable("p", 2), variable("a", 1000), variable("q", 3)]

    assert build_by_hand(graph, variables=chosen)(1)[0] == 1018


def test_names_that_do_not_match_are_refused() -> None:
    """With both lists; never by position instead."""
    both = (
        "variables: no input is named 'c': the variables are 'c', 'a'; the inputs of the graph are "
        "'x', 'a', 'b'"
    )
    with pytest.raises(GraphError, match=both):
        build_by_hand(weighted(), variables=[variable("c", 1), variable("a", 1)])
    u, x = Input(ONE), given("x")
    with pytest.raises(GraphError, match=r"inputs of the graph are \(no name\), 'x'; name them"):
        build_by_hand(graph_of([u, x], add(u, x)), variables=[variable("w", 1)])


def test_a_name_must_say_which() -> None:
    a, b = given("a"), given("a")
    chosen = [variable("a", 1), variable("a", 2)]
    twice = "2 inputs and 2 variables are named 'a', so the name does not say which is which"

    with pytest.raises(GraphError, match=twice):
        build_by_hand(graph_of([a, b], add(a, b)), variables=chosen)
    with pytest.raises(GraphError, match="1 inputs and 2 variables are named 'a'"):
        build_by_hand(weighted(), variables=chosen)


def test_a_mapping_binds_whatever_the_names_are() -> None:
    """For inputs of one name, or variables called otherwise."""
    graph = weighted()
    _, a, b = graph.inputs
    chosen = {b: variable("q", 3), a: variable("q", 2)}

    assert build_by_hand(graph, variables=chosen)(1)[0] == 19
    assert executor_by_hand()(graph, 1, variables=chosen)[0] == 19
    with pytest.raises(GraphError, match=r"the key Input.* is no input of the graph"):
        build_by_hand(weighted(), variables=chosen)


@pytest.mark.parametrize("wrong", [None, 3, "ab", [None], [np.ones(2)], {"a": 1}])
def test_only_variables_are_variables(wrong: Any) -> None:
    with pytest.raises(GraphError, match=r"variables.*(give a sequence of|is no) variable"):
        build_by_hand(weighted(), variables=wrong)
    with pytest.raises(GraphError, match=r"updates.*(give a sequence of|is no) variable"):
        build_by_hand(weighted(), updates=wrong)


def test_an_error_lists_the_first_names() -> None:
    """Of a hundred, twelve."""
    inputs = [given(f"w{i}") for i in range(100)]
    store = Store()
    chosen = [store.create(f"v{i}", f32(1)) for i in range(100)]

    with pytest.raises(GraphError, match=r"'w11', \.\.\. \(100 in all\); name them alike"):
        build_by_hand(graph_of(inputs, *inputs), variables=chosen)
