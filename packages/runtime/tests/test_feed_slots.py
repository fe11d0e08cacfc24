"""Feed slots: one batch is written while the program runs on another."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from far_backend import far_backend
from hypothesis import given as each, settings, strategies as st
from processes import LIMIT_S, forked, needs_fork
from toy_backend import TOY, add, build_by_hand, f32, fail, given, graph_of, mul

from byparts_graph_ir import ArgumentError, GraphError
from byparts_runtime import Arena, FeedSlots, Store

SIZE = 10_000  # elements: copies let other threads run


def doubling(size: int = SIZE) -> Any:
    x = given("x", size)
    return build_by_hand(graph_of([x], add(x, x)), arena=Arena())


def fill(slots: FeedSlots, number: float) -> None:
    with slots.next(LIMIT_S) as (x,):
        x[:] = number


def started(work: Callable[[], object]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_batches_run_in_order() -> None:
    slots = FeedSlots(doubling(2))
    with slots.next() as (x,):
        x[:] = [1, 2]
    fill(slots, 3)

    assert repr(slots) == "FeedSlots(filled, filled)"
    assert slots.run()[0].tolist() == [2, 4]
    assert slots.run()[0].tolist() == [6, 6]
    assert repr(slots) == "FeedSlots(free, free)"


def test_the_arrays_are_those_that_the_program_reads() -> None:
    """Aligned, of the feeds' types, the same ones each time around."""
    x, y = given("x", 3), given("y", 2, 0)
    slots = FeedSlots(build_by_hand(graph_of([x, y], mul(x, x), y)), count=1)
    seen = []
    for number in (2.0, 3.0):
        with slots.next() as arrays:
            seen.append(arrays)
            arrays[0][:] = number
        squares, _ = slots.run()
        assert squares.tolist() == [number**2] * 3

    assert seen[0] is seen[1]
    assert [(a.shape, a.dtype) for a in seen[0]] == [((3,), np.float32), ((2, 0), np.float32)]
    assert seen[0][0].ctypes.data % 64 == 0


def test_one_is_filled_while_another_runs() -> None:
    """Both at the same moment."""
    running, filled = Event(), Event()
    x = given("x")
    program = build_by_hand(graph_of([x], fail(x)))
    slots = FeedSlots(program)

    class Slow(list[BaseException]):
        def __bool__(self) -> bool:
            running.set()
            assert filled.wait(LIMIT_S)
            return False

    def load() -> None:
        assert running.wait(LIMIT_S)
        fill_0d(2.0)
        filled.set()

    def fill_0d(number: float) -> None:
        with slots.next(LIMIT_S) as (array,):
            array[...] = number

    fill_0d(1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toy_backend.raising", Slow())
        thread = started(load)
        first = slots.run()
        thread.join(LIMIT_S)
        assert [float(first[0]), float(slots.run(LIMIT_S)[0])] == [1, 2]


def test_a_loop_ends_when_they_are_closed() -> None:
    """And all that was filled has run."""
    slots = FeedSlots(doubling())

    def load() -> None:
        with slots:
            for number in range(20):
                fill(slots, number)

    thread = started(load)
    got = [np.unique(y).tolist() for (y,) in slots]
    thread.join(LIMIT_S)

    assert got == [[2.0 * n] for n in range(20)] and slots.closed
    with pytest.raises(GraphError, match=r"FeedSlots\(free, free; closed\): all that was filled"):
        slots.run()
    with pytest.raises(GraphError, match=r"nothing is filled after close\(\)"):
        fill(slots, 1)


def test_what_was_never_filled_does_not_run() -> None:
    slots = FeedSlots(doubling(1))
    with pytest.raises(GraphError, match=r"FeedSlots\(free, free\): within 0 s no set .* is fille"):
        slots.run(0)
    with slots.next(), pytest.raises(GraphError, match=r"FeedSlots\(filling, free\): within 0 s"):
        slots.run(0)
    fill(slots, 1)
    with pytest.raises(GraphError, match=r"\(filled, filled\): within 0 s no set .* is free: run"):
        slots.next(0).__enter__()


def test_nobody_waits_where_nobody_could_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byparts_runtime.run.feed_slots.active_count", lambda: 1)
    slots = FeedSlots(doubling(1), count=1)
    with pytest.raises(GraphError, match=r"is filled: `with .*, and no other thread could"):
        slots.run()
    fill(slots, 1)
    with pytest.raises(GraphError, match=r"is free: run\(\) one, and no other thread could"):
        fill(slots, 2)


def test_a_fill_that_fails_leaves_its_set_free() -> None:
    """What was filled before it and after it runs."""
    slots = FeedSlots(doubling(1))
    fill(slots, 1)
    with pytest.raises(ValueError, match="could not convert"):
        fill(slots, "no number")  # type: ignore[arg-type]
    assert repr(slots) == "FeedSlots(filled, free)"
    fill(slots, 2)

    assert [slots.run()[0][0], slots.run()[0][0]] == [2, 4]


def test_a_run_that_fails_frees_its_set(monkeypatch: pytest.MonkeyPatch) -> None:
    x = given("x")
    slots = FeedSlots(build_by_hand(graph_of([x], fail(x))))
    for number in (1.0, 2.0):
        with slots.next() as (array,):
            array[...] = number
    monkeypatch.setattr("toy_backend.raising", [OverflowError("no")])
    with pytest.raises(OverflowError):
        slots.run()
    monkeypatch.undo()

    assert repr(slots) == "FeedSlots(free, filled)" and float(slots.run()[0]) == 2


def test_a_closed_loop_does_not_wait_for_a_fill_that_failed() -> None:
    slots = FeedSlots(doubling(1))
    begun, go = Event(), Event()

    def load() -> None:
        with suppress(ZeroDivisionError), slots.next():
            begun.set()
            go.wait(LIMIT_S)
            raise ZeroDivisionError

    thread = started(load)
    begun.wait(LIMIT_S)
    slots.close()
    go.set()

    assert list(slots) == []
    thread.join(LIMIT_S)


@settings(max_examples=25, deadline=None)
@each(
    st.integers(1, 3),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.integers(1, 3),
    st.integers(0, 2**32),
)
def test_any_threads_run_each_batch_once(
    count: int, fails: list[bool], runners: int, seed: int
) -> None:
    """One filler, some of whose fills fail; several runners.  Each run sees one whole batch."""
    slots, rng = FeedSlots(doubling(200), count), random.Random(seed)
    got: list[tuple[int, list[float]]] = []

    def load() -> None:
        with slots:
            for number, failing in enumerate(fails):
                with suppress(ZeroDivisionError), slots.next(LIMIT_S) as (x,):
                    for part in np.array_split(x, rng.randrange(1, 4)):
                        part[:] = number
                    if failing:
                        raise ZeroDivisionError

    def run() -> None:
        for (y,) in slots:
            got.append((0, np.unique(y).tolist()))

    threads = [started(work) for work in (load, *[run] * runners)]
    for thread in threads:
        thread.join(LIMIT_S)

    expected = [[2.0 * n] for n, failing in enumerate(fails) if not failing]
    values = [value for _, value in got]
    assert values == expected if runners == 1 else sorted(values) == expected


def test_several_threads_fill() -> None:
    """Nothing is lost."""
    slots = FeedSlots(doubling(100), count=3)
    numbers: Iterator[int] = iter(range(60))

    def load() -> None:
        for number in numbers:
            fill(slots, number)

    threads = [started(load) for _ in range(3)]
    got = sorted(float(slots.run(LIMIT_S)[0][0]) for _ in range(60))
    for thread in threads:
        thread.join(LIMIT_S)

    assert got == [2.0 * n for n in range(60)]


def test_a_training_loop_trains() -> None:
    store = Store()
    w = store.create("w", f32(4))
    x, old = given("x", 4), given("w", 4)
    program = build_by_hand(graph_of([x, old], add(old, x)), variables=(w,), updates=(w,))
    slots = FeedSlots(program)

    def load() -> None:
        with slots:
            for number in range(10):
                fill(slots, number)

    thread = started(load)
    assert len(list(slots)) == 10
    thread.join(LIMIT_S)

    assert w.read().tolist() == [45] * 4


@needs_fork
def test_a_child_has_slots_of_its_own() -> None:
    """What was filled runs there too; what other threads were filling does not keep it waiting."""
    slots = FeedSlots(doubling(4), count=3)
    fill(slots, 1)
    begun, go = Event(), Event()

    def load() -> None:
        with slots.next() as (x,):
            x[:] = 50
            begun.set()
            go.wait(LIMIT_S)

    thread = started(load)
    begun.wait(LIMIT_S)

    def use() -> list[float]:
        first = float(slots.run(LIMIT_S)[0][0])
        for number in (7, 8, 9):  # there is room for three
            fill(slots, number)
        slots.close()
        return [first, *(float(y[0]) for (y,) in slots)]

    answers = forked(use, count=2)
    go.set()
    thread.join(LIMIT_S)

    assert answers == [[2.0, 14.0, 16.0, 18.0]] * 2
    assert [float(slots.run()[0][0]) for _ in range(2)] == [2, 100]


def test_what_cannot_have_slots_is_refused() -> None:
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))
    with pytest.raises(ArgumentError, match="FeedSlots: count is 0; expected 1 or more, 2 as a r"):
        FeedSlots(program, 0)
    with pytest.raises(ArgumentError, match="FeedSlots: program is int 5; it takes Program"):
        FeedSlots(5)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="FeedSlots: the program takes no feeds; call it"):
        FeedSlots(build_by_hand(graph_of([], add(*[_full()] * 2)), backends=(TOY,)))
    far = build_by_hand(graph_of([x], add(x, x)), backends=(far_backend(),))
    with pytest.raises(
        GraphError, match="the program is in far:0, and arrays of NumPy are in host"
    ):
        FeedSlots(far)


def _full() -> Any:
    from toy_backend import Full

    from byparts_graph_ir import Node

    return Node(Full(1.0), ()).outputs[0]


def test_arrays_of_a_backend() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    kernels = pytest.importorskip("byparts_kernels_torch", reason="needs byparts-kernels-torch")
    slots = FeedSlots(doubling(2), arrays=kernels.make())
    with slots.next() as (x,):
        x.copy_(torch.tensor([3.0, 4.0]))

    assert slots.run()[0].tolist() == [6, 8]
