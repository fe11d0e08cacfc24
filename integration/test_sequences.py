"""Sequences of steps on random graphs: their reckoning, and the graphs they become."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis.strategies import DataObject, booleans, data, integers

from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph, verify
from byparts_memplan import peak_bytes
from byparts_memplan.steps import Steps
from byparts_opset.evaluate import evaluate
from byparts_optimize import merge
from byparts_recompute.replay import replay


def with_repeats(steps: Steps, draws: DataObject) -> list[int]:
    """Before a step, anything that it reads may be computed again."""
    sequence: list[int] = []
    for s in range(len(steps.nodes)):
        for r in steps.reads[s]:
            w = steps.writer.get(r)
            if w is not None and steps.again[w] and draws.draw(booleans()):
                sequence.append(w)
        sequence.append(s)
    return sequence


@given(graphs())
def test_steps_and_plan_agree_about_the_peak(graph: Graph) -> None:
    """A plan may find a better matching of outputs to inputs, and never a worse one."""
    assert peak_bytes(graph) <= Steps(graph).peak_bytes()


@given(graphs(), data())
def test_a_replay_is_well_formed_and_no_worse_than_reckoned(
    graph: Graph, draws: DataObject
) -> None:
    steps = Steps(graph)
    sequence = with_repeats(steps, draws)
    after = verify(replay(steps, sequence))

    assert peak_bytes(after) <= steps.peak_bytes(sequence)


@given(graphs(effects=False), data(), integers(0, 9))
def test_a_replay_computes_the_same_bits_also_when_merged(
    graph: Graph, draws: DataObject, seed: int
) -> None:
    """And merging finds nothing to merge that it would not have found before."""
    graph = merge(graph)
    steps = Steps(graph)
    sequence = with_repeats(steps, draws)
    after = merge(replay(steps, sequence))

    arrays = arguments(graph, seed)
    for got, want in zip(evaluate(after, *arrays), evaluate(graph, *arrays), strict=True):
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes()
