"""The searches behind `order`: exact where that is possible, and right about what they prove."""

from __future__ import annotations

from hypothesis import HealthCheck, given as drawn, settings
from hypothesis.strategies import integers
from planned_ops import Add, Copy, Full, Neg, Reshape, given
from random_graphs import all_orders, graphs_with_external
from random_kernels import Kernels, any_kernels

from byparts_graph_ir import (
    Graph,
    Op,
    OptimizationBarrier,
    TensorType,
    Types,
    Value,
    verify,
)
from byparts_memplan import order, peak_bytes
from byparts_memplan.ordering.bound import bound
from byparts_memplan.ordering.list_schedule import deep, eager, frugal, late
from byparts_memplan.ordering.max_flow import Network
from byparts_memplan.ordering.search import search, separators
from byparts_memplan.ordering.tasks import Tasks
from byparts_memplan.ordering.window import Window, best_order


class Take(Op):
    """Two elements."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (2,)),)


class Both(Op):
    """The first half of each of two inputs, as views."""

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return tuple(TensorType(v.dtype, (v.size // 2,)) for v in (x, y))

    def views(self, x: TensorType, y: TensorType) -> tuple[tuple[int, int, int], ...]:
        return (0, 0, 0), (1, 1, 0)


class Beside(Op):
    """A view, and something computed that may be written over the input once nobody reads that."""

    inplace = ((0, 1),)

    def infer(self, x: TensorType) -> Types:
        return (x, x)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)


class Fresh(Op):
    """Twice like its input, whose bytes it ignores, and over which it says it may be written."""

    ignores = (0,)
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x, x)


slow = settings(suppress_health_check=[HealthCheck.too_slow])


@slow
@drawn(graphs_with_external(most=6), any_kernels())
def test_small_graphs_get_the_best_order_and_its_proof(
    drawn: tuple[Graph, frozenset[int]], kernels: Kernels | None
) -> None:
    """Of all orders, by brute force; views and joins included."""
    graph, external = drawn
    best = min(peak_bytes(other, external, kernels=kernels) for other in all_orders(graph))
    better = verify(order(graph, external=external, kernels=kernels))

    assert peak_bytes(better, external, kernels=kernels) == best
    assert search(Tasks(graph, external, kernels), 50_000).bound_bytes == best


@slow
@drawn(graphs_with_external(most=30), any_kernels())
def test_an_order_is_a_permutation_and_never_worse(
    drawn: tuple[Graph, frozenset[int]], kernels: Kernels | None
) -> None:
    """With effects as they were; and asking again gives the same graph."""
    graph, external = drawn
    better = verify(order(graph, external=external, kernels=kernels))
    before = peak_bytes(graph, external, kernels=kernels)

    assert {id(n) for n in better.nodes} == {id(n) for n in graph.nodes}
    assert [n for n in better.nodes if n.op.effect] == [n for n in graph.nodes if n.op.effect]
    assert better is graph or peak_bytes(better, external, kernels=kernels) < before
    assert order(better, external=external, kernels=kernels) is better


@drawn(graphs_with_external(most=12), any_kernels())
def test_tasks_count_what_the_plan_will_hold(
    drawn: tuple[Graph, frozenset[int]], kernels: Kernels | None
) -> None:
    """To the byte, where views stand right before their readers."""
    graph, external = drawn
    tasks = Tasks(graph, external, kernels)
    same = verify(tasks.graph_of(tasks.graph_order))
    peak = peak_bytes(same, external, kernels=kernels)

    assert tasks.peak_bytes(tasks.levels(tasks.graph_order)) == peak
    assert peak <= peak_bytes(graph, external, kernels=kernels)


@drawn(graphs_with_external(most=12), any_kernels())
def test_list_schedules_are_orders(
    drawn: tuple[Graph, frozenset[int]], kernels: Kernels | None
) -> None:
    """And what is eager never raises the peak that it was given."""
    graph, external = drawn
    tasks = Tasks(graph, external, kernels)
    for sequence in (tasks.graph_order, frugal(tasks), late(tasks), deep(tasks)):
        peak = tasks.peak_bytes(tasks.levels(sequence))
        sooner = eager(tasks, sequence)

        verify(tasks.graph_of(sequence))
        verify(tasks.graph_of(sooner))
        assert tasks.peak_bytes(tasks.levels(sooner)) <= peak


@slow
@drawn(graphs_with_external(most=6))
def test_the_bound_of_a_task_holds_in_every_order(drawn: tuple[Graph, frozenset[int]]) -> None:
    """Some order reaches it, unless the task writes in place, or inputs are idle."""
    graph, external = drawn
    tasks = Tasks(graph, external)
    rows = [Tasks(other, external) for other in all_orders(graph)]
    for task, node in enumerate(tasks.nodes[: tasks.first_join]):
        least = min(
            levels[t.graph_order.index(t.nodes.index(node))]
            for t, levels in [(t, t.levels(t.graph_order)) for t in rows]
        )

        assert bound(tasks, task).level_bytes <= least
        assert bound(tasks, task, work=0).level_bytes <= least
        if not tasks.over[task] and not tasks.idle_bytes:
            assert bound(tasks, task).level_bytes == least


@drawn(graphs_with_external(most=9), integers(0, 9), integers(1, 9))
def test_a_window_is_ordered_without_touching_the_rest(
    drawn: tuple[Graph, frozenset[int]], start: int, length: int
) -> None:
    """What it says of its own levels is what the whole sequence then has there."""
    graph, external = drawn
    tasks = Tasks(graph, external)
    given = tasks.graph_order
    window = _window(tasks, start, start + length)
    during, before = tasks.alive(given)
    part = slice(start, start + length)

    live = before[start] if start < len(given) else 0
    assert window.alive(live) == (during[part], before[part])
    if during[part]:
        found = best_order(window, live, 0, max(during[part]) + 1, 10_000)
        levels = tasks.levels([*given[:start], *(found.tasks or ()), *given[start + length :]])
        assert found.bound_bytes == max(levels[part]) <= max(during[part])


def test_a_search_without_effort_says_so() -> None:
    """Nothing found, nothing proved."""
    x = given(8)
    copies = [Copy()(x) for _ in range(4)]
    tasks = Tasks(Graph.of([x], [Neg()(c) for c in copies], order=copies), {0})
    found = best_order(_window(tasks, 0, 8), 0, 0, 1000, 0)

    assert found.tasks is None
    assert found.bound_bytes < 1000


def test_separators_are_what_everything_comes_before_or_after() -> None:
    """The first, and where the branches meet; a sum behind a skip connection is one too."""
    x = given(8)
    a = Copy()(x)
    b, c = Neg()(a), Copy()(a)
    d = Add()(b, c)
    e = Copy()(d)
    graph = Graph.of([x], [Add()(e, d)])

    assert separators(Tasks(graph)) == [0, 3, 4, 5]


def test_a_constant_waits_for_its_reader() -> None:
    """Made first, it would be alive during the large copy."""
    x = given(64)
    one = Full((2,))()
    large = Copy()(Copy()(x))
    small = Take()(large)
    graph = Graph.of([x], [Add()(small, one)], order=[one, large, small])

    assert peak_bytes(order(graph, external={0}), {0}) == peak_bytes(graph, {0}) - 8


def test_a_recomputation_stays_behind_its_barrier() -> None:
    """It could run at once, and then nothing would be saved."""
    x = given(64)
    a = Copy()(x)
    b = Copy()(Copy()(a))
    again = Copy()(OptimizationBarrier()(x, b))
    graph = Graph.of([x], [Add()(b, again)])
    better = order(graph, external={0})

    assert better is graph
    assert Tasks(graph, {0}).before[-1] == (2,)


def test_the_branch_that_needs_most_is_finished_first() -> None:
    """While it runs, nothing of the other one is alive."""
    x = given(64)
    light, left, right = Copy()(x), Copy()(x), Copy()(x)
    heavy = Add()(left, right)
    end = Add()(light, heavy)
    graph = Graph.of([x], [end], order=[light, left, right, heavy, end])
    tasks = Tasks(graph)

    expected = [v.node for v in (left, right, heavy, light, end)]
    assert [tasks.nodes[t] for t in deep(tasks)] == expected


def test_deep_chains_need_no_recursion() -> None:
    """Of steps, and of views."""
    x: Value = given(4)
    y, views = x, [x]
    for _ in range(3000):
        y = Neg()(y)
        views.append(Reshape((4,))(views[-1]))
    graph = Graph.of([x], [Add()(y, views[-1]), Copy()(x)])
    tasks = Tasks(graph)

    assert verify(tasks.graph_of(late(tasks))) is not graph
    assert verify(tasks.graph_of(deep(tasks))) is not graph
    assert peak_bytes(order(graph)) <= peak_bytes(graph)


def test_a_flow_is_as_large_as_its_smallest_cut() -> None:
    """Two paths that share their last edge; and no answer where it may not look far enough."""
    network = Network(4, 0, 3)
    for tail, head, capacity in ((0, 1, 3), (0, 2, 4), (1, 2, 9), (2, 3, 5)):
        network.connect(tail, head, capacity)

    assert network.flow() == 5
    assert network.source_side() == [True, True, True, False]
    assert network.flow(work=0) == 0
    network.connect(0, 3, 1)
    assert network.flow(work=0) is None


def best_of_all(graph: Graph) -> int:
    return min(peak_bytes(other) for other in all_orders(graph))


def test_a_view_of_several_is_made_while_they_are_there() -> None:
    """Made late, it would keep all of x for the sake of one that nobody needs."""
    x, y = given(8), given(2)
    half, _ = Both().outputs_of(Copy()(y), x)
    other = Full((8,))()
    graph = Graph.of([x, y], [half, other], order=[other])

    assert best_of_all(graph) == peak_bytes(order(graph)) < peak_bytes(graph)


def test_a_view_of_a_view_keeps_what_comes_beside_it_apart() -> None:
    """What is computed beside the first view must not be taken to lie over its input."""
    view, _ = Beside().outputs_of(Full((4,))())
    again = Reshape((4,))(view)
    made = Graph.of([], [again, Full((2,))()])
    graph = Graph((), made.nodes, ())

    assert search(Tasks(graph), 1000).peak_bytes == best_of_all(graph) == 32


def test_what_is_ignored_is_not_written_over() -> None:
    """Its bytes may be another's by then."""
    x = given(8)
    graph = Graph.of([x], [Fresh().outputs_of(x)[0], Take()(x)])

    assert search(Tasks(graph), 1000).peak_bytes == best_of_all(graph) == 64 + 8


def test_the_first_task_may_write_over_what_nobody_reads() -> None:
    """An input whose type alone is wanted is there until that task has run, and only then."""
    x = given(8)
    one, other = Fresh().outputs_of(x)
    graph = Graph.of([x], [Take()(one), other])

    assert search(Tasks(graph), 1000).bound_bytes == best_of_all(graph) == 64 + 8


def _window(tasks: Tasks, start: int, end: int) -> Window:
    last = [-1] * len(tasks.size)
    for place, task in enumerate(tasks.graph_order):
        for r in tasks.reads[task]:
            last[r] = place
    return Window(tasks, tasks.graph_order[start:end], last, start, end)
