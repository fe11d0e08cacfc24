"""Threads, forks and Ctrl-C: an engine leaves nothing behind and loses nothing."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from random_tasks import SECONDS, steps, wait_for

from byparts_engine import Engine, EngineError


def threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.name.startswith("byparts-engine")}


def test_an_engine_that_nobody_holds_does_its_work_and_ends_its_threads() -> None:
    before, start, ran = threads(), threading.Event(), []
    engine = Engine(2)
    engine.wait_all()
    engine.push(steps(wait_for(start), lambda: ran.append(1)))
    mine = threads() - before
    assert len(mine) == 3
    threading.Timer(0.05, start.set).start()
    del engine
    gc.collect()
    for thread in mine:
        thread.join(SECONDS)
    assert ran == [1]
    assert threads() == before


def test_an_engine_that_its_own_function_drops_ends_its_threads() -> None:
    before, begun, start = threads(), threading.Event(), threading.Event()
    engines = [Engine(1)]
    engines[0].wait_all()
    engines[0].push(steps(begun.set, wait_for(start), engines.clear, gc.collect))
    mine = threads() - before
    begun.wait(SECONDS)
    start.set()
    for thread in mine:
        thread.join(SECONDS)
    assert threads() == before


@pytest.mark.parametrize("last", ["", "del engine"])
def test_python_ends_after_the_work_and_shows_an_error_that_nobody_saw(last: str) -> None:
    program = f"""
import time
from byparts_engine import Engine
engine = Engine(1)
engine.push(lambda: (time.sleep(0.1), print("done", flush=True)))
engine.push(lambda: 1 // 0)
{last}
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "done\n"
    assert "for which nobody waited" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_starts_empty_and_says_what_was_not_done() -> None:
    begun, start = threading.Event(), threading.Event()
    with Engine(1) as engine:
        made, written, waiting = map(engine.new_variable, ("made", "written", "waiting"))
        engine.push(int, writes=[made])
        engine.wait_for(made)
        engine.push(steps(begun.set, wait_for(start)), [made], [written])
        engine.push(int, [written], [waiting])
        begun.wait(SECONDS)
        child = os.fork()
        if not child:
            os._exit(_in_child(engine, made, written, waiting))
        start.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        engine.wait_for(waiting)


def _in_child(engine: Engine, *variables: object) -> int:
    """7 where all is as it should be."""
    made, written, waiting = variables
    told, ran = 0, []
    engine.wait_for(made)  # type: ignore[arg-type]
    for variable in (written, waiting):
        try:
            engine.wait_for(variable)  # type: ignore[arg-type]
        except EngineError as error:
            told += "was forked before" in str(error)
    engine.push(lambda: ran.append(1), [made], [written, waiting])  # type: ignore[list-item]
    engine.wait_all()
    engine.close()
    return 7 if told == 2 and ran == [1] and not threads() else 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signal.setitimer")
def test_interrupts_between_any_two_steps_leave_the_order_whole_and_lose_no_error() -> None:
    """In a process of their own: here they would meet pytest and callbacks of the collector."""
    script = Path(__file__).with_name("interrupted.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout == "pushes whole\nerror kept\n", done.stderr
