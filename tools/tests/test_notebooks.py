"""Notebooks are their pages: same prose, same code, the outputs that the tests compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import notebooks


@pytest.mark.parametrize("name", notebooks.PAGES)
def test_a_notebook_is_not_stale(name: str) -> None:
    """`python tools/notebooks.py` writes them."""
    written = notebooks.ROOT / "docs" / "notebooks" / f"{name}.ipynb"

    assert written.read_text(encoding="utf-8") == notebooks.notebook(
        notebooks.ROOT / "docs" / f"{name}.md"
    )


def test_cells_have_code_and_outputs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n<!-- needs: eager -->\nSee [it](x.md).\n```python\nprint(1)\n```\n```\n1\n```\n"
        "```python raises\n1 / 0\n```\n```python\nx = 2\n```\n",
        encoding="utf-8",
    )
    prose, code, mistake, last = json.loads(notebooks.notebook(page))["cells"]

    assert prose["source"] == ["# Title\n", "See [it](../x.md)."]
    assert (code["source"], code["outputs"][0]["text"]) == (["print(1)"], ["1\n"])
    assert (mistake["cell_type"], last["outputs"]) == ("markdown", [])
