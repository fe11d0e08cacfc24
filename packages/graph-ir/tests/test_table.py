"""The registry: open to other packages, closed to accidents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from toy_ops import Add, Neg, Scale, neg

from byparts_graph_ir import GraphError, MissingRule, Table


def rule() -> str:
    return "rule"


def test_nn_cpp_1_rules_can_be_added_elsewhere() -> None:
    """NNVM row: an attribute registered in a second place is readable."""
    table: Table[Callable[[], str]] = Table("kernel")
    table.on(Neg, Add)(rule)

    assert table[neg] is rule and table[Add] is rule and Neg in table and len(table) == 2
    assert list(table) == [Neg, Add] and table.get(Scale) is None


def test_registering_twice_names_both_places() -> None:
    """The second registration is refused."""
    table: Table[Callable[[], str]] = Table("kernel")
    table.on(Neg)(rule)
    with pytest.raises(
        GraphError, match=r"Neg already has a kernel: rule \(.*:\d+\); second: rule"
    ):
        table.on(Neg)(rule)


def test_a_missing_rule_says_which_line_to_write() -> None:
    """The message can be pasted."""
    with pytest.raises(MissingRule, match=r"no kernel for Neg; add one with @kernels.on\(Neg\)"):
        Table("kernel")[neg]


def test_n15_tables_are_independent() -> None:
    """NNVM's registry was one per process; two tables here know nothing of each other."""
    first: Table[Callable[[], str]] = Table("kernel")
    second: Table[Callable[[], str]] = Table("kernel")
    first.on(Neg)(rule)

    assert Neg in first and Neg not in second
