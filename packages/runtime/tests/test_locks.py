"""Several locks: all are held, or none."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from byparts_graph_ir import TensorType
from byparts_runtime import Variable
from byparts_runtime.run.locks import lock_of


def _free(variables: list[Any]) -> list[bool]:
    """For each variable, whether another thread gets its lock."""
    got: list[bool] = []

    def ask() -> None:
        for v in variables:
            got.append(v.lock.acquire(blocking=False))
            if got[-1]:
                v.lock.release()

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    return got


def test_all_are_held_within_and_none_after() -> None:
    variables = [Variable(name, TensorType("f32", (2,))) for name in "abc"]
    lock = lock_of(variables)
    with lock:
        with lock:
            assert _free(variables) == [False] * 3
        assert _free(variables) == [False] * 3
    assert _free(variables) == [True] * 3


@pytest.mark.parametrize("at", range(3))
def test_an_interrupt_while_one_is_waited_for_gives_the_others_back(at: int) -> None:
    class Interrupted:
        def acquire(self) -> bool:
            raise KeyboardInterrupt

        def release(self) -> None:
            raise AssertionError("it was not taken")

    variables = [Variable(name, TensorType("f32", (2,))) for name in "abc"]
    lock: Any = lock_of(variables)
    free = list(lock._locks)
    lock._locks = (*free[:at], Interrupted(), *free[at:])

    with pytest.raises(KeyboardInterrupt), lock:
        raise AssertionError("nothing is held")
    assert _free(variables) == [True] * 3
