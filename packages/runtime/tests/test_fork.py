"""Programs and variables in forked children, and on their way to other processes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from processes import LIMIT_S, forked, needs_fork
from toy_backend import TOY, add, build_by_hand, donating, f32, fail, given, graph_of, mul

from byparts_graph_ir import GraphError, TensorType, fork
from byparts_runtime import Arena, Executor, Program, Store, Variable

COMMITS: dict[str, dict[str, Any]] = {
    "copy": {"commit": "copy"},
    "in place": {"commit": "auto", "planner": donating},
}
SIZE = 50_000  # elements: copies let other threads run


@pytest.fixture(params=COMMITS)
def counter(request: pytest.FixtureRequest) -> tuple[Program, Store]:
    """Adds its feed to two variables that start as zeros; gives the old value of the first."""
    store = Store()
    a, b = (store.create(name, f32(SIZE)) for name in "ab")
    old_a, old_b, x = given("a", SIZE), given("b", SIZE), given("x", SIZE)
    graph = graph_of([x, old_a, old_b], old_a, add(old_a, x), add(old_b, x))
    ways = COMMITS[request.param]
    return build_by_hand(graph, variables=(a, b), updates=(a, b), **ways), store


ONES = np.ones(SIZE, np.float32)


def values(store: Store) -> list[list[float]]:
    """The different elements of each variable, sorted."""
    return [np.unique(v.read()).tolist() for v in store]


@contextmanager
def threads(work: Any, count: int = 2) -> Iterator[None]:
    """They repeat `work` meanwhile, and have begun."""
    done, begun = Event(), [Event() for _ in range(count)]

    def repeat(i: int) -> None:
        while not done.is_set():
            work()
            begun[i].set()

    running = [Thread(daemon=True, target=repeat, args=(i,)) for i in range(count)]
    for thread in running:
        thread.start()
    try:
        for event in begun:
            event.wait(LIMIT_S)
        yield
    finally:
        done.set()
        for thread in running:
            thread.join(LIMIT_S)


@needs_fork
def test_a_child_that_trains_leaves_the_variables_of_its_parent(
    counter: tuple[Program, Store],
) -> None:
    program, store = counter
    program(ONES)

    def train() -> list[list[float]]:
        for _ in range(3):
            program(ONES)
        store["b"].write(7 * ONES)
        return values(store)

    assert forked(train, count=2) == [[[4.0], [7.0]]] * 2
    assert values(store) == [[1.0], [1.0]]


@needs_fork
def test_a_parent_that_trains_leaves_the_variables_of_its_child(
    counter: tuple[Program, Store],
) -> None:
    """Also where both go on at the same time, on feeds in one arena."""
    program, store = counter

    def train() -> bool:
        fetched = [np.unique(program(ONES)[0]).tolist() for _ in range(20)]
        (first,) = fetched[0]
        expected = [[first + i] for i in range(21)]
        return [*fetched, values(store)[0]] == expected and values(store)[1] == expected[20]

    with threads(lambda: program(ONES)):
        assert forked(train, count=4) == [True] * 4
    (a,), (b,) = values(store)
    assert a == b == program(ONES)[0][0]


@needs_fork
def test_thirty_children_of_a_process_whose_threads_train_see_whole_steps(
    counter: tuple[Program, Store],
) -> None:
    """None hangs on a lock; both variables have the value after one and the same step."""
    program, store = counter

    def look() -> bool:
        (a,), (b,) = values(store)
        (fetched,) = program(ONES)
        return a == b and np.unique(fetched).tolist() == [a] and values(store) == [[a + 1]] * 2

    with threads(lambda: program(ONES)):
        assert forked(look, count=30) == [True] * 30


@needs_fork
def test_thirty_children_of_a_process_whose_threads_write_see_whole_values() -> None:
    """Of a variable that is written, and of a store that is loaded from a file."""
    variable = Variable("v", f32(SIZE))
    numbers = iter(range(10**9))

    def look() -> int:
        return len(np.unique(variable.read()))

    with threads(lambda: variable.write(np.full(SIZE, next(numbers), np.float32)), count=1):
        assert forked(look, count=30) == [1] * 30


@needs_fork
def test_a_child_builds_and_runs_while_threads_of_its_parent_do(tmp_path: Path) -> None:
    """Executors, arenas, stores and files, all in use by other threads at that moment."""
    executor, store = Executor(backends=(TOY,), passes=(), planner=None, order=None), Store()
    variable = store.create("v", np.float32(1))
    numbers = iter(range(10**9))

    def work() -> float:
        x, size = given("x", "n"), 1 + next(numbers) % 100
        (y,) = executor(graph_of([x], mul(x, x)), np.full(size, 3, np.float32))
        store.save(tmp_path / "v.npz")
        store.load(tmp_path / "v.npz")
        return float(y.sum() / size + variable.read())

    with threads(work):
        assert forked(work, count=20) == [10.0] * 20


@needs_fork
def test_a_variable_that_is_being_written_is_not_known_in_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the fork does not wait long enough; what the child writes, it knows."""
    monkeypatch.setattr(fork, "PATIENCE_S", 0.0)
    store = Store()
    v, w = store.create("v", np.ones(4, np.float32)), store.create("w", np.ones(4, np.float32))
    x = given("v", 4)
    program = build_by_hand(graph_of([x], add(x, x)), variables=(v,))
    begun, done = Event(), Event()

    def write() -> None:
        with store.lock:
            fork.begin(v, (v,))
            begun.set()
            done.wait(LIMIT_S)
            fork.end(v)

    def use() -> list[Any]:
        said = []
        for action in (v.read, program, lambda: store.save("never.npz")):
            with pytest.raises(GraphError, match=r"'v' was being written .* write") as error:
                action()
            said.append(str(error.value))
        v.write(np.full(4, 5, np.float32))
        return [len(set(said)), w.read().tolist(), v.read().tolist(), program()[0].tolist()]

    thread = Thread(daemon=True, target=write)
    thread.start()
    begun.wait(LIMIT_S)
    answers = forked(use)
    done.set()
    thread.join(LIMIT_S)

    assert answers == [[1, [1.0] * 4, [5.0] * 4, [10.0] * 4]]
    assert v.read().tolist() == [1.0] * 4


@needs_fork
def test_a_run_that_is_not_waited_for_is_as_if_it_had_not_been(
    counter: tuple[Program, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its arena is used again in the child, and the variables have their old values."""
    monkeypatch.setattr(fork, "PATIENCE_S", 0.0)
    begun, done = Event(), Event()
    x, old = given("x"), given("v")
    v = Variable("v", np.float32(1))
    program = build_by_hand(
        graph_of([x, old], fail(add(x, old)), add(x, old)), variables=(v,), updates=(v,)
    )

    class Raising(list[BaseException]):
        def __bool__(self) -> bool:
            begun.set()
            done.wait(LIMIT_S)
            return False

    def use() -> list[float]:
        done.set()
        return [float(program(2.0)[0]), float(v)]

    monkeypatch.setattr("toy_backend.raising", Raising())
    thread = Thread(daemon=True, target=lambda: program(1.0))
    thread.start()
    begun.wait(LIMIT_S)
    answers = forked(use)
    done.set()
    thread.join(LIMIT_S)

    assert answers == [[3.0, 3.0]] and float(v) == 2.0


@needs_fork
def test_a_bound_program_reads_the_arrays_of_its_own_process() -> None:
    x = given("x", 4)
    feed = np.ones(4, np.float32)
    bound = build_by_hand(graph_of([x], add(x, x))).bind(feed)

    def fill() -> list[float]:
        feed[:] = 5
        return list(map(float, bound()[0]))

    assert forked(fill) == [[10.0] * 4] and bound()[0].tolist() == [2.0] * 4


def test_what_is_bound_to_memory_is_not_pickled() -> None:
    """It says what to send instead."""
    store = Store()
    v = store.create("v", np.ones(2, np.float32))
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))
    advice: dict[Any, str] = {
        program: r"^Program cannot be pickled: .*; send the graph and .*, and build\(\) it there",
        program.bind(np.ones(2, np.float32)): "^BoundProgram cannot be pickled: .*; send the gr",
        v: r"^Variable 'v' cannot be pickled: .*; send variable.read\(\) and make a Variable",
        store: r"^Store cannot be pickled: .*read\(\) for v in store}, or save\(path\) here",
        Arena(): "^Arena cannot be pickled: .*; make another one there",
        Executor(backends=(TOY,)): "^Executor cannot be pickled: .*; send graphs, and make anoth",
    }

    for thing, expected in advice.items():
        for action in (pickle.dumps, copy.deepcopy):
            with pytest.raises(GraphError, match=expected):
                action(thing)


def test_seventy_thousand_variables_are_no_mappings() -> None:
    """A process may have some 65,000 of these."""
    store, kind = Store(), TensorType("f32", ())
    for i in range(70_000):
        store.create(str(i), kind)
    store["0"].write(1.0)
    store["69999"].write(2.0)

    assert [float(store[n]) for n in ("0", "1", "69998", "69999")] == [1.0, 0.0, 0.0, 2.0]
