"""What a package says it gives: once for those who run it, once for type checkers and editors."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest

import opset_names
from byparts_graph_ir.lazy_names import homes

WRITTEN = [
    "graph_ir",
    "memplan",
    "memplan.pictures",
    "recompute",
    "runtime",
    "gpu_ir",
    "op_loops",
    "tensor_ir",
    "weights",
]
PACKAGES = [*WRITTEN, "opset", "eager"]


def stated(package: ModuleType) -> dict[str, str]:
    """Name -> module, as the block for type checkers has it."""
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    inside = [n for n in imports if str(n.module).startswith(f"{package.__name__}.")]
    found = [
        (a.asname, str(n.module).removeprefix(f"{package.__name__}."))
        for n in inside
        for a in n.names
    ]
    return {str(name): module for name, module in found if name}


def test_the_names_of_the_op_set_are_those_that_its_modules_define() -> None:
    """After adding an op: `python tools/opset_names.py`."""
    written = opset_names.FILE.read_text(encoding="utf-8")

    assert opset_names.text() == written, "run python tools/opset_names.py"


@pytest.mark.parametrize("part", WRITTEN)
def test_both_lists_say_the_same(part: str) -> None:
    """Each public name, and the module it lives in."""
    package = import_module(f"byparts_{part}")

    assert stated(package) == homes(package.__name__)
    assert list(homes(package.__name__)) == package.__all__


@pytest.mark.parametrize("part", PACKAGES)
def test_every_name_is_there_also_when_its_module_was_imported_by_itself(part: str) -> None:
    """A module `cast` does not hide the function `cast`."""
    package = import_module(f"byparts_{part}")
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(".__main__"):
            import_module(module.name)

    there = [getattr(package, name) for name in package.__all__]
    assert not [value for value in there if isinstance(value, ModuleType)]
    assert set(package.__all__) <= set(dir(package))


def test_a_name_that_is_not_there() -> None:
    """The error that any module gives."""
    package = import_module("byparts_opset")
    with pytest.raises(AttributeError, match="module 'byparts_opset' has no attribute 'sofmax'"):
        package.sofmax  # noqa: B018
