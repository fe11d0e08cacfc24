"""optimize keeps the recorded answers, and legalize leaves none of what it is told to replace."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_graph_ir import Graph, specialize
from byparts_opset.evaluate import evaluate
from byparts_optimize import legalize, optimize
from proof.own_op import Blend
from proof.recorded import Recorded, assert_close, ops_for, recorded
from proof.spec import Check, Spec, about


def checks(spec: Spec) -> Iterator[Check]:
    """Each pass on each recorded program."""
    for program in recorded(spec):
        yield from _checks(program, spec)


def _checks(program: Recorded, spec: Spec) -> Iterator[Check]:
    def same_answers(graph: Graph) -> None:
        found = evaluate(graph, *program.inputs)
        for i, (a, b) in enumerate(zip(found, program.answers, strict=True)):
            assert_close(a, b, f"output {i}")

    def static() -> Graph:
        return specialize(program.graph(ops_for(spec, program)), program.types)

    def optimize_keeps_the_answers() -> str:
        before, after = static(), optimize(static())
        same_answers(after)
        return f"{len(before.nodes)} nodes to {len(after.nodes)}"

    def legalize_replaces_what_nobody_has() -> None:
        legal = legalize(static(), lambda node: not isinstance(node.op, Blend))
        assert not any(isinstance(node.op, Blend) for node in legal.nodes)
        same_answers(legal)

    yield from about(program.name, optimize_keeps_the_answers, legalize_replaces_what_nobody_has)
