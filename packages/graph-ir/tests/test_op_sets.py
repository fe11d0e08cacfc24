"""Two op sets with one name, and one that cannot be loaded, disturb only graphs that need them."""

from __future__ import annotations

import pytest
from made_parts import GROUP, OPS, Install, install as install
from toy_ops import Add, Neg

from byparts_graph_ir import FormatError, Op, from_json, parse, to_json
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.discover import Part
from byparts_graph_ir.parts.hub import Parts
from byparts_graph_ir.parts.op_sets import OpSets

PLAIN = "(%x: f32[2]) { %1: f32[2] = neg(%x)  return %1 }"
SHARED = "(%x: f32[2]) { %1: f32[2] = add(%x, %x)  return %1 }"
FUSED = "(%x: f32[2]) { return %x }"


class OtherAdd(Op):
    """Another op of the name add."""

    name = "add"


@pytest.fixture
def clash() -> OpSets:
    """Two op sets, of which the second has its own add."""
    ours, theirs = (Part(name, f"made-{name}", "1") for name in ("ours", "theirs"))
    return OpSets([(ours, {"neg": Neg, "add": Add}), (theirs, {"add": OtherAdd, "neg": Neg})], [])


def test_graphs_without_the_name_are_read(clash: OpSets) -> None:
    graph = parse(PLAIN, ops=clash)

    assert graph == parse(PLAIN, ops={"neg": Neg})
    assert from_json(to_json(graph), ops=clash) == graph


def test_graphs_with_the_name_name_both_parts(clash: OpSets) -> None:
    said = (
        "op 'add' is provided by made-ours and made-theirs; set BYPARTS_DISABLE to ours or theirs"
    )

    with pytest.raises(PartError, match=said):
        parse(SHARED, ops=clash)
    with pytest.raises(PartError, match=said):
        from_json(to_json(parse(SHARED, ops={"add": Add})), ops=clash)


def test_names_in_conflict_are_not_listed(clash: OpSets) -> None:
    assert (list(clash), len(clash), {**clash}) == (["neg"], 1, {"neg": Neg})
    assert [part.name for part in clash.conflicts["add"]] == ["ours", "theirs"]


def test_one_op_in_two_sets_is_no_conflict(clash: OpSets) -> None:
    assert clash["neg"] is Neg and "neg" not in clash.conflicts


def test_an_unknown_op_is_none() -> None:
    ops = OpSets([(Part("a", "made-a", "1"), {"neg": Neg})], [])

    assert ops.get("tanh") is None
    with pytest.raises(FormatError, match="unknown op 'tanh'"):
        parse(PLAIN.replace("neg", "tanh"), ops=ops)


@pytest.mark.parametrize("op", [None, int, Add, "neg"])
def test_what_is_no_op_of_that_name_is_refused(op: object) -> None:
    ops = OpSets([(Part("a", "made-a", "1"), {"neg": op})], [])

    with pytest.raises(
        PartError, match=r"the op set of made-a has .* as 'neg': write \{op.name: op\}"
    ):
        parse(PLAIN, ops=ops)


def test_an_op_set_that_cannot_be_loaded_does_not_hurt_the_others(install: Install) -> None:
    """What it may have had is said only where an op is missing."""
    install("good", OPS.format("{'neg': op('neg')}", "good", "good"))
    install("gone", OPS.format("{}", "gone", "nowhere"))
    ops = Parts(GROUP).ops()

    assert list(ops) == ["neg"]
    assert parse(FUSED, ops=ops)
    with pytest.raises(
        PartError, match="no op 'add' among those that load; ops 'gone' of made-gone"
    ):
        parse(SHARED, ops=ops)


def test_an_op_set_must_be_a_mapping(install: Install) -> None:
    install("a", OPS.format(["add"], "a", "a"))

    with pytest.raises(PartError, match="of made-a: made_a:OPS is no mapping"):
        Parts(GROUP).get("ops", "a")
