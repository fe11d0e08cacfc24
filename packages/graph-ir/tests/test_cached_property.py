"""A value that is computed when first read, without a lock that a forked child could wait for."""

from __future__ import annotations

from threading import Event, Thread

from processes import LIMIT_S, forked, needs_fork

from byparts_graph_ir.model.cached_property import cached_property

begun, done = Event(), Event()


class Slow:
    """Its value takes as long as its reader says."""

    def __init__(self, waits: bool) -> None:
        self.waits, self.calls = waits, 0

    @cached_property
    def value(self) -> int:
        """Computed."""
        self.calls += 1
        if self.waits:
            begun.set()
            done.wait(LIMIT_S)
        return self.calls


def test_a_value_is_computed_once_for_each_instance() -> None:
    a, b = Slow(waits=False), Slow(waits=False)

    assert (a.value, a.value, b.value) == (1, 1, 1)
    assert Slow.value.__doc__ == "Computed."


@needs_fork
def test_a_child_computes_while_a_thread_of_its_parent_computes() -> None:
    """`functools.cached_property` before Python 3.12 hangs here: it has one lock a class."""
    thread = Thread(target=lambda: Slow(waits=True).value, daemon=True)
    thread.start()
    begun.wait(LIMIT_S)
    answers = forked(lambda: Slow(waits=False).value)
    done.set()
    thread.join(LIMIT_S)

    assert answers == [1]
