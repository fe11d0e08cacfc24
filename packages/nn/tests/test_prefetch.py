"""Batches made in advance: the same ones in the same order, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

from byparts_graph_ir import GraphError
from byparts_nn.data import Data

NUMBERS = np.arange(12)


def doubled(x: int) -> int:
    if x == 7:
        raise ValueError("seven is refused")
    return x * 2


def killed(x: int) -> int:
    os._exit(3)


def workers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("byparts-engine")]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_keep_the_order(threads: int) -> None:
    """The batches are those without workers."""
    data = Data(NUMBERS[:7], seed=1).shuffle().map(doubled).batch(2)
    batches = list(data.prefetch(3, threads=threads).epoch(2))

    assert [b[0].tolist() for b in batches] == [b[0].tolist() for b in data.epoch(2)]
    assert workers() == []


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_at_its_batch_with_its_traceback(threads: int) -> None:
    """What was made before is given out first."""
    batches = Data(NUMBERS).map(doubled).batch(2).prefetch(4, threads=threads).epoch(0)
    got = [next(batches)[0].tolist() for _ in range(3)]
    with pytest.raises(ValueError, match="seven is refused") as caught:
        next(batches)

    assert got == [[0, 2], [4, 6], [8, 10]]
    assert "in doubled" in "".join(traceback.format_exception(caught.value))
    assert workers() == []


def test_a_loop_that_ends_early_leaves_no_thread() -> None:
    """`break` ends the workers."""
    for _ in Data(NUMBERS).batch(1).prefetch(2, threads=2).epoch(0):
        break

    assert workers() == []


def test_a_stream_is_read_by_one_thread() -> None:
    """The order of a stream is kept, however many threads are asked for."""
    data = Data(lambda: iter(range(9))).batch(2).prefetch(2, threads=4)

    assert [b[0].tolist() for b in data.epoch(0)] == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]


def test_processes_need_functions_that_can_be_sent() -> None:
    """A lambda is refused before a process starts, and the error says what to do."""
    data = Data(NUMBERS).map(lambda x: x).batch(2).prefetch(processes=2)

    with pytest.raises(GraphError, match=r"prefetch\(processes=2\): .*at the top of a module"):
        list(data.epoch(0))


PROGRAM = """
import sys, numpy as np
sys.path.insert(0, sys.argv[1])
from byparts_nn.data import Data
import prefetch_functions as f

if __name__ == "__main__":
    data = Data(np.arange(12)).map(getattr(f, sys.argv[2])).batch(2).prefetch(2, processes=1)
    try:
        for (x,) in data.epoch(0):
            print(x.tolist(), flush=True)
    except Exception as error:
        import traceback
        print(type(error).__name__, error, "in doubled" in traceback.format_exc())
"""
FUNCTIONS = """
import os, time
def doubled(x):
    if x == 7:
        raise ValueError("seven is refused")
    return x * 2
def killed(x):
    os._exit(3)
def slow(x):
    time.sleep(0.0 if x < 2 else 60)
    return os.getpid()
"""


def program(folder: Path, function: str) -> subprocess.Popen[str]:
    (folder / "prefetch_functions.py").write_text(FUNCTIONS)
    (folder / "main.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "main.py"), str(folder), function]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def test_processes_give_batches_and_errors(tmp_path: Path) -> None:
    """A spawned process makes the batches; its error has its traceback."""
    out, _ = program(tmp_path, "doubled").communicate(timeout=60)

    assert out == "[0, 2]\n[4, 6]\n[8, 10]\nValueError seven is refused True\n"


def test_a_process_that_dies_is_said(tmp_path: Path) -> None:
    """A worker that is killed is an error, not a loop that waits for ever."""
    out, _ = program(tmp_path, "killed").communicate(timeout=60)

    assert out.startswith("GraphError prefetch(processes=...): a worker process ended before")


@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_no_process_outlives_the_one_that_started_it(tmp_path: Path, how: str) -> None:
    """After Ctrl-C, and after kill -9, the worker is gone while its sample still sleeps."""
    process = program(tmp_path, "slow")
    assert process.stdout is not None
    worker = int(process.stdout.readline().strip("[]\n").split(",")[0])
    process.send_signal(getattr(signal, how))
    process.wait(timeout=30)
    process.stdout.close()
    for _ in range(200):
        if not Path(f"/proc/{worker}").exists() or _is_zombie(worker):
            break
        time.sleep(0.05)
    else:
        raise AssertionError(f"process {worker} still lives")


def _is_zombie(process: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return True
