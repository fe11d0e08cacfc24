"""No module of a part imports one that imports it, also not inside a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from import_circles import ROOT, circles, imports, sources

PARTS = sorted((ROOT / "packages").iterdir())


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_import_circle(part: Path) -> None:
    found = circles(imports(sources(part)))

    assert not found


def test_circles_are_found_wherever_the_import_stands(tmp_path: Path) -> None:
    """In a function, through a lazy name, through a longer way; not where only types are read."""
    files = {
        "__init__": "from x.lazy_names import lazy_names\n"
        "__all__ = lazy_names(__name__, a='one', **{'in.b': 'two'})\n",
        "a": "def f():\n    from x import two\n",
        "in/b": "import x.c\n",
        "c": "import x.a\n",
        "d": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import x.e\nelse:\n    import x.a\n",
        "e": "from x import d\n",
    }
    for name, text in files.items():
        file = tmp_path / "src" / "x" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    edges = imports(sources(tmp_path))

    assert edges["x.d"] == {"x.a"}
    assert circles(edges) == [("x.a", "x.c", "x.in.b")]
