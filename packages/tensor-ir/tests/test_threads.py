"""Loops that threads share: the results of one thread to the bit, also in a forked child."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from emitters import all_emitters

from byparts_tensor_ir import threads
from byparts_tensor_ir.build import build
from byparts_tensor_ir.functions import call
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.tensor import compute, placeholder

ROWS = 1000


@pytest.fixture(autouse=True)
def _threads_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(threads, "_told", None)
    yield
    monkeypatch.undo()
    for pool in threads._pools:
        pool.byparts_threads(threads.threads())


def _program() -> Any:
    a = placeholder((ROWS, 37), "A")
    b = compute((ROWS, 37), lambda i, j: call("exp", a[i, j]) * 0.5, "B")
    return build(Schedule(lower([a, b], "shared")).vectorize("B_j").parallel("B_i").func, None, "c")


@pytest.fixture
def numbers() -> tuple[Any, Any]:
    x = np.random.default_rng(0).standard_normal((ROWS, 37)).astype(np.float32)
    threads.set_threads(1)
    y = np.empty_like(x)
    _program()(x, y)
    return x, y


@all_emitters
@pytest.mark.parametrize("count", [2, 3, 7])
def test_results_do_not_depend_on_the_number(count: int, numbers: tuple[Any, Any]) -> None:
    (x, wanted), program = numbers, _program()
    threads.set_threads(count)
    before = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 0
    for _ in range(50):
        y = np.empty_like(x)
        program(x, y)
        np.testing.assert_array_equal(y, wanted)
    if before:
        assert count <= len(os.listdir("/proc/self/task")) <= before + count - 1


@all_emitters
def test_several_callers_at_once(numbers: tuple[Any, Any]) -> None:
    (x, wanted), program = numbers, _program()
    threads.set_threads(3)

    def run(_: int) -> bool:
        y = np.empty_like(x)
        for _ in range(50):
            program(x, y)
        return np.array_equal(y, wanted)

    with ThreadPoolExecutor(4) as callers:
        assert all(callers.map(run, range(8)))


@all_emitters
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of 3.12, at a fork
def test_forked_child_has_threads_of_its_own(numbers: tuple[Any, Any]) -> None:
    (x, wanted), program = numbers, _program()
    threads.set_threads(3)
    y = np.empty_like(x)
    program(x, y)
    child = os.fork()
    if not child:
        y[:] = 0
        program(x, y)
        os._exit(0 if np.array_equal(y, wanted) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
    assert threads.threads() == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert 1 <= threads.threads() <= (os.cpu_count() or 1)
    threads.set_threads(4)
    assert threads.threads() == 4
    with pytest.raises(ValueError, match=r"set_threads\(0\): at least one thread"):
        threads.set_threads(0)
