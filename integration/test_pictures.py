"""Pictures of whole programs: nothing overlaps, wires go around boxes, layers have frames."""

from __future__ import annotations

import sys
from pathlib import Path
from runpy import run_path

import pytest
from hypothesis import given, settings

from byparts_conformance.graphs import graphs
from byparts_graph_ir import Graph, inherit
from byparts_optimize import optimize

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "packages" / "graph-ir" / "tests"))

from picture_checker import check, read  # noqa: E402  # where the pictures' own tests are

LAYERS = {
    "mlp": {"hidden", "output", "loss", "update"},
    "lenet": {"conv1", "conv2", "dense1", "dense2", "loss", "update"},
}


@settings(max_examples=40, deadline=None)
@given(graphs(most_nodes=30))
def test_pictures_of_random_programs(graph: Graph) -> None:
    """With and without the lines of the program as frames."""
    check(read(graph.svg("rows")))


@pytest.mark.parametrize("name", LAYERS)
def test_a_training_step_has_a_frame_for_each_layer_and_for_its_gradient(name: str) -> None:
    """What the pictures of the documentation show."""
    with inherit(""):
        step = optimize(run_path(str(ROOT / "tools" / "pictures.py"))[name]())
    picture = read(step.svg("rows"))
    check(picture)
    titles = [frame.tip for frame in picture.frames]

    assert set(titles) == LAYERS[name]
    assert all(titles.count(layer) == 2 for layer in LAYERS[name] - {"loss", "update"})
