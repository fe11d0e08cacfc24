"""The device dies, or the user does not want to wait: variables are as of the last finished step."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from threading import Timer
from typing import Any

import numpy as np
import pytest
from acme_byparts_npu.backend import make
from acme_byparts_npu.driver import NpuError, NpuLost
from acme_byparts_npu.ops import Delay
from acme_byparts_npu.space import Tensor, command

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import Program, Store, build

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")
COMMITS = pytest.mark.parametrize("commit", ["auto", "copy"])


def trained(commit: str, seconds: float, fetches: bool = True) -> tuple[Program, Store]:
    """w and m grow by x each step; m by way of a kernel that takes its time, in the middle."""
    store = Store(parts.backend("npu").space)
    variables = tuple(store.create(n, np.zeros(3, "float32")) for n in "wm")
    x = Input(TensorType("f32", (3,)), None, "x")
    w, m = (Input(v.type, None, v.name) for v in variables)
    late = Delay(seconds)(x)
    graph = Graph.of([x, w, m], [*[ops.sum(m)] * fetches, w + x, ops.neg(ops.neg(m + late))])
    program = build(
        graph,
        backends=("npu",),
        variables=variables,
        updates=variables,
        commit=commit,
        passes=(),
    )
    return program, store


def counts(store: Store) -> list[list[float]]:
    return [v.read().tolist() for v in store]


def device() -> Any:
    return parts.backend("npu").space.driver


@contextmanager
def later(seconds: float, number: int, own: bool) -> Any:
    """A signal to this process or to the device."""
    space = parts.backend("npu").space
    tensor = space.view(space.allocate(64), 0, TensorType("f32", (1,)))
    tensor[...] = tensor  # now it runs
    timer = Timer(seconds, lambda: os.kill(os.getpid() if own else device().pid, number))
    timer.start()
    try:
        yield
    finally:
        timer.join()


ONE = np.ones(3, "float32")


@COMMITS
@pytest.mark.parametrize("fetches", [True, False])
def test_the_device_is_killed_within_a_kernel(commit: str, fetches: bool) -> None:
    program, store = trained(commit, 0.5, fetches)
    program(ONE)
    before = counts(store)

    lost = pytest.raises(NpuLost, match="killed by signal 9 while it computed delay")
    with lost as raised, later(0.2, signal.SIGKILL, own=False):
        program(ONE)

    assert counts(store) == before == [[1.0] * 3] * 2
    said = "".join(getattr(raised.value, "__notes__", raised.value.args))
    assert "the variables are as they were before this run" in said
    assert "the next run starts it again" in str(raised.value)
    program(ONE)
    assert counts(store) == [[2.0] * 3] * 2


@COMMITS
def test_ctrl_c_within_a_kernel_of_the_device(commit: str) -> None:
    """The device is stopped as well, so nothing of the step runs on."""
    program, store = trained(commit, 60.0)

    with pytest.raises(KeyboardInterrupt), later(0.3, signal.SIGINT, own=True):
        program(ONE)

    assert device().pid is None
    assert counts(store) == [[0.0] * 3] * 2


def test_ctrl_c_is_not_for_the_device() -> None:
    """A terminal sends it to all processes of the group, and the device is not in it."""
    program, store = trained("auto", 0.3)
    with later(0.1, signal.SIGINT, own=False):
        program(ONE)

    assert counts(store) == [[1.0] * 3] * 2
    assert os.getpgid(device().pid) != os.getpgid(0)


@COMMITS
def test_a_kernel_of_the_device_raises(commit: str) -> None:
    """Of a step that waits a negative time; what comes after it in the step is not done."""
    program, store = trained(commit, -1.0)

    with pytest.raises(NpuError, match="ValueError: sleep length must be non-negative"):
        program(ONE)

    assert counts(store) == [[0.0] * 3] * 2
    fine, _ = trained(commit, 0.0)
    fine(ONE)


def test_the_device_is_killed_within_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first of two copies: both are made again, on the next device, before it is told."""
    program, store = trained("copy", 0.0)
    assign, left = Tensor.__setitem__, [1]

    def killing(self: Tensor, index: object, source: Tensor) -> None:
        assign(self, index, source)
        if left:
            left.pop()
            device().send(*command("delay", (self,), (self,), seconds=5.0))
            os.kill(device().pid, signal.SIGKILL)
            device().synchronize()

    monkeypatch.setattr(Tensor, "__setitem__", killing)
    with pytest.raises(NpuLost) as raised:
        program(ONE)

    assert counts(store) == [[1.0] * 3] * 2
    said = "".join(getattr(raised.value, "__notes__", raised.value.args))
    assert "the variables have their new values: all of this run is done" in said


def test_a_device_that_died_while_idle_is_no_trouble() -> None:
    program, store = trained("auto", 0.0)
    program(ONE)
    os.kill(device().pid, signal.SIGKILL)
    time.sleep(0.2)

    program(ONE)

    assert counts(store) == [[2.0] * 3] * 2


def test_a_forked_child_is_refused_and_makes_a_device_of_its_own() -> None:
    """Commands of two processes would mix; and the parent's device outlives the child."""
    program, store = trained("auto", 0)
    program(np.ones(3, "float32"))
    child = os.fork()
    if not child:
        code = 1
        try:
            with pytest.raises(NpuError, match=rf"process {os.getppid()}, .*make\(\) another one"):
                program(np.ones(3, "float32"))
            own = Store(make().space).create("v", np.ones(3, "float32"))
            code = int(own.read().tolist() != [1.0] * 3)
        finally:
            os._exit(code)

    assert os.waitpid(child, 0)[1] == 0
    program(np.ones(3, "float32"))
    assert counts(store) == [[2.0] * 3] * 2
