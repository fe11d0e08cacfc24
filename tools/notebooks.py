"""Writes pages of docs/ as notebooks with their outputs: docs/notebooks/NAME.ipynb.

    python tools/notebooks.py

Prose becomes cells of Markdown, a block of Python a cell of code, and the block after it its
output.  The tests run the pages and compare their outputs, so a notebook that equals its page has
been executed; `test_notebooks.py` says when one is stale.  The format is nbformat 4.5:
https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("eager", "train")
_BLOCK = re.compile(r"^```(python[^\n]*)\n(.*?)^```\n(?:```(?:text)?\n(.*?)^```\n)?", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def notebook(page: Path) -> str:
    """The notebook of a page, as JSON text."""
    text = page.read_text(encoding="utf-8")
    cells = [{**cell, "id": f"cell-{i}"} for i, cell in enumerate(_cells(text))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _cells(text: str) -> Iterator[dict[str, Any]]:
    end, count = 0, 0
    for block in _BLOCK.finditer(text):
        yield from _prose(text[end : block.start()])
        end, (kind, code, output) = block.end(), block.groups()
        if kind != "python":  # a mistake on purpose
            yield from _prose(block[0])
            continue
        count += 1
        stream = {"output_type": "stream", "name": "stdout", "text": _lines(output or "")}
        yield {
            **{"cell_type": "code", "metadata": {}, "execution_count": count},
            **{"source": _lines(code.rstrip("\n")), "outputs": [stream] if output else []},
        }
    yield from _prose(text[end:])


def _prose(text: str) -> Iterator[dict[str, Any]]:
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S).strip("\n")
    if text:
        source = _lines(_LINK.sub(r"](../\1)", text))  # a notebook is one folder deeper
        yield {"cell_type": "markdown", "metadata": {}, "source": source}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Write the notebooks."""
    for name in PAGES:
        path = ROOT / "docs" / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(notebook(ROOT / "docs" / f"{name}.md"), encoding="utf-8")
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
