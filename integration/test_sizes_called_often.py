"""Sizes of named dimensions that are called often: compiled alone, from a fixed call on."""

from __future__ import annotations

import numpy as np
import pytest

from byparts_conformance.programs.named import named_campaign
from byparts_opset.evaluate import evaluate
from byparts_runtime import SymbolicProgram, build
from named_graphs import network, numbers


def test_a_size_that_is_called_often_is_compiled_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a fixed call; the other sizes stay as they are."""
    monkeypatch.setattr("byparts_runtime.run.change.estimate", lambda loaded: (2, 3))
    graph, weights = network()
    program = build(graph, backends=("native", "numpy"))
    assert isinstance(program, SymbolicProgram)

    for n in (5, 5, 9, 5):
        feeds = [numbers(n, 4), *weights]
        for got, want in zip(program(*feeds), evaluate(graph, *feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    alone = "changed to 'native' for this size alone, at call 3 or when bound"
    assert str(program.at(n=5).change) == alone
    assert "at call 3 (from call 2 on" in str(program.at(n=9).change)
    x, w, b = (np.ascontiguousarray(a) for a in (numbers(9, 4), *weights))
    np.testing.assert_allclose(program.bind(x, w, b)()[0], evaluate(graph, x, w, b)[0], rtol=1e-5)
    assert str(program.at(n=9).change) == alone


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs_that_are_compiled_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each size three times, the third time on kernels of numbers; updates and draws go on."""
    monkeypatch.setattr("byparts_runtime.run.change.estimate", lambda loaded: (2, 3))
    report = named_campaign(("native", "numpy"), 8, 9000, times=3)

    assert not report.failures, str(report)
    assert report.shared > report.sizes // 3
