"""The cache of programs: what hits, what is built, what goes, and failure."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from toy_backend import TOY, add, f32, given, graph_of, mul, unknown

from byparts_graph_ir import GraphError, MissingRule, ShapeError
from byparts_runtime import Executor, Statistics, Store


def executor_by_hand(**options: Any) -> Executor:
    return Executor(backends=(TOY,), passes=(), planner=None, legalize=None, **options)


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def doubled() -> Any:
    x = given("x", "n")
    return graph_of([x], add(x, x))


def test_alternating_fetches_hit_the_cache() -> None:
    """T7: `run(step)`, `run(loss)` in turn builds two programs, not one each time."""
    x = given("x", 2)
    step, loss = graph_of([x], add(x, x)), graph_of([x], mul(x, x))
    executor = executor_by_hand()

    for _ in range(5):
        executor(step, ones(2))
        executor(loss, ones(2))

    assert executor.statistics == Statistics(hits=8, misses=2)


def test_equal_graphs_share_a_program() -> None:
    """The key is the content: a graph built again each time hits too."""
    executor = executor_by_hand()

    results = [executor(doubled(), ones(3))[0].tolist() for _ in range(3)]

    assert results == [[2, 2, 2]] * 3
    assert executor.statistics == Statistics(hits=2, misses=1)


def test_a_new_shape_is_planned_anew() -> None:
    """T7: and the old one is still there afterwards."""
    executor, graph = executor_by_hand(), doubled()

    sizes = [executor(graph, ones(n))[0].shape for n in (2, 5, 2)]
    small, large = (executor.program(graph, (f32(n),)).plan.arena_bytes for n in (2, 500))

    assert sizes == [(2,), (5,), (2,)]
    assert executor.statistics == Statistics(hits=2, misses=3)
    assert small < large


def test_the_least_recently_used_goes() -> None:
    """A hit makes an entry young again."""
    executor, graph = executor_by_hand(capacity=2), doubled()
    for n in (1, 2, 1, 3):  # 2 is the oldest when 3 comes
        executor(graph, ones(n))

    executor(graph, ones(1))
    assert executor.statistics == Statistics(hits=2, misses=3, evictions=1)
    executor(graph, ones(2))
    assert executor.statistics == Statistics(hits=2, misses=4, evictions=2)
    assert len(executor) == 2


def test_other_variables_are_another_program() -> None:
    """Equal graphs on two stores keep two states."""
    executor, a, one = executor_by_hand(), given("a"), given("one")
    graph = graph_of([one, a], add(a, one))
    v, w = (Store().create("a", np.float32(0)) for _ in range(2))

    for variable in (v, v, w):
        executor(graph, 1.0, variables=(variable,), updates=(variable,))

    assert [float(v.read()), float(w.read())] == [2, 1]
    assert executor.statistics == Statistics(hits=1, misses=2)


def test_a_failed_build_leaves_everything_as_it_was() -> None:
    """Cache, statistics, variables; and the next build works."""
    executor, x = executor_by_hand(), given("x", 2)
    v = Store().create("x", ones(2))
    executor(doubled(), ones(2))
    bad = graph_of([x], unknown(add(x, x)))

    with pytest.raises(MissingRule, match="no kernel for Unknown"):
        executor(bad, variables=(v,), updates=(v,))

    assert (len(executor), executor.statistics) == (1, Statistics(misses=1))
    assert v.read().tolist() == [1, 1]
    executor(doubled(), ones(2))
    assert executor.statistics == Statistics(hits=1, misses=1)


def test_numbers_take_the_dtype_of_the_input() -> None:
    """Lists have no type to be a key with."""
    assert executor_by_hand()(doubled(), [1, 2])[0].tolist() == [2, 4]


def test_wrong_feeds_are_refused() -> None:
    """By dtype, by shape, by number."""
    executor = executor_by_hand()

    with pytest.raises(
        ShapeError, match=r"input 'x' is f32\[n\] in the graph and cannot be f64\[2\]"
    ):
        executor(doubled(), np.ones(2))
    with pytest.raises(ShapeError, match=r"input 'x' is f32\[n\] .* cannot be f32\[2,2\]"):
        executor(doubled(), ones(2, 2))
    with pytest.raises(GraphError, match=r"takes 1 feeds \(x: f32\[n\]\), got 0"):
        executor(doubled())
    with pytest.raises(GraphError, match="capacity is 0"):
        executor_by_hand(capacity=0)


def test_threads_build_once() -> None:
    """Four threads that need the same new program wait for one build."""
    executor, graph = executor_by_hand(), doubled()
    results: list[Any] = []
    threads = [
        Thread(target=lambda k=k: results.append((k, executor(graph, ones(9) * k)[0][0])))
        for k in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert sorted(results) == [(k, 2 * k) for k in range(4)]
    assert executor.statistics == Statistics(hits=3, misses=1)
