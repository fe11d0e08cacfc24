"""graph-ir alone reads, checks, prints and specialises any program."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_graph_ir import parse, specialize, to_json, verify
from proof.recorded import Recorded, ops_for, recorded
from proof.spec import Check, Spec, about


def checks(spec: Spec) -> Iterator[Check]:
    """Of each recorded program, whatever ops there are."""
    programs = recorded(spec)

    def there_are_programs() -> str:
        assert programs, f"none in {spec.programs}"
        return f"{len(programs)} programs"

    yield there_are_programs
    for program in programs:
        yield from _checks(program, spec)


def _checks(program: Recorded, spec: Spec) -> Iterator[Check]:
    ops = ops_for(spec, program)

    def json_gives_the_graph_back() -> None:
        graph = program.graph(ops)
        verify(graph)
        assert to_json(graph) == program.json

    def text_gives_the_graph_back() -> None:
        graph = program.graph(ops)
        same(str(graph), program.facts["text"])
        assert parse(program.facts["text"], ops) == graph

    def shapes_are_bound() -> None:
        static = specialize(program.graph(ops), program.types)
        verify(static)
        same(str(static), program.facts["specialized"])

    yield from about(
        program.name, json_gives_the_graph_back, text_gives_the_graph_back, shapes_are_bound
    )


def same(found: str, expected: str) -> None:
    """Raise with the first line that differs."""
    for a, b in zip(found.splitlines(), expected.splitlines(), strict=False):
        assert a == b, f"prints\n{a}\nrecorded\n{b}"
    assert found == expected, f"prints {len(found)} characters, recorded {len(expected)}"
