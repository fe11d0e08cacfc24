"""The functions of the array API standard: all there, with its signatures; each against NumPy."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_expressions import difference, try_expressions
from standard_calls import FLOATS, FROM_DATA, OTHERS, Call, operands

import byparts_eager as bp
from byparts_graph_ir import GraphError

SIGNATURES = Path(__file__).with_name("standard_signatures.txt").read_text(encoding="utf-8")
CONSTANTS = (
    "e inf nan newaxis pi bool float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
)
EXACT = ("reshape", "x[", "stack", "flip", "roll", "tile", "take", "where", "concat", "squeeze")


def test_each_function_has_the_signature_of_the_standard() -> None:
    lines = SIGNATURES.splitlines()

    assert len(lines) == 134
    assert [signature_line(line.split("(")[0]) for line in lines] == lines


def signature_line(name: str) -> str:
    """The name and the parameters of a function, without types."""
    function = signature(getattr(bp, name))
    plain = [p.replace(annotation=p.empty) for p in function.parameters.values()]
    return name + str(function.replace(parameters=plain, return_annotation=function.empty))


def test_constants_and_dtypes_are_there() -> None:
    assert all(hasattr(bp, name) for name in CONSTANTS.split())
    assert bp.float32 == "f32"
    assert (bp.float32.name, bp.pi, bp.newaxis) == ("float32", np.pi, None)


def test_functions_give_what_numpy_gives() -> None:
    """Functions that only move elements, exactly; others within rounding."""
    calls = {**FLOATS, **OTHERS, **FROM_DATA}

    assert {name: text for name, f in calls.items() if (text := wrong_call(name, f))} == {}


def wrong_call(name: str, call: Call) -> str:
    """What is wrong with a call beside NumPy's.  Python's floats make f32 here, and f64 there."""
    ours = call(bp, *map(bp.asarray, operands()))
    wanted = np.asarray(call(np, *operands())).astype(ours.numpy().dtype)
    return difference(ours, wanted, 0 if name.startswith(EXACT) or wanted.dtype.kind != "f" else 8)


def test_compiled_functions_of_the_standard_give_what_arrays_give() -> None:
    """All in one program; bits are equal."""
    calls = {**FLOATS, **OTHERS}
    arrays = list(map(bp.asarray, operands()))
    compiled = bp.compile(lambda *args: {name: f(bp, *args) for name, f in calls.items()})

    wrong = [
        name
        for name, y in compiled(*arrays).items()
        if difference(y, calls[name](bp, *arrays).numpy())
    ]
    assert wrong == []


@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_the_standard_have_gradients(name: str) -> None:
    """Those along a random direction are what a central difference gives, in f64."""
    x, y, n, b = operands()
    rng = np.random.default_rng(2)
    dx, dy = rng.normal(0, 1, x.shape), rng.normal(0, 1, y.shape)

    def total(x: Any, y: Any) -> Any:
        z = FLOATS[name](bp, x, y, bp.asarray(n), bp.asarray(b))
        return bp.sum(z * bp.reshape(bp.arange(1.0, z.size + 1, dtype="f64"), z.shape))

    def at(h: float) -> float:
        return float(total(bp.asarray(x + h * dx), bp.asarray(y + h * dy)))

    _, pull = bp.vjp(total, bp.asarray(x.astype("f8")), bp.asarray(y))
    gx, gy = pull(bp.asarray(np.ones(())))
    slope = float(np.sum(gx.numpy() * dx) + np.sum(gy.numpy() * dy))
    assert slope == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", FROM_DATA)
def test_shapes_from_data_are_refused_while_tracing(name: str) -> None:
    """The error says what to do."""
    compiled = bp.compile(lambda *args: FROM_DATA[name](bp, *args))

    with pytest.raises(GraphError, match=r"use where\(mask|where with a shape"):
        compiled(*operands())


def test_random_expressions_are_numpys() -> None:
    assert try_expressions(300, 0) >= 300


def test_a_wrong_function_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bp, "tile", lambda x, times: bp.asarray(np.tile(x.numpy() + 1, times)))

    with pytest.raises(AssertionError, match="tile"):
        try_expressions(3000, 0)
