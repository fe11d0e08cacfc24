"""Updates on the variables themselves: the last thing of a run, or not at all."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from toy_backend import (
    TOY,
    Add,
    add,
    build_by_hand,
    donating,
    fail,
    given,
    graph_of,
    kernels,
    mul,
    notes,
    product,
    raising,
)

from byparts_graph_ir import Backend, Graph, GraphError, Op, Table, TensorType, Types
from byparts_graph_ir.backend.kernel import in_c
from byparts_runtime import Program, Store, Variable

TWO = np.array([1, 2], np.float32)


def step(w: Any, x: Any) -> Any:
    return add(w, product(x, 2.0))


def trained(graph: Graph, *variables: Variable, **options: Any) -> Program:
    options = {"planner": donating, **options}
    return build_by_hand(graph, variables=variables, updates=variables, **options)


def test_nothing_is_copied() -> None:
    """The last node writes the variable's own bytes."""
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    program = trained(graph_of([x, w], step(w, x)), v)

    program(TWO)

    assert v.read().tolist() == [3, 5]
    assert "0 bytes copied a run, 1 variables updated in place" in program.explain()
    assert v.size_bytes == 8


def test_updates_stand_behind_all_other_nodes() -> None:
    """What reads the old value runs before, wherever it was written down."""
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    new = step(w, x)
    loss = mul(w, x)  # written after the update, and reads the old value
    program = trained(Graph.of([x, w], [loss, new], order=[new, loss]), v)

    (fetched,) = program(TWO)

    assert fetched.tolist() == [1, 2]
    assert program.steps[-1].node.op == Add()


def test_a_swap_is_copied() -> None:
    """Each update reads what the other overwrites."""
    a, b = given("a"), given("b")
    store = Store()
    u, v = store.create("a", np.float32(1)), store.create("b", np.float32(2))
    program = trained(graph_of([a, b], add(a, mul(b, b)), add(b, a)), u, v)

    program()

    assert [float(u.read()), float(v.read())] == [5, 3]


def test_an_old_value_passed_on_is_copied() -> None:
    """A history: b becomes the old a."""
    x, a, b = given("x"), given("a"), given("b")
    store = Store()
    u, v = store.create("a", np.float32(1)), store.create("b", np.float32(2))
    program = trained(graph_of([x, a, b], step(a, x), a), u, v)

    program(1.0)

    assert [float(u.read()), float(v.read())] == [3, 1]


def test_a_fetched_new_value_is_copied() -> None:
    """It is read after the run, when the commit has not been yet."""
    x, a = given("x"), given("a")
    v = Store().create("a", np.float32(1))
    new = step(a, x)
    program = build_by_hand(
        graph_of([x, a], new, new), variables=(v,), updates=(v,), planner=donating
    )

    assert [float(program(1.0)[0]), float(v.read())] == [3, 3]


def test_a_run_that_fails_leaves_it() -> None:
    """The update would have been possible, and was not begun."""
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    program = trained(graph_of([x, w], add(w, fail(x))), v)
    raising.append(ZeroDivisionError("no"))
    try:
        with pytest.raises(ZeroDivisionError, match="no") as raised:
            program(TWO)
    finally:
        raising.clear()

    assert v.read().tolist() == [1, 1]
    assert "the variables are as they were before this run" in notes(raised.value)


def test_a_kernel_in_python_is_no_update_in_place() -> None:
    """Ctrl-C could come in the middle of it."""
    slow: Table[Any] = Table("kernel")
    slow._rules.update(kernels._rules)
    slow._rules[Add] = lambda op, xs, ys: lambda: np.add(*xs, *ys)
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    backend = Backend("slow", TOY.view, slow)
    program = trained(graph_of([x, w], step(w, x)), v, backends=(backend,))

    program(TWO)

    assert v.read().tolist() == [3, 5]
    assert "8 bytes copied a run" in program.explain()


def test_a_kernel_that_fails_in_the_rehearsal_is_no_update_in_place() -> None:
    """It fails as a step, where nothing depends on it yet."""
    broken: Table[Any] = Table("kernel")
    broken._rules.update(kernels._rules)
    broken._rules[Add] = lambda op, xs, ys: partial(np.add, xs[0], np.ones(3), ys[0])
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    backend = Backend("broken", TOY.view, broken)
    program = trained(graph_of([x, w], step(w, x)), v, backends=(backend,))

    with pytest.raises(ValueError, match="could not be broadcast"):
        program(TWO)
    assert v.read().tolist() == [1, 1]


def test_the_rehearsal_is_silent() -> None:
    """On memory of zeros it may divide 0 by 0, which is no warning to the user."""
    dividing: Table[Any] = Table("kernel")
    dividing.on(Add)(lambda op, xs, ys: partial(np.divide, *xs, *ys))
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    backend = Backend("dividing", TOY.view, dividing)
    program = trained(graph_of([x, w], add(w, x)), v, backends=(backend,))

    program(TWO)

    assert v.read().tolist() == [1, 0.5]
    assert "1 variables updated in place" in program.explain()


class Outer(Op):
    """x yᵀ of two vectors: more than it is made of."""

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (TensorType(x.dtype, (*x.dims, *y.dims)),)


def with_outer() -> Backend:
    known: Table[Any] = Table("kernel")
    known._rules.update(kernels._rules)
    known.on(Outer)(lambda op, xs, ys: partial(np.multiply, xs[0][:, None], xs[1], ys[0]))
    return Backend("with_outer", TOY.view, known)


def two_weights(x: Any, w: Any, b: Any) -> Graph:
    """A matrix whose gradient is made of two vectors, and a vector."""
    dx = mul(x, x)
    return graph_of([x, w, b], add(w, Outer()(dx, dx)), add(b, dx))


def test_a_large_gradient_is_computed_in_the_commit() -> None:
    """Behind the other update, on the way to its own; the values are as ever."""
    x, w, b = given("x", 3), given("w", 3, 3), given("b", 3)
    store = Store()
    u, v = store.create("w", np.ones((3, 3), "f4")), store.create("b", np.ones(3, "f4"))
    program = trained(two_weights(x, w, b), u, v, backends=(with_outer(),))

    program(np.array([1, 2, 3], np.float32))

    assert [s.node.op.name for s in program._machine.cycle().updates] == ["add", "outer", "add"]
    np.testing.assert_array_equal(u.read(), 1 + np.outer([1, 4, 9], [1, 4, 9]))
    np.testing.assert_array_equal(v.read(), [2, 5, 10])


def test_a_gradient_that_reads_a_variable_is_not_late() -> None:
    """Its old value would be gone."""
    x, w, b = given("x", 3), given("w", 3, 3), given("b", 3)
    store = Store()
    u, v = store.create("w", np.ones((3, 3), "f4")), store.create("b", np.full(3, 2, "f4"))
    graph = graph_of([x, w, b], add(w, Outer()(mul(x, x), b)), add(b, x))
    program = trained(graph, u, v, backends=(with_outer(),))

    program(np.array([1, 2, 3], np.float32))

    np.testing.assert_array_equal(u.read(), 1 + np.outer([1, 4, 9], [2, 2, 2]))
    assert "outer" not in [s.node.op.name for s in program._machine.cycle().updates]


def test_profiling_leaves_the_variables() -> None:
    """The updates are timed, and taken back."""
    x, w = given("x", 2), given("w", 2)
    v = Store().create("w", np.ones(2, np.float32))
    program = trained(graph_of([x, w], step(w, x)), v)

    measured = program.profile(TWO, runs=3)
    program.trace(TWO)

    assert measured.ops[-1] == "add"
    assert v.read().tolist() == [1, 1]


def test_what_runs_in_c() -> None:
    assert in_c(partial(np.add, 1, 2))
    assert in_c(partial(divmod, 1, 2))
    assert not in_c(partial(np.copyto, np.zeros(1), 1))  # asks Python who else implements it
    assert not in_c(partial(lambda: None))
    assert not in_c(lambda: None)


def test_a_way_to_commit_that_is_none_is_refused() -> None:
    x = given("x")

    with pytest.raises(GraphError, match="commit='inplace': expected one of auto, copy"):
        build_by_hand(graph_of([x], x), commit="inplace")
