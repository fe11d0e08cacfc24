"""What code is made for: the best that this CPU has, or what the environment names."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from byparts_tensor_ir.build import build
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.target import TARGETS, TargetError, lacking, target
from byparts_tensor_ir.tensor import compute, placeholder

RUNS_HERE = [t.name for t in TARGETS if not lacking(t)]


def test_the_best_that_this_cpu_has_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYPARTS_TARGET", raising=False)
    assert target().name == RUNS_HERE[0]
    assert RUNS_HERE[-1] == "plain"


def test_a_target_that_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_TARGET", "avx9000")
    with pytest.raises(TargetError, match="no such target; there are avx512, avx2, sse2, neon"):
        target()
    foreign = next(t for t in TARGETS if lacking(t))
    monkeypatch.setenv("BYPARTS_TARGET", foreign.name)
    with pytest.raises(TargetError, match=f"{foreign.name}: this CPU is without "):
        target()
    assert lacking(replace(TARGETS[0], machine="", features=("nothing",))) == ("nothing",)


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler")
@pytest.mark.parametrize("name", RUNS_HERE)
def test_each_target_that_runs_here_gives_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit: rounded operations are those that are written."""
    a, b = placeholder((37,), "A"), placeholder((37,), "B")
    schedule = Schedule(lower([a, b, compute((37,), lambda i: a[i] * b[i] + 0.1, "C")], "f"))
    func = schedule.vectorize("C_i").func
    x, y = np.linspace(-3, 3, 37, dtype="f4"), np.linspace(1, 9, 37, dtype="f4")
    results = []
    for chosen in ("plain", name):
        monkeypatch.setenv("BYPARTS_TARGET", chosen)
        results.append(np.zeros(37, "f4"))
        build(func, emitter="c")(x, y, results[-1])
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[0], (x * y + np.float32(0.1)).astype("f4"))
