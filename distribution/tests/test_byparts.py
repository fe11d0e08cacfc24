"""One name for all parts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import byparts as bp

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_names_are_parts_and_those_of_eager() -> None:
    import byparts_eager
    import byparts_nn
    import byparts_opset

    assert (bp.nn, bp.ops, bp.grad) == (byparts_nn, byparts_opset, byparts_eager.grad)
    assert {"nn", "ops", "grad", "compile", "asarray"} <= set(dir(bp))


def test_the_two_that_everybody_imports_are_modules() -> None:
    """`import byparts.nn as nn` is what people type."""
    import byparts.nn as nn
    import byparts.ops as ops
    import byparts_nn
    import byparts_opset

    assert (nn, ops) == (byparts_nn, byparts_opset)
    assert (bp.nn, bp.ops) == (byparts_nn, byparts_opset)


def test_importing_it_imports_no_part() -> None:
    code = "import sys, byparts; print([m for m in sys.modules if m.startswith('byparts_')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_a_part_that_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bp._PARTS, "far", ("byparts_far_away", "far"))

    with pytest.raises(AttributeError, match=r'not installed: pip install "byparts\[far\]"'):
        _ = bp.far


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Linear", "it is byparts.nn.Linear"),
        ("softmax", "it is byparts.ops.softmax"),
        ("grda", "did you mean 'grad'"),
    ],
)
def test_a_name_that_is_elsewhere_says_where(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(hint)):
        getattr(bp, name)


def test_every_part_it_names_is_one_it_brings() -> None:
    """In its requirements, or in the extra that the error names."""
    text = PROJECT.read_text(encoding="utf-8")
    for name, (module, extra) in bp._PARTS.items():
        section = text.split("[project.optional-dependencies]")[1 if extra else 0]
        assert module.replace("_", "-") in section, name
        assert not extra or re.search(rf"^{extra} = ", text, re.MULTILINE)
