"""Parts made on the spot: a fixture that tests of discovery share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

GROUP = "byparts.tests"
API = "from byparts_graph_ir.parts.hooks import *\nBYPARTS_API = (1, 0)\n"
BACKENDS = API + "@hookimpl\ndef byparts_backends():\n    return [Backend({!r}, {!r})]\n"
GOOD = BACKENDS.format("good", "json:dumps")
OPS = (
    API
    + "from byparts_graph_ir import Op\n"
    + "def op(name): return type(Op)(name.capitalize(), (Op,), {{'name': name}})\n"
    + "OPS = {}\n@hookimpl\ndef byparts_ops(): return [Ops('{}', 'made_{}:OPS')]\n"
)

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make a distribution of one module, with an entry point, and put it on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("BYPARTS_DISABLE", raising=False)
    monkeypatch.delenv("BYPARTS_ONLY", raising=False)

    def make(name: str, source: str, entry: str = "", group: str = GROUP) -> None:
        module = f"made_{name}"
        monkeypatch.delitem(sys.modules, module, raising=False)
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{module}-9.9.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: made-{name}\nVersion: 9.9\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{entry or name} = {module}\n")

    return make
