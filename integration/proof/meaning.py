"""opset computes the recorded answers without any kernel."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_opset.evaluate import evaluate
from proof.recorded import Recorded, assert_close, ops_for, recorded
from proof.spec import Check, Spec, about


def checks(spec: Spec) -> Iterator[Check]:
    """Each recorded program, by `evaluate`."""
    for program in recorded(spec):
        yield from about(program.name, _check(program, spec))


def _check(program: Recorded, spec: Spec) -> Check:
    def evaluate_gives_the_recorded_answers() -> None:
        found = evaluate(program.graph(ops_for(spec, program)), *program.inputs)
        for i, (a, b) in enumerate(zip(found, program.answers, strict=True)):
            assert_close(a, b, f"output {i}")

    return evaluate_gives_the_recorded_answers
