"""The networks of docs/from-pytorch.md take no more lines than in PyTorch: as many as it says."""

from __future__ import annotations

import re

from test_documentation import ROOT, blocks

PAGE = (ROOT / "docs" / "from-pytorch.md").read_text(encoding="utf-8")


def counts() -> dict[str, tuple[int, int]]:
    """Title -> lines in PyTorch and here; without blank lines and those that print the result."""
    found = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:5]:
        programs = [b.body for b in blocks(section) if b.kind == "python"]
        theirs, ours = (
            sum(1 for line in p.splitlines() if line.strip() and not line.startswith("print("))
            for p in programs
        )
        found[section.partition("\n")[0].lower()] = (theirs, ours)
    return found


def test_no_network_takes_more_lines_than_in_pytorch() -> None:
    """Layers, training and accuracy together."""
    assert len(counts()) == 4
    assert all(ours <= theirs for theirs, ours in counts().values())


def test_the_table_has_the_lines_of_the_page() -> None:
    """The counts at the top of the page are those of its programs."""
    rows = re.findall(r"^\| (\w+, [\w ]+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)

    assert {title.lower(): (int(a), int(b)) for title, a, b in rows} == counts()
