"""A forked child has one thread: the locks of the others are free, and their work is done."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest
from processes import LIMIT_S, forked, needs_fork

from byparts_graph_ir import fork
from byparts_graph_ir.fork import begin, end, make_lock

pytestmark = needs_fork


def held_elsewhere(lock: Any) -> tuple[Thread, Event]:
    """A thread that holds the lock until told."""
    held, done = Event(), Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(LIMIT_S)

    thread = Thread(target=hold, daemon=True)
    thread.start()
    held.wait()
    return thread, done


def test_a_lock_that_another_thread_holds_is_free_in_a_child() -> None:
    """There it would be held by nobody, for ever; here it is as it was."""
    lock = make_lock()
    thread, done = held_elsewhere(lock)
    answers = forked(lambda: lock.acquire(timeout=1), count=2)
    still_held = not lock.acquire(blocking=False)
    done.set()
    thread.join()

    assert answers == [True, True] and still_held


def test_a_lock_that_the_forking_thread_holds_stays_its_own() -> None:
    """The child goes on where the parent was, within the lock."""
    lock = make_lock()

    def leave() -> tuple[bool, bool]:
        held = lock._is_owned()
        lock.release()
        return held, lock._is_owned()

    with lock:
        assert forked(leave) == [(True, False)] and lock._is_owned()


def test_locks_that_are_gone_are_forgotten() -> None:
    before = len(fork._locks)
    for _ in range(100):
        make_lock()

    assert len(fork._locks) == before


class Work:
    """Something that a thread does until it is told to stop."""

    def __init__(self, until: Callable[[], object]) -> None:
        self.forgotten, self.done = 0, 0
        self._until, self._begun = until, Event()

    def forget(self) -> None:
        self.forgotten += 1

    def __enter__(self) -> Work:
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()
        self._begun.wait()
        return self

    def __exit__(self, *raised: object) -> None:
        self._thread.join(LIMIT_S)

    def _work(self) -> None:
        try:
            begin(self, (self,))
            self._begun.set()
            self._until()
            self.done += 1
        finally:
            end(self)


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(LIMIT_S * 1000):
        if condition():
            return
        sleep(0.001)


def test_a_fork_waits_for_the_work_of_other_threads() -> None:
    """The work ends only when the fork has begun, and the child sees it done."""
    with Work(until=lambda: wait_for(lambda: fork._forks)) as work:
        assert forked(lambda: (work.done, work.forgotten)) == [(1, 0)]


def test_what_a_fork_does_not_wait_for_is_forgotten_in_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each time; and in the parent it is not."""
    monkeypatch.setattr(fork, "PATIENCE_S", 0.0)
    done = Event()
    with Work(until=lambda: done.wait(LIMIT_S)) as work:
        answers = forked(lambda: (work.done, work.forgotten), count=2)
        done.set()

    assert answers == [(0, 1), (0, 1)] and (work.done, work.forgotten) == (1, 0)
    assert not fork._work and forked(lambda: work.forgotten) == [0]


def test_what_one_fork_has_given_up_the_next_does_not_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pool of many is not held up once for each; what begins after is waited for."""
    monkeypatch.setattr(fork, "PATIENCE_S", 0.0)
    done = Event()
    with Work(until=lambda: done.wait(LIMIT_S)) as stuck:
        forked(lambda: 0)
        monkeypatch.setattr(fork, "PATIENCE_S", 3600.0)
        with Work(until=lambda: wait_for(lambda: fork._forks)) as work:
            answers = forked(lambda: (stuck.done, stuck.forgotten, work.done), count=2)
        done.set()

    assert answers == [(0, 1, 1)] * 2


def test_work_of_the_forking_thread_goes_on_in_both() -> None:
    work = Work(until=lambda: answers.extend(forked(lambda: work.forgotten)))
    answers: list[int] = []
    with work:
        pass

    assert answers == [0] and work.done == 1


def test_what_begins_during_a_fork_waits_for_it() -> None:
    """One thread works until the fork has begun, another begins then; the child sees neither."""
    late: list[Work] = []

    def until() -> None:
        wait_for(lambda: fork._forks)
        late.append(Work(until=lambda: None))
        late[0]._thread = Thread(target=late[0]._work, daemon=True)
        late[0]._thread.start()

    with Work(until) as work:
        assert forked(lambda: (work.done, late[0].done, late[0].forgotten)) == [(1, 0, 0)]
    late[0]._thread.join(LIMIT_S)
    assert late[0].done == 1


def test_work_within_work_does_not_wait_for_a_fork() -> None:
    """Or each would wait for the other."""

    def until() -> None:
        wait_for(lambda: fork._forks)
        try:
            begin(inner)
        finally:
            end(inner)

    inner = object()
    with Work(until) as work:
        assert forked(lambda: work.done) == [1]


def test_forks_of_several_threads_take_turns() -> None:
    answers: list[int] = []
    threads = [Thread(target=lambda: answers.extend(forked(lambda: 1))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [1] * 4 and not fork._forks and not fork._work
