"""Every part can be released: version, changelog, licence, README, types, and honest metadata."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from budgets import keep
from combinations.environment import build_wheels
from combinations.facts import is_part, part_name, read_parts

ROOT = Path(__file__).parent.parent
FIRST = Version("0.2")  # what was never published is no release
IMPORTED_AS = {"pillow": "PIL"}  # distributions whose modules have other names
PARTS = sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))

every_part = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)


def module(part: Path) -> Path:
    return part / "src" / ("byparts_" + part.name.replace("-", "_"))


def version(part: Path) -> str:
    """Read, not imported: the part may not be installed here."""
    text = (module(part) / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert found, f"{part.name}: __init__.py has no __version__"
    return found[1]


def test_there_are_parts() -> None:
    assert len(PARTS) >= 11


def test_the_wheel_for_gpus_is_small(tmp_path: Path) -> None:
    """Kernels are generated: none is in it."""
    pytest.importorskip("hatchling", reason="needs hatchling")
    part = read_parts(ROOT)["kernels-cuda"]

    build_wheels({part.name: part}, tmp_path)

    (wheel,) = tmp_path.glob("*.whl")
    keep("bytes", "wheel of kernels-cuda", wheel.stat().st_size)


@every_part
def test_the_version_has_a_changelog_entry(part: Path) -> None:
    changelog = (part / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## \[{re.escape(version(part))}\]", changelog, re.MULTILINE)


@every_part
def test_what_it_requires_of_other_parts_is_a_release_of_them(part: Path) -> None:
    """At least one that there was, that of the tree among them, and nothing after 1.0."""
    parts = read_parts(ROOT)
    here = parts[part.name]
    for need in (*here.needs, *[r for _, rs in here.extras for r in rs if is_part(r)]):
        bounds = {s.operator: Version(s.version) for s in need.specifier}
        assert bounds.keys() == {">=", "<"}, need
        assert FIRST <= bounds[">="] <= Version(parts[part_name(need)].version), need
        assert bounds["<"] == Version("1"), need


PLUGINS = ["packages/graph-ir/src/byparts_graph_ir/parts/templates/pyproject.toml.txt"]
PLUGINS += ["integration/third_party/acme-byparts-c/pyproject.toml"]
PLUGINS += ["integration/third_party/acme-byparts-npu/pyproject.toml"]
PLUGINS += ["integration/third_party/acme-byparts-tf/pyproject.toml"]


@pytest.mark.parametrize("path", PLUGINS)
def test_a_plugin_requires_one_minor_version_that_it_was_tried_with(path: str) -> None:
    """As CONTRIBUTING.md advises; where the part has another one now, try that and write it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    needs = [Requirement(line) for line in re.findall(r'"(byparts-[^"]+>=[^"]+)"', text)]

    assert needs
    for need in needs:
        version = Version(read_parts(ROOT)[part_name(need)].version)
        minor = f"{version.major}.{version.minor},<{version.major}.{version.minor + 1}"
        assert need.specifier == SpecifierSet(f">={minor}"), need


@every_part
def test_folder_distribution_and_module_have_one_name(part: Path) -> None:
    metadata = (part / "pyproject.toml").read_text(encoding="utf-8")

    assert f'name = "byparts-{part.name}"' in metadata
    assert f'path = "src/{module(part).name}/__init__.py"' in metadata
    assert f'packages = ["src/{module(part).name}"]' in metadata


@every_part
def test_what_a_release_needs_is_there(part: Path) -> None:
    assert (module(part) / "py.typed").exists()
    assert (part / "README.md").exists()
    assert 'readme = "README.md"' in (part / "pyproject.toml").read_text(encoding="utf-8")
    assert (part / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@every_part
def test_what_is_imported_is_declared(part: Path) -> None:
    """An undeclared dependency works in the workspace and fails on the user's machine.

    Read from the file: the metadata of an editable install may be of last week.
    """
    metadata = (part / "pyproject.toml").read_text(encoding="utf-8")
    names = re.findall(r'"([\w-]+)[^"]*"', metadata)
    declared = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}
    used = {name for file in module(part).rglob("*.py") for name in imported(file)}

    assert used - declared - sys.stdlib_module_names == set()


def imported(file: Path) -> Iterator[str]:
    """Top-level modules that a file imports, anywhere in it.

    Not `typing_extensions` in a block for type checkers: it comes with them.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If)]
    types_only = [b for b in blocks if ast.unparse(b.test) == "TYPE_CHECKING"]
    for_checkers = {id(n) for block in types_only for s in block.body for n in ast.walk(s)}
    for node in ast.walk(tree):
        if id(node) in for_checkers and getattr(node, "module", "") == "typing_extensions":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
