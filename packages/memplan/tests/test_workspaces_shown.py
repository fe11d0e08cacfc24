"""Workspaces in words, pictures and files: called what they are, and how much they are together."""

from __future__ import annotations

from planned_ops import Copy, copy, given, neg
from random_kernels import said

from byparts_graph_ir import Graph, Kernel, Node
from byparts_memplan import (
    Plan,
    check_plan,
    plan,
    plan_from_json,
    plan_to_json,
    read_buffers,
    report,
    write_placement,
)
from byparts_memplan.pictures.alive import scopes


def kernels(node: Node) -> Kernel:
    """A copy takes 100 bytes."""
    return said(100 if isinstance(node.op, Copy) else 0, *node.op.inplace)


def planned(depth: int = 1) -> tuple[Graph, Plan]:
    x = given(64)
    nodes: list[Node] = []
    for i in range(2 * depth):
        read = nodes[-1].outputs if nodes else (x,)
        nodes.append(Node((copy, neg)[i % 2], read, f"net.py:{i // 2}"))
    graph = Graph((x,), tuple(nodes), nodes[-1].outputs)
    return graph, plan(graph, kernels=kernels)


def test_the_report_says_how_much_they_are() -> None:
    """With the graph and without it; at the worst step, they are a part of their own."""
    graph, made = planned(2)
    for text in (report(made, graph), report(made)):
        assert "  kernels: 2 workspaces, 256 B together, the largest 128 B" in text
        assert "workspace of %1 copy (net.py:0)" in text
        assert "20.0 %        1  workspaces" in text


def test_a_plan_without_workspaces_says_nothing_of_them() -> None:
    graph, _ = planned()

    assert "workspace" not in plan(graph).report(graph)
    assert "workspace" not in plan(graph).draw()
    assert "workspace" not in plan(graph).svg()


def test_pictures_name_them() -> None:
    _, made = planned()

    assert made.draw().endswith(
        "  c  workspace of %1 copy (net.py:0)\n  1 workspace, 128 B together"
    )
    assert "<title>workspace of %1 copy (net.py:0)" in made.svg()
    assert "3 buffers by sweep; 1 workspace, 128 B together</text>" in made.svg()


def test_in_pictures_of_many_they_are_one_scope() -> None:
    """With its bytes at the worst step, beside the lines of the program."""
    _, made = planned(20)
    _, held = scopes(made.labels, made.placement.buffers, 30)

    assert held["workspaces"] == 128
    assert "20 workspaces, 2.50 KiB together" in made.draw()


def test_json_gives_them_back() -> None:
    graph, made = planned(2)
    back = plan_from_json(plan_to_json(made))

    assert back == made
    assert back.workspaces == made.workspaces
    check_plan(graph, back, kernels)


def test_csv_names_them() -> None:
    """Labels are ids, each once."""
    _, made = planned(2)
    lines = write_placement(made.labels, made.placement).splitlines()
    ids, buffers = read_buffers(lines)

    assert ids == made.labels
    assert "workspace of %3 copy (net.py:1),2,3,128,64," in "\n".join(lines)
    assert len(buffers) == 5
