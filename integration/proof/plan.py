"""memplan plans any program, and its own oracle finds nothing wrong with the plan."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_graph_ir import specialize
from byparts_memplan import check_plan, plan
from proof.recorded import Recorded, ops_for, recorded
from proof.spec import Check, Spec, about


def checks(spec: Spec) -> Iterator[Check]:
    """The plan of each recorded program."""
    for program in recorded(spec):
        yield from about(program.name, _check(program, spec))


def _check(program: Recorded, spec: Spec) -> Check:
    def plan_is_valid_and_as_small_as_recorded() -> str:
        graph = specialize(program.graph(ops_for(spec, program)), program.types)
        made = plan(graph)
        check_plan(graph, made)
        expected = program.facts["arena_bytes"]
        assert made.arena_bytes == expected, f"{made.arena_bytes} bytes, recorded {expected}"
        return f"{made.arena_bytes} bytes"

    return plan_is_valid_and_as_small_as_recorded
