"""Orders of real graphs: the same bits, lower peaks, and traces that become graphs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers

import orders
import traced
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph, verify
from byparts_memplan import check_plan, order, peak_bytes, plan
from byparts_opset.evaluate import evaluate
from memory.networks import NETWORKS, SMALL, training


@given(graphs(effects=False), integers(0, 9))
def test_an_order_computes_the_same_bits(graph: Graph, seed: int) -> None:
    """And its plan lets every read find its bytes."""
    after = verify(order(graph))
    arrays = arguments(graph, seed)

    check_plan(after, plan(after))
    for got, want in zip(evaluate(after, *arrays), evaluate(graph, *arrays), strict=True):
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes()


@pytest.mark.parametrize("name", NETWORKS)
def test_orders_of_networks_are_never_worse_and_settle(name: str) -> None:
    """Training steps, small; asking again changes nothing."""
    graph, external = training(name, 2, **SMALL[name])
    better = verify(order(graph, external=external))

    assert peak_bytes(better, external) <= peak_bytes(graph, external)
    assert set(better.nodes) == set(graph.nodes)
    assert order(better, external=external) is better


@pytest.mark.parametrize("name", orders.SMALL)
def test_small_networks_get_a_lower_peak_that_is_proved(name: str) -> None:
    """As the table of `benchmarks/orders.py` says."""
    graph, external = orders.small(name)

    assert peak_bytes(order(graph, external=external), external) < peak_bytes(graph, external)
    assert "| yes |" in orders.row(name, graph, external)


def test_a_trace_is_a_graph_of_its_bytes(tmp_path: Path) -> None:
    """Sizes are rounded up, views fall away, and an output of another size is not in place."""
    record = {
        "size": [100, 100, 128, 7],
        "ext": [0],
        "ops": [
            {"name": "relu", "inp": [0], "out": [1], "view": False, "ip": [0], "flops": 25},
            {"name": "view", "inp": [1], "out": [], "view": True, "ip": [], "flops": 0},
            {"name": "add", "inp": [1, 1], "out": [2], "view": False, "ip": [1], "flops": 25},
            {"name": "sum", "inp": [2], "out": [3], "view": False, "ip": [2], "flops": 32},
        ],
        "outs": [3],
    }
    path = tmp_path / "net_train.json.gz"
    path.write_bytes(gzip.compress(json.dumps(record).encode()))
    graph = verify(traced.load(path))

    assert traced.files(tmp_path, "train") == [path]
    ops = [n.op for n in graph.nodes if isinstance(n.op, traced.Traced)]
    assert [op.label for op in ops] == ["relu", "add", "sum"]
    assert [op.inplace for op in ops] == [((0, 0),), ((0, 0), (1, 0)), ()]
    assert [op.flops() for op in ops] == [25, 25, 32]
    assert peak_bytes(graph, traced.external(graph)) == 128 + 64
