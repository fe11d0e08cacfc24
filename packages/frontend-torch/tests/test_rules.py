"""The table of rules; needs no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from byparts_frontend_torch import Rules
from byparts_graph_ir import GraphError


def test_two_rules_for_one_overload_are_refused_with_both_places() -> None:
    table = Rules()
    table.on("aten.a.default")(lambda x: x)

    with pytest.raises(GraphError, match=r"aten.a.default already has .*test_rules.py:\d+\); sec"):
        table.on("aten.a.default")(lambda x: x)


@pytest.mark.parametrize("name", ["tanh", "aten.tanh", "aten::tanh", ""])
def test_a_name_is_the_whole_of_an_overload(name: str) -> None:
    with pytest.raises(GraphError, match=r"is no overload; write it as in 'aten.add.Tensor'"):
        Rules().on(name)


def test_a_cell_of_a_notebook_may_run_again() -> None:
    table = Rules()
    for _ in range(2):
        space: dict[str, object] = {"__name__": "__main__", "table": table}
        exec("@table.on('aten.a.default')\ndef rule(x): return x", space)

    assert table.get("aten.a.default") is space["rule"]


def test_a_table_over_another_has_its_rules_and_may_differ() -> None:
    below = Rules()
    old = below.on("aten.a.default", "aten.b.default")(lambda x: x)
    above = Rules(below)
    new = above.on("aten.b.default", "aten.c.default")(lambda x: x)

    found = [above.get(f"aten.{letter}.default") for letter in "abcd"]
    assert found == [old, new, new, None] and below.get("aten.b.default") is old
    assert list(above) == ["aten.a.default", "aten.b.default", "aten.c.default"]


def test_importing_the_part_imports_no_torch() -> None:
    """Torch is there when somebody has a program of it."""
    code = "import byparts_frontend_torch, sys; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
