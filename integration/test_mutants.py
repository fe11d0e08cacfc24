"""The kit finds wrong kernels and wrong gradients, made by rule, of every op; docs/mutants.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from byparts_conformance.mutation import EQUAL, KILLED, SURVIVED, outcomes, table
from byparts_graph_ir import Op
from byparts_graph_ir.parts.hub import parts

PAGE = Path(__file__).parents[1] / "docs" / "mutants.md"
OPS: Mapping[str, type[Op]] = parts.ops()

# Ops of which fewer than ten mutants can differ from the op: they have no inputs.
FEW = {"constant": 6, "eye": 6, "fill": 6, "range": 6}


@pytest.mark.long
@pytest.mark.parametrize("name", OPS)
def test_no_mutant_of_an_op_survives(name: str) -> None:
    """Ten at least are killed; the others give what the op gives, as the page says."""
    found = outcomes(OPS[name])
    counts = Counter(found.values())

    assert [mutant for mutant, said in found.items() if said == SURVIVED] == []
    assert counts[KILLED] >= FEW.get(name, 10), found
    assert set(found.values()) <= {KILLED, EQUAL}
    assert _cells(table({name: found})) == _cells(_page(), name), (
        "stale: python tools/mutants_table.py"
    )


def _page() -> list[str]:
    return PAGE.read_text(encoding="utf-8").splitlines()


def _cells(lines: list[str], name: str = "") -> dict[str, str]:
    """Kind of mutant -> sign, without those that the op has none of."""
    head = next(line for line in lines if line.startswith("| op |"))
    row = next(line for line in lines if line.startswith(f"| `{name}` |" if name else "| `"))
    kinds, signs = ([c.strip() for c in line.split("|")[2:-1]] for line in (head, row))
    return {kind: sign for kind, sign in zip(kinds, signs, strict=True) if sign}
