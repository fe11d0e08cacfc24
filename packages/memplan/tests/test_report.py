"""The report: what it says with a graph, and without."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given as forall, settings, strategies as st
from planned_ops import Reshape, Rows, add, copy, given, neg, twins

from byparts_graph_ir import Graph, Input, Node, Op, TensorType, Types, Value, inherit
from byparts_memplan import PlanError, plan, plan_from_json, plan_to_json, report


class Wide(Op):
    """Four times as many."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (4 * x.dims[0],)),)


def at(line: int, op: Op, *inputs: Value) -> Value:
    with inherit(f"/home/me/net.py:{line}"):
        return op(*inputs)


def net() -> Graph:
    """x is kept for the last line, and is read there."""
    x = Input(TensorType("f32", (1024,)), None, "x", "/home/me/net.py:1")
    first = at(2, copy, x)
    wide = at(3, Wide(), first)
    last = at(4, Rows(0, 1024), at(4, neg, wide))
    return Graph.of((x,), (at(5, add, last, first), x))


FULL = """\
6 values, 3 buffers, alignment 64
  each on its own    48.0 KiB  100.0 %
  planned            24.0 KiB   50.0 %  by sweep
  lower bound        24.0 KiB   50.0 %  reached: planned is optimal
  shared: 2 of 2 in place, 1 of 1 view, 0 of 0 donation
  outside the arena: 0 inputs

worst step: 1, wide f32[4096] (net.py:3), 24.0 KiB alive

around it
       0   8.00 KiB  ###        copy f32[1024] (net.py:2)
>      1   24.0 KiB  ########## wide f32[4096] (net.py:3)
       2   24.0 KiB  ########## neg f32[4096] (net.py:4)
       3   24.0 KiB  ########## rows f32[1024] (net.py:4)
       4   24.0 KiB  ########## add f32[1024] (net.py:5)

  most alive  at step     of  op
    24.0 KiB        1      1  wide (net.py:3)
    24.0 KiB        2      1  neg (net.py:4)
    24.0 KiB        3      1  rows (net.py:4)
    24.0 KiB        4      1  add (net.py:5)
    8.00 KiB        0      1  copy (net.py:2)

       bytes  steps        alive there, the largest first
    16.0 KiB  [1, 5)       %2 wide f32[4096] (net.py:3)
                            until step 2, by neg (net.py:4)
    4.00 KiB  [0, 6)       %0 x f32[1024] (net.py:1)
                            until step 5, by the caller
    4.00 KiB  [0, 6)       %1 copy f32[1024] (net.py:2)
                            until step 4, by add (net.py:5)

       bytes    share  buffers  by line
    16.0 KiB   66.7 %        1  net.py:3
    4.00 KiB   16.7 %        1  net.py:1
    4.00 KiB   16.7 %        1  net.py:2

shared, the largest first
    16.0 KiB  %3 neg written over %2 wide at step 2
    4.00 KiB  %4 rows is a view of %3 neg at step 3
    4.00 KiB  %5 add written over %1 copy at step 4
"""


def paragraph(text: str, begins: str) -> list[str]:
    (found,) = [p for p in text.split("\n\n") if p.lstrip().startswith(begins)]
    return found.splitlines()


def test_the_whole_report_with_the_graph() -> None:
    """Costs, the worst step and what is alive there, for whom, by line; what was shared."""
    graph = net()

    assert plan(graph).report(graph) == FULL.rstrip("\n")


def test_without_the_graph_it_says_what_the_plan_knows() -> None:
    """Also once the plan has been a file."""
    made = plan(net())
    said = plan_from_json(plan_to_json(made)).report()

    assert said == made.report()
    assert "NNVM" not in said
    assert paragraph(said, "bytes  steps")[1] == (
        "    16.0 KiB  [1, 5)       %2 wide f32[4096] (net.py:3) and 2 more"
    )


def test_what_was_refused_has_its_reason() -> None:
    x = given(1024)
    y = copy(x)
    graph = Graph.of((x,), (y, neg(y)))

    (line,) = paragraph(plan(graph).report(graph), "refused")[1:]
    assert line == "    4.00 KiB  %2 neg over %1: the bytes are an output of the graph"


def test_a_list_that_is_cut_says_how_much_is_left_out() -> None:
    x = given(16)
    values = [copy(x) for _ in range(20)]
    graph = Graph.of((x,), values)

    said = plan(graph).report(graph)
    assert "         and 11 more buffers, 704 B" in said.splitlines()
    assert "more buffers" not in report(plan(graph), graph, rows=99)


def test_a_longer_run_is_drawn() -> None:
    """What is alive, step by step."""
    x = given(1024)
    y: Value = x
    for _ in range(30):
        y = neg(copy(y))

    assert "          steps 0 to 60" in plan(Graph.of((x,), (y,))).report().splitlines()


def test_the_graph_must_be_the_one_that_was_planned() -> None:
    x = given(4)

    with pytest.raises(PlanError, match="the plan is of 6 values, the graph has 2; give the graph"):
        plan(net()).report(Graph.of((x,), (neg(x),)))


def test_each_space_has_its_worst_step() -> None:
    graph = net()
    made = plan(graph, space=lambda v: "npu" if v.type.size_bytes > 4096 else "host")
    said = made.report(graph)

    assert "\n  arenas: host " in said and "planned" in said
    assert "worst step of host: 3" in said and "worst step of npu: 1" in said


def test_a_plan_of_nothing_has_a_report() -> None:
    """No division by the arena."""
    x = given(4)
    said = plan(Graph.of((x,), (x,)), external={0}).report()

    assert said.splitlines()[2].split() == ["planned", "0", "B", "by", "sweep"]


def test_a_report_fits_a_terminal_whatever_the_names() -> None:
    x = Input(TensorType("f32", (1024,)), None, "x" * 300, "/a/" + "b" * 300 + ".py:1")
    graph = Graph.of((x,), (at(1, copy, neg(x)), x))

    assert max(map(len, plan(graph).report(graph, width=100).splitlines())) == 100
    assert max(map(len, plan(graph).report(graph, width=60).splitlines())) == 60


@pytest.mark.parametrize("width", [0, 39, "80", 80.5])
def test_a_width_that_is_none_is_refused(width: object) -> None:
    with pytest.raises(PlanError, match=r"width is .*; expected a number of letters, 40 or more"):
        plan(Graph.of((), ())).report(width=width)  # type: ignore[arg-type]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    inputs = [given(draw(st.sampled_from((2, 4)))) for _ in range(2)]
    made: list[Value] = list(inputs)
    for kind in draw(st.lists(st.integers(0, 6), max_size=12)):
        x = made[draw(st.integers(0, len(made) - 1))]
        same = [v for v in made if v.type == x.type]
        y = same[draw(st.integers(0, len(same) - 1))]
        rows, rest = x.type.dims[0], x.type.dims[1:]
        one: Sequence[Op] = (
            neg,
            copy,
            Reshape((*rest, rows)),
            Rows(rows // 2, rows),
            Rows(0, rows),
        )
        made += one[kind].outputs_of(x) if kind < 5 else (add, twins)[kind - 5].outputs_of(x, y)
    return Graph.of(inputs, draw(st.lists(st.sampled_from(made), min_size=1)), order=made)


def test_a_report_is_of_a_graph() -> None:
    made = plan(Graph((), (), ()))

    with pytest.raises(PlanError, match=r"^expected a Graph; got 'resnet'$"):
        made.report("resnet")  # type: ignore[arg-type]  # on purpose


@settings(deadline=None, max_examples=100)
@forall(graphs(), st.sets(st.integers(0, 1)))
def test_any_plan_has_a_report(graph: Graph, external: set[int]) -> None:
    """Within the width; the bytes by line are all that is alive."""
    made = plan(graph, external=external)

    for said in (made.report(), made.report(graph)):
        assert max(map(len, said.splitlines())) <= 100
        assert said.count("worst step") == (made.arena_bytes > 0)


def test_labels_without_lines_are_scoped_by_op() -> None:
    """A graph that was read from a file may have no lines."""
    x = Input(TensorType("f32", (4,)), None, "x", "")
    y = Node(copy, (x,), "").outputs[0]
    graph = Graph.of((x,), (y, x))

    assert [
        row.split()[-1] for row in paragraph(plan(graph).report(graph), "bytes    share")[1:]
    ] == [
        "x",
        "copy",
    ]
