"""autodiff, given the loss alone, makes the training step that was recorded."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_autodiff import gradients
from byparts_graph_ir import Graph
from byparts_opset.evaluate import evaluate
from proof.recorded import assert_close, ops_for, recorded
from proof.spec import Check, Spec

RATE = 0.1


def checks(spec: Spec) -> Iterator[Check]:
    """Gradients of the perceptron."""
    programs = {program.name: program for program in recorded(spec)}
    before, step = programs["mlp_loss"], programs["mlp_step"]

    def gradients_of_the_loss_make_the_recorded_step() -> None:
        graph = before.graph(ops_for(spec, before))
        (loss,), weights = graph.outputs, graph.inputs[-step.facts["updates"] :]
        pairs = zip(weights, gradients(loss, weights), strict=True)
        own = Graph.of(graph.inputs, [loss, *(w - dw * RATE for w, dw in pairs)])
        found = evaluate(own, *step.inputs)
        for i, (a, b) in enumerate(zip(found, step.answers, strict=True)):
            assert_close(a, b, f"output {i}")

    yield gradients_of_the_loss_make_the_recorded_step
