"""Programs of what passes rewrite, and twins whose shapes a pass did not know."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs import Program, expected, generate, trial
from byparts_conformance.programs.effects import as_array, recorded
from byparts_conformance.programs.twins import before_shapes
from byparts_graph_ir import Graph, Input, TensorType, verify
from byparts_opset.evaluate import evaluate


def test_powers_of_integers_have_computed_exponents() -> None:
    """Of one number, of many, and of numbers below 0."""
    kinds: Counter[str] = Counter()
    for seed in range(150):
        program = generate(seed, theme="rewritten")
        for node in program.graph.nodes:
            if isinstance(node.op, ops.Pow) and node.inputs[0].type.dtype[0] in "iu":
                kinds["filled" if isinstance(_op(node.inputs[1]), ops.Fill) else "computed"] += 1

    assert kinds["filled"] > 5 and kinds["computed"] > 5


def _op(v: Any) -> Any:
    return v.node.op if v.node is not None else None


def test_some_floats_lie_between_two_halves() -> None:
    """In the middle between two numbers of bf16, which only rounding to even decides."""
    middle = 0
    for seed in range(150):
        for a in generate(seed).arrays:
            if a.dtype == np.float32:
                middle += int(np.sum((a.view(np.uint32) & 0xFFFF) == 0x8000))

    assert middle > 20


def test_a_twin_is_made_without_its_shapes_and_gives_the_same() -> None:
    changed = 0
    for seed in range(60):
        program = generate(seed)
        twin = before_shapes(program)
        changed += twin.graph != program.graph
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with recorded() as text:
                got = list(evaluate(verify(twin.graph), *twin.arrays))
        got += [as_array(text.getvalue())] if program.graph.has_effect else []
        wants = expected(program)
        assert not [said for w, y in zip(wants, got, strict=True) if (said := w.difference(y))]

    assert changed > 30


def test_a_build_that_goes_on_without_a_backend_is_no_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = Input(TensorType("f32", (2,)), None, "x")
    program = Program(Graph.of([x], [ops.neg(x)]), (np.ones(2, np.float32),))
    assert not trial(program, backends=("numpy",))

    def build(*args: Any, **options: Any) -> Any:
        warnings.warn("going on without it: a compiler that fails", RuntimeWarning, stacklevel=2)

    monkeypatch.setattr(sys.modules[trial.__module__], "build", build)
    assert "going on without it: a compiler" in trial(program, backends=("numpy",))
