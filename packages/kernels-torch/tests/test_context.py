"""What a run changes of the process is as before afterwards.  Needs torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from threading import Thread

import pytest
from processes import needs_fork

torch = pytest.importorskip("torch", reason="needs torch")
context = pytest.importorskip("byparts_kernels_torch.context", reason="needs torch")


def small() -> float:
    """A denormal, unless they are zero."""
    return float(torch.tensor(1e-39) * 0.5)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


def test_denormals_are_zero_within() -> None:
    with context.Context(None, False):
        assert small() == 0
    assert small() > 0


def test_denormals_stay_where_asked() -> None:
    with context.Context(None, True):
        assert small() > 0


def test_who_had_them_zero_keeps_them_so() -> None:
    torch.set_flush_denormal(True)
    with context.Context(None, False):
        pass

    assert small() == 0


def test_threads_are_those_asked_for_within() -> None:
    torch.set_num_threads(1)
    with context.Context(2, False):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 1


def test_nothing_is_recorded_for_autograd() -> None:
    x = torch.ones(2, requires_grad=True)
    with context.Context(None, False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_runs_within_runs_and_beside_each_other_leave_it_as_before() -> None:
    """Torch's guard is good for one time: each run has its own."""
    inside: list[bool] = []

    def run(depth: int) -> None:
        for _ in range(20):
            with context.Context(None, False):
                inside.append(torch.is_inference_mode_enabled())
                if depth:
                    run(depth - 1)
                inside.append(torch.is_inference_mode_enabled())
            inside.append(torch.is_inference_mode_enabled() == (depth < 1))

    threads = [Thread(target=run, args=(1,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    run(1)
    for thread in threads:
        thread.join()

    assert len(inside) == 4 * 20 * (3 + 3 * 20)
    assert all(inside)
    assert not torch.is_inference_mode_enabled()


def test_an_error_leaves_it_as_before() -> None:
    with pytest.raises(ZeroDivisionError), context.Context(2, False):
        raise ZeroDivisionError

    assert small() > 0
    assert not torch.is_inference_mode_enabled()


FORKED = """
import os, signal, torch
from byparts_kernels_torch.context import Context
torch.set_num_threads(2)
torch.tanh(torch.ones(1 << 20))  # starts the other thread
child = os.fork()
if child == 0:
    signal.alarm(60)  # a safety net
    counted = [torch.get_num_threads()]
    with Context(2, False):
        counted.append(torch.get_num_threads())
        torch.tanh(torch.ones(1 << 20))
    os._exit(0 if counted == [1, 1] else 1)
print(os.waitpid(child, 0)[1], torch.get_num_threads())
"""


@needs_fork
def test_a_forked_child_computes_with_one_thread() -> None:
    """Those of its parent are not there, and OpenMP would wait for them for ever."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["0", "2"]
