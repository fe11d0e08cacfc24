"""Interrupts pushes and waits of an engine at random moments; run by `test_processes.py`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from byparts_engine import Engine


@contextmanager
def interrupts(every_s: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in this thread again and again."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, every_s, every_s)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


def pushes() -> None:
    """An interrupted push is done or not; all that returned are done, in order."""
    ran: list[int] = []
    tried = interrupted = 0
    with Engine(2) as engine:
        a = engine.new_variable("a")
        try:
            with interrupts(0.0005):
                while interrupted < 100:
                    try:
                        while True:
                            engine.push(lambda i=tried: ran.append(i), writes=[a])  # type: ignore[misc]
                            tried += 1
                    except KeyboardInterrupt:
                        interrupted += 1
        except KeyboardInterrupt:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # it came on the way out of the loop
        engine.wait_all()
    assert ran == sorted(ran)
    assert set(range(tried)) <= set(ran)
    print("pushes whole")


def waits() -> None:
    """A wait that is interrupted leaves the error for the next."""
    start, interrupted, raised = threading.Event(), 0, 0
    with Engine(1) as engine:
        a = engine.new_variable("a")
        engine.push(lambda: (start.wait(60), 1 // 0), writes=[a])
        for wait in (engine.wait_all, lambda: engine.wait_for(a)):
            try:
                with interrupts(0.05):
                    wait()
            except KeyboardInterrupt:
                interrupted += 1
        start.set()
        try:
            engine.wait_for(a)
        except ZeroDivisionError:
            raised += 1
    assert (interrupted, raised) == (2, 1)
    print("error kept")


if __name__ == "__main__":
    pushes()
    waits()
