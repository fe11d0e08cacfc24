"""Prints in random programs: where they stand, and which wrong lines are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faulty import with_fault

import byparts_opset as ops
from byparts_conformance.programs import Program, expected, generate, minimised, trial
from byparts_conformance.programs.effects import as_array, expected_text, messages, part_of
from byparts_conformance.programs.twins import unrolled
from byparts_graph_ir import Graph
from byparts_graph_ir.model.bodies import subgraphs

PROGRAMS = [generate(seed, prints=True) for seed in range(60)]


def lines(program: Program) -> list[str]:
    """The first words of what it prints."""
    text = expected(program, samples=0)[-1].value.tobytes().decode()
    return [line[: line.index(" ", 6)] for line in text.splitlines() if line.startswith("print")]


def test_every_fifth_program_prints() -> None:
    loud = [generate(seed).graph.has_effect for seed in range(50)]

    assert not any([x for seed, x in enumerate(loud) if seed % 5 != 2])
    assert sum(loud) >= 8


def test_values_are_printed_in_bodies_too_and_some_twice() -> None:
    bodies = [g for p in PROGRAMS for node in p.graph.nodes for g in subgraphs(node.op)]
    printed = [node for p in PROGRAMS for node in p.graph.nodes if isinstance(node.op, ops.Print)]
    read = {v for p in PROGRAMS for node in p.graph.nodes for v in node.inputs}

    assert sum(bool(messages(body)) for body in bodies) > 20
    assert len({(node.op, node.inputs) for node in printed}) < len(printed)
    assert {bool(read & set(node.outputs)) for node in printed} == {True, False}


def test_most_texts_are_compared() -> None:
    """Also of programs in whose bodies floats decide how often a loop runs."""
    texts = [expected(p)[-1] for p in PROGRAMS if p.graph.has_effect]

    assert sum(bool(np.all(want.determined)) for want in texts) > 0.9 * len(texts)


def test_bodies_that_are_written_out_print_as_often() -> None:
    loops = [p for p in PROGRAMS if unrolled(p).graph != p.graph]

    assert len(loops) > 5
    assert all(lines(unrolled(p)) == lines(p) for p in loops)


def text(*pieces: str) -> np.ndarray[Any, Any]:
    return as_array("".join([f"print 7.{k} {piece}\n" for k, piece in enumerate(pieces, 1)]))


WANT = text("[1.5 -2.  nan]", "9007199254740993", "[[ True]\n [False]]")


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (("[1.5 -2. nan]", "9007199254740993"), "printed 2 times instead of 3"),
        (
            ("[1.5 -2.]", "9007199254740993", "[[ True]\n [False]]"),
            "[# #]' instead of 'print 7.1[# # #]'",
        ),
        (
            ("tensor([1.5 -2. nan])", "9007199254740993", "[[True]\n [False]]"),
            "tensor",
        ),
        (("[1.5 -2. 0. ]", "9007199254740993", "[[ True]\n [False]]"), "printed 0. instead of nan"),
        (("[1.6 -2. nan]", "9007199254740993", "[[ True]\n [False]]"), "1.6 instead of 1.5"),
        (
            ("[1.5 -2. nan]", "9007199254740992", "[[ True]\n [False]]"),
            "printed 9007199254740992 instead of 9007199254740993, after 'print 7.2'",
        ),
        (("[1.5 -2. nan]", "9007199254740993", "[[ True]\n [ True]]"), "True instead of False"),
        (("[1.5 -2. nan]", "9007199254740993", "[ True False]"), "as line 3"),
    ],
)
def test_wrong_lines_are_told(pieces: tuple[str, ...], said: str) -> None:
    """A line that is missing, of another format or shape, a number that is another one."""
    want = expected_text([WANT, WANT], 8.0)

    assert not want.difference(WANT)
    assert said in want.difference(text(*pieces))


def test_floats_may_be_off_by_as_much_as_with_noise_and_integers_not_at_all() -> None:
    want = expected_text([text("[0.5 3]"), text("[0.50000006 3]")], 8.0)

    assert not want.difference(text("[0.5000001 3]"))
    assert want.difference(text("[0.51 3]")) and want.difference(text("[0.5 4]"))


def test_what_noise_changes_is_not_compared() -> None:
    """An integer that depends on the noise; lines that are printed less often."""
    number = expected_text([text("[1 2]"), text("[1 3]")], 8.0)
    often = expected_text([text("1", "2"), text("1")], 8.0)

    assert not number.difference(text("[1 9]")) and number.difference(text("[0 2]"))
    assert not often.difference(text("5"))


def test_each_program_of_a_batch_gets_its_own_lines() -> None:
    both = as_array("print 7.1 [1]\nprint 8.1 [[2]\n [3]]\nprint 7.2 4\n")

    assert part_of(both, {"print 7.1", "print 7.2"}).tobytes() == b"print 7.1 [1]\nprint 7.2 4\n"
    assert part_of(both, {"print 8.1"}).tobytes() == b"print 8.1 [[2]\n [3]]\n"


# -- what is wrong with a backend or a pass ------------------------------------------------------


def once(graph: Graph) -> Graph:
    """Merge equal prints, as no pass may."""
    seen: dict[Any, Any] = {}
    return graph.rewrite(
        lambda node: (
            seen.setdefault((node.op, node.inputs), node.outputs)
            if isinstance(node.op, ops.Print)
            else None
        )
    )


def dropped(graph: Graph) -> Graph:
    """Drop the prints that nobody reads, as no pass may."""
    read = {v for node in graph.nodes for v in node.inputs} | set(graph.outputs)
    kept = [n for n in graph.nodes if not isinstance(n.op, ops.Print) or n.outputs[0] in read]
    return Graph(graph.inputs, tuple(kept), graph.outputs)


def backwards(graph: Graph) -> Graph:
    """Exchange the first two prints, where nothing else orders them."""
    order = list(graph.nodes)
    at = [i for i, node in enumerate(order) if isinstance(node.op, ops.Print)][:2]
    if len(at) == 2 and not set(order[at[0]].outputs) & {v for n in order for v in n.inputs}:
        order.insert(at[1], order.pop(at[0]))
    return Graph(graph.inputs, tuple(order), graph.outputs)


@pytest.mark.parametrize("wrong", [once, dropped, backwards])
def test_a_pass_that_loses_an_effect_is_found(wrong: Any) -> None:
    loud = PROGRAMS[:40]

    assert any(trial(p, backends=("numpy",), passes=(wrong,)) for p in loud)
    assert not any(trial(p, backends=("numpy",)) for p in loud[:10])


def test_a_kernel_that_prints_twice_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing of what programs print is seen, while the failure is made small too."""
    loud = with_fault([ops.Print], lambda outputs: print(*outputs))
    program = next(p for p in PROGRAMS if trial(p, backends=(loud,)))
    small = minimised(program, lambda p: trial(p, backends=(loud,)), most_trials=60)

    assert "printed" in trial(small, backends=(loud,)) and len(messages(small.graph)) == 1
    assert capsys.readouterr().out == ""
