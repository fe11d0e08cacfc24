"""What the installed parts declare is what they have."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from byparts_graph_ir.parts.hooks import KINDS, Record
from byparts_graph_ir.parts.hub import Part, PartError, Parts, parts, resolve
from byparts_graph_ir.parts.install import PROVIDED

DECLARED = [
    (kind, part, record)
    for kind in KINDS
    for part, record in parts.records(kind)
    if kind not in ("names", "kernels")  # several parts add to one front-end, or one backend
]
NAMES = [(part, record) for part, record in parts.records("names")]


def test_every_installed_part_is_usable() -> None:
    assert {part.name: part.why for part in parts.all() if part.state != "ok"} == {}


@pytest.mark.parametrize(
    ("kind", "part", "record"), DECLARED, ids=[f"{kind}-{r.name}" for kind, _, r in DECLARED]
)
def test_every_record_resolves(kind: str, part: Part, record: Record) -> None:
    if missing := record.missing():
        pytest.skip(f"{part.distribution} needs {missing[0]}")

    assert parts.get(kind, record.name) is record.resolve()


@pytest.mark.parametrize(("part", "record"), NAMES, ids=[f"{p.name}-{r.name}" for p, r in NAMES])
def test_every_table_of_names_is_read(part: Part, record: Record) -> None:
    table: dict[str, str] = resolve("names", part, record)

    assert all(place.partition(":")[0].startswith("byparts_") for place in table.values())


def test_advice_knows_each_part_of_the_workspace() -> None:
    """`PROVIDED` says which part to install for a name that users ask for: not one of ops."""
    declared: dict[str, dict[str, set[str]]] = {}
    for part, plugin in plugins():
        for hook, function in runpy.run_path(str(plugin)).items():
            kind = hook.removeprefix("byparts_")
            if hook.startswith("byparts_") and kind not in ("ops", "kernels"):
                declared.setdefault(kind, {})[part] = {record.name for record in function()}

    known = {k: {p: set(v.split()) for p, v in of.items()} for k, of in PROVIDED.items()}
    assert known == declared


def plugins() -> list[tuple[str, Path]]:
    """The folder of each part, and the file that declares what the part provides."""
    packages = Path(__file__).parent.parent / "packages"
    found = [*packages.glob("*/src/*/plugin.py"), *packages.glob("conformance/src/*/part.py")]
    return [(path.relative_to(packages).parts[0], path) for path in sorted(found)]


def test_the_standard_ops_are_found() -> None:
    assert {"add", "matmul", "tanh"} <= set(parts.ops())


def test_auto_is_a_backend_that_has_kernels() -> None:
    assert len(parts.backend().kernels) > 0


def test_cuda_names_its_reason() -> None:
    with pytest.raises(PartError, match="'cuda' of byparts-kernels-cuda does not start: Runtime"):
        Parts().backend("cuda")  # `parts` may have started it, emulated, for another test
