"""The answers that TensorFlow 1.15.5 gave, of all symbols that there are here."""

from __future__ import annotations

import pytest
from answers import Case, exists, recorded, script_problems

from byparts_frontend_tf.running.session import defaults

CASES = recorded()["cases"]
SYMBOLS = sorted({c["op"] for c in CASES})
SCRIPTS = {s["id"]: s for s in recorded()["scripts"]}
OPEN = {  # id of a case or script -> why it differs
    "second_order/17": "TensorFlow refuses the second derivative, and here there is one",
}
NOT_HERE = "is not here; the nearest"  # a symbol that an expression of another one uses


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", SYMBOLS)
def test_expressions_are_as_recorded(name: str) -> None:
    """Values, gradients, static shapes, errors."""
    if not exists(name):
        pytest.skip(f"{name} is not here yet")
    cases = [c for c in CASES if c["op"] == name and c["id"] not in OPEN]

    found = {c["id"]: Case(c).problems() for c in cases}

    assert {k: p for k, p in found.items() if p and NOT_HERE not in p[0]} == {}


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_programs_are_as_recorded(name: str) -> None:
    """Several lines that build, run and read what there is."""
    try:
        problems = script_problems(SCRIPTS[name])
    except AttributeError as error:
        if NOT_HERE not in str(error):
            raise
        pytest.skip(str(error))
    except ValueError as error:
        if name not in OPEN:
            raise
        pytest.skip(f"{OPEN[name]}: {error}")

    assert problems == []
