"""Order, overlap, errors, deletion; names of tests follow the facts about MXNet's engine."""

from __future__ import annotations

import gc
import sys
import weakref
from threading import Barrier, Event, current_thread
from typing import Any

import pytest
from random_tasks import SECONDS, check, steps, wait_for

from byparts_engine import Engine, EngineError


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_equal_those_run_one_by_one(seed: int) -> None:
    check(seed)


def test_two_readers_run_at_the_same_time_and_then_what_needs_both() -> None:
    meeting = Barrier(2)
    memory: dict[str, int] = {"a": 5}

    def add(name: str, number: int) -> None:
        meeting.wait(SECONDS)  # passes only where both run
        memory[name] = memory["a"] + number

    with Engine(2) as engine:
        a, b, c, d = map(engine.new_variable, "abcd")
        engine.push(lambda: add("b", 1), [a], [b])
        engine.push(lambda: add("c", 2), [a], [c])
        engine.push(lambda: memory.update(d=memory["b"] * memory["c"]), [b, c], [d])
        engine.wait_for(d)
    assert memory["d"] == 42


def test_a_write_waits_for_all_readers_before_it() -> None:
    start, seen, memory = Event(), [], [1]

    def read() -> None:
        start.wait(SECONDS)
        seen.append(memory[0])

    with Engine(4) as engine:
        a = engine.new_variable("a")
        for _ in range(2):
            engine.push(read, reads=[a])
        engine.push(lambda: memory.__setitem__(0, 2), writes=[a])
        engine.push(read, reads=[a])
        start.set()
    assert seen == [1, 1, 2]


def test_writes_keep_their_order_whatever_their_priority() -> None:
    drawn: list[int] = []
    with Engine(4) as engine:
        generator = engine.new_variable("random numbers")
        for i in range(50):
            engine.push(lambda i=i: drawn.append(i), writes=[generator], priority=i)  # type: ignore[misc]
    assert drawn == list(range(50))


def test_the_highest_priority_runs_first_then_the_first_pushed() -> None:
    start, order = Event(), []
    with Engine(1) as engine:
        engine.push(lambda: start.wait(SECONDS))
        for name, priority in (("b", 0), ("c", 0), ("a", 7), ("d", -1)):
            engine.push(lambda name=name: order.append(name), priority=priority)  # type: ignore[misc]
        start.set()
    assert order == ["a", "b", "c", "d"]


def test_deletion_comes_after_the_last_reader_and_after_failures() -> None:
    start, log = Event(), []
    with Engine(2) as engine:
        a, b = engine.new_variable("a"), engine.new_variable("b")
        engine.push(steps(wait_for(start), lambda: log.append("read")), reads=[a])
        engine.delete(a, lambda: log.append("deleted"))
        engine.push(lambda: 1 // 0, writes=[b])
        engine.delete(b, lambda: log.append("deleted too"))
        with pytest.raises(EngineError, match=r"Variable\('a'\) is deleted; make another"):
            engine.push(int, reads=[a])
        start.set()
        with pytest.raises(ZeroDivisionError):
            engine.wait_all()
    assert sorted(log) == ["deleted", "deleted too", "read"]
    assert log.index("read") < log.index("deleted")


def test_an_error_travels_along_what_depends_on_it_and_is_raised_once() -> None:
    ran = []
    with Engine(2) as engine:
        a, b, c = map(engine.new_variable, "abc")
        engine.push(lambda: 1 // 0, writes=[a])
        engine.push(lambda: ran.append("b"), [a], [b])
        engine.push(lambda: ran.append("c"), writes=[c])
        engine.wait_for(c)
        with pytest.raises(ZeroDivisionError) as caught:
            engine.wait_for(b)
        if sys.version_info >= (3, 11):
            assert "in a function pushed at" in caught.value.__notes__[0]
            assert "test_engine.py" in caught.value.__notes__[0]
        engine.wait_for(b)
        engine.wait_all()
        with pytest.raises(ZeroDivisionError):
            engine.wait_for(a)  # what failed is not forgotten by a wait for another
        engine.push(lambda: ran.append("a"), writes=[a])
        engine.wait_all()
    assert ran == ["c", "a"]


def test_a_reader_pushed_before_a_wait_meets_the_error_that_the_wait_raised() -> None:
    start, ran = Event(), []
    with Engine(2) as engine:
        a, b = engine.new_variable("a"), engine.new_variable("b")
        engine.push(wait_for(start), writes=[b])
        engine.push(lambda: 1 // 0, writes=[a])
        engine.push(lambda: ran.append(1), reads=[a, b])  # runs after the wait for a
        with pytest.raises(ZeroDivisionError):
            engine.wait_for(a)
        start.set()
        engine.wait_all()
        engine.wait_for(a)
    assert not ran


def test_a_wait_for_all_raises_each_error_once_and_mends_what_carries_it() -> None:
    with Engine(1) as engine:
        a, b = engine.new_variable("a"), engine.new_variable("b")
        engine.push(lambda: 1 // 0, writes=[a])
        engine.push(lambda: [][0], writes=[b])
        with pytest.raises(ZeroDivisionError):
            engine.wait_all()
        engine.wait_for(a)
        with pytest.raises(IndexError):
            engine.wait_all()
        engine.wait_for(a, b)
        engine.wait_all()


def test_a_chain_of_failures_is_no_recursion() -> None:
    with Engine(1) as engine:
        a = engine.new_variable("a")
        engine.push(lambda: 1 // 0, writes=[a])
        for _ in range(5000):
            engine.push(int, writes=[a])
        with pytest.raises(ZeroDivisionError):
            engine.wait_for(a)


def test_work_of_one_lane_overlaps_another() -> None:
    """Layer 1 sends its gradient while layer 0 computes, as a key-value store does."""
    sending, computed = Event(), Event()
    with Engine({"cpu": 1, "copy": 1}) as engine:
        gradients = [engine.new_variable(f"gradient {i}") for i in range(2)]
        engine.push(int, writes=[gradients[1]])
        engine.push(steps(sending.set, wait_for(computed)), reads=[gradients[1]], lane="copy")
        engine.push(steps(wait_for(sending), computed.set), writes=[gradients[0]])
        engine.wait_all()
    assert computed.is_set()


def test_a_push_does_not_wait_and_a_wait_does() -> None:
    start, done = Event(), []
    with Engine(1) as engine:
        a = engine.new_variable("a")
        engine.push(steps(wait_for(start), lambda: done.append(1)), writes=[a])
        assert not done  # the push returned while its function waits for us
        start.set()
        engine.wait_for(a)
        assert done


def test_a_wait_for_what_is_done_does_not_need_a_free_worker() -> None:
    start = Event()
    with Engine(1) as engine:
        a, b = engine.new_variable("a"), engine.new_variable("b")
        engine.push(int, writes=[a])
        engine.push(lambda: start.wait(SECONDS), writes=[b])
        engine.wait_for(a)
        start.set()


def test_functions_may_push_and_may_not_wait() -> None:
    ran: list[Any] = []
    with Engine(1) as engine:
        a = engine.new_variable("a")
        engine.push(lambda: engine.push(lambda: ran.append(1), writes=[a]), writes=[a])
        engine.wait_all()
        assert ran == [1]
        for wait in (lambda: engine.wait_for(a), engine.wait_all, engine.close):
            engine.push(wait, writes=[a])
            with pytest.raises(EngineError, match="cannot wait for others"):
                engine.wait_for(a)


def test_a_variable_read_and_written_is_written() -> None:
    ran: list[int] = []
    with Engine(2) as engine:
        a = engine.new_variable("a")
        engine.push(lambda: ran.append(1), [a, a], [a, a])
        engine.push(lambda: ran.append(2), [a])
    assert ran == [1, 2]


def test_close_cancels_what_has_not_begun() -> None:
    begun, start, ran = Event(), Event(), []
    engine = Engine(1)
    engine.push(steps(begun.set, wait_for(start), lambda: ran.append("first")))
    engine.push(lambda: ran.append("second"))
    engine.delete(engine.new_variable("a"), lambda: ran.append("deleted"))
    begun.wait(SECONDS)
    try:
        with engine:
            engine.push(start.set, lane="cpu")  # never runs: the only worker waits
            start.set()
            raise KeyError("of the caller")
    except KeyError:
        pass
    assert ran[0] == "first"
    assert ran[-1] == "deleted"
    engine.close()
    with pytest.raises(EngineError, match="closed; make another"):
        engine.push(int)


def test_close_raises_an_error_that_nobody_waited_for() -> None:
    engine = Engine(1)
    engine.push(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        engine.close()
    engine.close()


def test_bad_arguments_say_what_there_is() -> None:
    for workers in (0, -1, {}, {"cpu": 1, "copy": 0}, {"": 1}):
        with pytest.raises(EngineError, match="at least one worker"):
            Engine(workers)
    lanes = "no lane 'gpu'; this engine has: cpu, copy"
    with Engine({"cpu": 1, "copy": 1}) as engine, pytest.raises(EngineError, match=lanes):
        engine.push(int, lane="gpu")


def test_functions_are_dropped_when_they_have_run() -> None:
    class Large:
        pass

    with Engine(1) as engine:
        large = Large()
        alive = weakref.ref(large)
        engine.push(lambda large=large: None)  # type: ignore[misc]
        del large
        engine.wait_all()
        gc.collect()
        assert alive() is None


def test_threads_are_named_and_none_starts_before_it_is_needed() -> None:
    names: list[str] = []
    with Engine({"cpu": 1, "copy": 1}) as engine:
        assert not engine._workers.threads
        engine.push(lambda: names.append(current_thread().name), lane="copy")
    assert names == ["byparts-engine-copy"]
