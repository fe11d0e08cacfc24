"""Names of a package are imported when they are used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

FILES = {
    "__init__": "from byparts_graph_ir.lazy_names import lazy_names\n"
    "__all__ = lazy_names(__name__, cast='Cast cast', tile='tile')\n",
    "cast": "class Cast: ...\ndef cast(): return 'cast'\n",
    "tile": "from made_ops.cast import cast\ndef tile(): return 'tile'\n",
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package of two modules."""
    (tmp_path / "made_ops").mkdir()
    for name, text in FILES.items():
        (tmp_path / "made_ops" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("made_ops")
    for name in [name for name in sys.modules if name.startswith("made_ops")]:
        del sys.modules[name]


def test_nothing_is_imported_with_the_package(made: ModuleType) -> None:
    assert "made_ops.cast" not in sys.modules
    assert made.cast() == "cast" and "made_ops.tile" not in sys.modules


def test_a_module_does_not_hide_the_name_that_it_is_called_after(made: ModuleType) -> None:
    """Python sets the attribute `cast` of the package to the module cast.py."""
    import_module("made_ops.tile")

    assert made.cast() == "cast" and made.tile() == "tile"


def test_the_names_are_listed(made: ModuleType) -> None:
    assert made.__all__ == ["Cast", "cast", "tile"] and set(made.__all__) <= set(dir(made))


def test_a_module_is_imported_where_no_name_is_called_so(made: ModuleType) -> None:
    scope: dict[str, object] = {}
    exec("from made_ops import *", scope)

    assert {"Cast", "cast", "tile"} <= scope.keys()


def test_an_unknown_name_is_the_error_that_it_is_everywhere(made: ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'made_ops' has no attribute 'tail'"):
        _ = made.tail
