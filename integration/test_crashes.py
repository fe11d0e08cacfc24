"""Whatever happens within a step, the next run starts from the last finished one.

A kernel that raises, Ctrl-C, a device that dies and a process that is killed: all of them real.
What happens to the NPU of a stranger is tried in `third_party/acme-byparts-npu/tests`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, Input, Op, TensorType, Types
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_numpy import make
from byparts_runtime import Program, Store, build
from third_party.environment import Environment

SCRIPTS = Path(__file__).parent / "crashes"
COMMITS = ("auto", "copy")


class Stumble(Op):
    """y = x, most of the time."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


def stumbling(trouble: Callable[[], object]) -> Backend:
    """NumPy's backend, in which `stumble` does this first."""
    numpy = make()
    backend = Backend("stumbling", numpy.view)

    @backend.kernels.on(Stumble)
    def stumble(op: Stumble, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
        def run() -> None:
            outputs[0][...] = 77
            trouble()
            outputs[0][...] = inputs[0]

        return run

    return backend


def trained(trouble: Callable[[], object], commit: str) -> tuple[Program, Store]:
    """w and m grow by one each step; m by way of the kernel that stumbles, in the middle."""
    store = Store()
    variables = tuple(store.create(n, np.zeros(3, "float32")) for n in "wm")
    w, m = (Input(v.type, None, v.name) for v in variables)
    new_w = w + 1
    graph = Graph.of([w, m], [ops.sum(new_w), new_w, ops.tanh(Stumble()(m)) * 0 + new_w])
    program = build(
        graph,
        backends=(stumbling(trouble), "numpy"),
        variables=variables,
        updates=variables,
        commit=commit,
    )
    return program, store


def counts(store: Store) -> list[list[float]]:
    return [v.read().tolist() for v in store]


class Trouble:
    """Does something once, when told to."""

    def __init__(self, what: Callable[[], object]) -> None:
        self.what, self.due = what, False

    def __call__(self) -> None:
        if self.due:
            self.due = False
            self.what()


def fail() -> None:
    raise RuntimeError("the device is on fire")


@contextmanager
def alarm(after_s: float, number: int) -> Iterator[None]:
    """A signal to this process, from a thread."""
    timer = Timer(after_s, os.kill, (os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.mark.parametrize("commit", COMMITS)
def test_a_kernel_that_raises_leaves_the_last_step(commit: str) -> None:
    trouble = Trouble(fail)
    program, store = trained(trouble, commit)
    program()
    before = counts(store)

    trouble.due = True
    with pytest.raises(RuntimeError, match="on fire") as raised:
        program()

    assert counts(store) == before == [[1.0] * 3] * 2
    notes = getattr(raised.value, "__notes__", None) or str(raised.value.args[0])
    assert "the variables are as they were before this run" in "".join(notes)
    assert "on 'stumbling', stumble: (f32[3]) -> (f32[3])" in "".join(notes)
    program()
    assert counts(store) == [[2.0] * 3] * 2


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("commit", COMMITS)
def test_ctrl_c_in_a_kernel_leaves_the_last_step(commit: str) -> None:
    ended: list[str] = []

    def sleep() -> None:
        time.sleep(60)
        ended.append("ended")

    trouble = Trouble(sleep)
    program, store = trained(trouble, commit)
    program()

    trouble.due = True
    with pytest.raises(KeyboardInterrupt), alarm(0.1, signal.SIGINT):
        program()

    assert not ended and counts(store) == [[1.0] * 3] * 2
    program()
    assert counts(store) == [[2.0] * 3] * 2


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize(("backend", "rounds", "longest"), [("numpy", 40, 0.01), ("npu", 10, 0.4)])
def test_ctrl_c_at_any_time_tears_no_step_apart(
    acme: Environment, tmp_path: Path, backend: str, rounds: int, longest: float, commit: str
) -> None:
    """Also within the commit: all elements of all variables are of one step.

    The NPU is started again after each, which takes most of the time.
    """
    process = acme.start(SCRIPTS / "interrupted.py", backend, commit, cwd=tmp_path)
    assert process.stdin is not None and process.stdout is not None, "both are pipes"
    last, times = 0.0, random.Random(0)
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            for _ in range(rounds):
                process.stdin.write("\n")
                process.stdin.flush()
                assert process.stdout.readline() == "running\n"
                time.sleep(times.uniform(0, longest))
                process.send_signal(signal.SIGINT)
                (count,) = map(float, process.stdout.readline().split())
                assert count >= last
                last = count
        finally:
            process.kill()
    assert last > 10


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize("backend", ["numpy", "npu"])
def test_a_killed_training_goes_on_to_the_same_numbers(
    acme: Environment, tmp_path: Path, backend: str
) -> None:
    """Killed in a step or while it saves; each new process loads what was saved last, whole."""
    steps, times = "30", random.Random(1)
    whole = acme.run(SCRIPTS / "training.py", backend, "whole.npz", steps, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    killed, finished = 0, 0
    while finished < 30:
        process = acme.start(SCRIPTS / "training.py", backend, "torn.npz", steps, cwd=tmp_path)
        with process:
            finished = killed_after(process, finished, times.uniform(0, 0.06))
            killed += process.wait() == -signal.SIGKILL

    ours, theirs = (np.load(tmp_path / f"{name}.npz") for name in ("torn", "whole"))
    assert killed >= 4
    assert all(np.array_equal(ours[name], theirs[name]) for name in ("step", "w", "ballast"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["torn.npz", "whole.npz"]


def killed_after(process: subprocess.Popen[str], finished: int, seconds: float) -> int:
    """Let it finish some steps and a bit more, then kill it; how many were done at least."""
    assert process.stdout is not None, "a pipe"
    first = process.stdout.readline().split()
    assert first[0] == "from" and int(first[1]) >= finished, "no step that was saved is lost"
    for _ in range(4):
        finished = int((process.stdout.readline().split() or ("all", "30"))[1])
    time.sleep(seconds)
    process.kill()
    rest = process.stdout.read().split()
    return max(finished, *map(int, rest[1::2])) if rest else finished
