"""The networks of the memory tables: planned or not, the same bits; and the table still holds."""

from __future__ import annotations

import json
from math import prod

import numpy as np
import pytest

from byparts_graph_ir import Graph
from byparts_memplan import check_plan, order, plan
from byparts_optimize import optimize
from byparts_runtime import build
from memory.networks import NETWORKS, SMALL, inference, training
from memory.table import FILE, measured

RECORDED: dict[str, dict[str, int]] = json.loads(FILE.read_text(encoding="utf-8"))["networks"]


def drawn(graph: Graph) -> list[np.ndarray]:
    """Images and weights whose sums stay near 1, words and labels that all networks have."""
    rng = np.random.default_rng(0)
    found: list[np.ndarray] = []
    for v in graph.inputs:
        dims = v.type.dims
        if v.type.dtype == "i64":
            found.append(rng.integers(0, 2, dims))
        elif len(dims) == 1:  # a bias, a scale, a variance
            found.append(rng.uniform(0.5, 1.5, dims).astype("f4"))
        else:
            summed = dims[0] if len(dims) == 2 else prod(dims[1:])
            found.append((rng.uniform(-2, 2, dims) / summed**0.5).astype("f4"))
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_steps_compute_the_same_bits_planned_or_not(name: str) -> None:
    """Loss and gradients: with an arena in a better order, and each value on its own."""
    graph, _ = training(name, 2, **SMALL[name])
    arrays = drawn(graph)

    plain = build(graph, planner=None)(*arrays)
    planned = build(graph)(*arrays)

    assert all(np.isfinite(x).all() for x in plain) and np.any(plain[1])
    for got, want in zip(planned, plain, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", NETWORKS)
def test_inference_computes_the_same_bits_planned_or_not(name: str) -> None:
    """Logits, by statistics that are weights."""
    graph, _ = inference(name, 1, **SMALL[name])
    arrays = drawn(graph)

    (plain,), (planned,) = build(graph, planner=None)(*arrays), build(graph)(*arrays)

    assert np.isfinite(plain).all()
    np.testing.assert_array_equal(planned, plain)


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_plans_of_steps_are_valid(name: str) -> None:
    """The checker runs the plan on symbolic memory."""
    graph, external = training(name, 2, **SMALL[name])
    better = order(optimize(graph), external=external)

    check_plan(better, plan(better, external=external))


@pytest.mark.long
@pytest.mark.parametrize(("name", "mode"), [("resnet18", "train"), ("bert_base", "infer")])
def test_recorded_peaks_are_still_reached(name: str, mode: str) -> None:
    """`memory.json` is what `benchmarks/memory/table.py` has written."""
    recorded, (found, _) = RECORDED[f"{name} {mode}"], measured(name, mode)

    assert found["naive"] == recorded["naive"]
    assert found["ordered"] <= recorded["ordered"] and found["built"] <= recorded["built"]


@pytest.mark.parametrize("row", RECORDED)
def test_no_row_needs_more_than_eager(row: str) -> None:
    """Without recomputation, and though our feeds count and eager's do not."""
    assert RECORDED[row]["ordered"] <= RECORDED[row]["eager"]


def test_the_table_has_a_row_for_each_network_and_mode() -> None:
    """And no other."""
    assert sorted(RECORDED) == sorted(f"{n} {m}" for n in NETWORKS for m in ("train", "infer"))
