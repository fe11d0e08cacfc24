"""The registry: open to other packages, closed to accidents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from toy_ops import Add, Neg, Scale, neg

from byparts_graph_ir import GraphError, MissingRule, Op, Table


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


FILES = {
    "ops": "from byparts_graph_ir import Op\nclass Exp(Op): ...\nclass Log(Op): ...\n",
    "table": "from byparts_graph_ir import Table\n"
    "kernels = Table.lazily('kernel', 'made_npu', 'made_npu', unary='ops')\n",
    "unary": "from made_npu.ops import Exp\nfrom made_npu.table import kernels\n"
    "@kernels.on(Exp)\ndef exp(): ...\n",
    "stray": "from made_npu.table import kernels\nfrom toy_ops import Neg\n"
    "@kernels.on(Neg)\ndef neg(): ...\n",
}


@dataclass(frozen=True)
class Made:
    """A package that says where its kernels are."""

    table: Table[Callable[[], str]]
    exp: type[Op]
    log: type[Op]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    for name, text in {"__init__": "", **FILES}.items():
        path = tmp_path / "made_npu" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    ops = import_module("made_npu.ops")
    yield Made(import_module("made_npu.table").kernels, ops.Exp, ops.Log)
    for name in [name for name in sys.modules if name.startswith("made_npu")]:
        del sys.modules[name]


def test_a_module_of_rules_is_imported_when_its_op_is_asked_for(made: Made) -> None:
    assert Neg not in made.table and "made_npu.unary" not in sys.modules
    assert made.exp in made.table and "made_npu.unary" in sys.modules
    assert made.log not in made.table


def test_who_asks_for_all_rules_gets_all(made: Made) -> None:
    assert list(made.table) == [made.exp] and len(made.table) == 1


def test_a_stranger_meets_a_rule_that_was_not_imported_yet(made: Made) -> None:
    with pytest.raises(GraphError, match=r"Exp already has a kernel: exp \(.*unary.py:3\); second"):
        made.table.on(made.exp)(rule)


def test_a_stranger_may_add_what_is_missing(made: Made) -> None:
    made.table.on(made.log)(rule)

    assert made.table[made.log] is rule


def test_rules_for_ops_of_others_are_looked_for_where_it_was_said(made: Made) -> None:
    """Saying it twice changes nothing."""
    table: Table[Callable[[], str]] = Table("kernel")
    for _ in range(2):
        table.look_in("made_npu.unary", ["made_npu.ops"])

    assert made.exp not in table and "made_npu.unary" in sys.modules  # which has it elsewhere
    assert made.exp in made.table


@pytest.mark.usefixtures("made")
def test_a_rule_that_nobody_would_find_is_refused() -> None:
    said = "nobody would look in made_npu.stray for the kernel of Neg: add toy_ops to it"
    with pytest.raises(GraphError, match=said):
        import_module("made_npu.stray")
