"""Examples in the README and in docstrings are run."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import byparts_memplan

README = Path(__file__).parent.parent / "README.md"


def test_readme() -> None:
    """Every example prints what stands there."""
    result = doctest.testfile(str(README), module_relative=False)

    assert (result.failed, result.attempted > 10) == (0, True)


@pytest.mark.parametrize("name", ["place", "check", "csv_format", "pictures.draw", "amount"])
def test_docstrings(name: str) -> None:
    """The running example: three buffers."""
    module = import_module(f"byparts_memplan.{name}")
    public = {name: getattr(byparts_memplan, name) for name in dir(byparts_memplan)}
    result = doctest.testmod(module, extraglobs=public)

    assert (result.failed, result.attempted > 0) == (0, True)
