"""Passes in a row, with declared needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from toy_ops import Neg, small

from byparts_graph_ir import Graph, GraphError, Pass, VerifyError, pipeline, verify


def drop_neg(graph: Graph) -> Graph:
    return graph.rewrite(lambda n: n.inputs if isinstance(n.op, Neg) else None)


def same(graph: Graph) -> Graph:
    return graph


def test_passes_run_in_order_and_are_timed() -> None:
    """Each stage is kept, so that it can be printed."""
    stages = pipeline(Pass("same", same), Pass("drop_neg", drop_neg), check=verify).stages(small())

    assert [(s.name, len(s.graph.nodes)) for s in stages] == [("same", 2), ("drop_neg", 1)]
    assert str(stages[1]).startswith("drop_neg: 1 nodes, ")
    assert str(replace(stages[1], elapsed_s=0.0, note="all")) == "drop_neg: 1 nodes, 0.0 ms, all"
    assert pipeline()(small()) == small()


def test_needs_are_checked_before_anything_runs() -> None:
    """NNVM row: a pass without what it needs is an error that names the provider."""
    plan, fix = Pass("plan", same, needs=("static",)), Pass("specialize", same, gives=("static",))
    with pytest.raises(
        GraphError, match=r"pass plan \(1 of 2\) needs 'static', .*; move specialize before it"
    ):
        pipeline(plan, fix)
    assert pipeline(fix, plan)(small()) == small() == pipeline(plan, given=("static",))(small())


def test_a_pass_may_break_what_held() -> None:
    """Facts that no longer hold are not handed on."""
    with pytest.raises(GraphError, match=r"pass b \(2 of 2\) needs 'static', which a before it"):
        pipeline(
            Pass("a", same, breaks=("static",)),
            Pass("b", same, needs=("static",)),
            given=("static",),
        )


def test_an_error_says_which_pass_was_running() -> None:
    """The context is a note; the error stays what it was."""

    def spoil(graph: Graph) -> Graph:
        return Graph(graph.inputs, graph.nodes[::-1], graph.outputs)

    with pytest.raises(VerifyError, match="G2") as caught:
        pipeline(Pass("same", same), Pass("spoil", spoil), check=verify)(small())
    assert "while running pass spoil (2 of 2)" in str(
        getattr(caught.value, "__notes__", caught.value.args)
    )


def test_a_pass_that_returns_no_graph_is_named() -> None:
    """It, and not the pass after it, which would stumble over the `None`."""

    def forgets(graph: Graph) -> Any:
        graph.rewrite(lambda n: None)

    compile = pipeline(Pass("first", same), Pass("forgets", forgets), Pass("last", drop_neg))
    with pytest.raises(
        GraphError, match=r"forgets .*test_pipeline.py.* returned None, .*lack a"
    ) as e:
        compile(small())
    assert "while running pass forgets (2 of 3)" in str(
        [e.value, *getattr(e.value, "__notes__", ())]
    )
