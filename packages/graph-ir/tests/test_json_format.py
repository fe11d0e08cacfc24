"""JSON: exact, versioned, flat, and safe to read from a stranger."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as drawn, strategies as st
from test_text import odd
from toy_ops import OPS, Call, Neg, Scale, given, neg, nest, small

from byparts_graph_ir import FormatError, Graph, Node, from_json, to_json, verify


@pytest.mark.parametrize(
    "graph", [small(), odd(), nest(3), Graph.of((), ())], ids=["small", "odd", "nest", "empty"]
)
def test_nn_gr_1_json_round_trip_is_byte_identical(graph: Graph) -> None:
    """NNVM row: save, load, save gives the same bytes, and an equal graph."""
    again = from_json(to_json(graph), OPS)

    assert again == graph and to_json(again) == to_json(graph)


def test_names_and_places_survive() -> None:
    """Provenance is stored, although it is never compared."""
    again = from_json(to_json(small()), OPS)

    assert [v.name for v in again.inputs] == ["x", "y"]  # type: ignore[attr-defined]
    assert again.nodes[0].where == small().nodes[0].where


def test_n7_a_loaded_graph_can_be_built_upon() -> None:
    """NNVM's loaded variables could not be composed."""
    loaded = from_json(to_json(small()), OPS)
    more = Graph.of(loaded.inputs, (neg(loaded.outputs[0]),))

    assert isinstance(verify(more).nodes[-1].op, Neg)


def test_hundred_thousand_levels() -> None:
    """Graphs inside graphs, 100 000 deep, are stored flat; brackets that deep are refused."""
    deep = small()
    for _ in range(100_000):
        x = given("x", 2)
        deep = Graph((x,), (node := Node(Call(deep), (x,), ""),), node.outputs)

    assert from_json(to_json(deep), OPS) == deep
    with pytest.raises(FormatError, match="not a JSON text"):
        from_json("[" * 100_000 + "]" * 100_000, OPS)


def change(path: str, value: Any) -> str:
    """The running example's JSON with one thing changed."""
    data = json.loads(to_json(small()))
    *keys, last = path.split("/")
    place = data
    for key in keys:
        place = place[int(key) if key.isdigit() else key]
    place[int(last) if last.isdigit() else last] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON text"),
        (to_json(small())[:-20], "not a JSON text"),
        ("[]", "the file is an object, found \\[\\]"),
        (
            change("version", 7),
            "this reads 'byparts-graph' version 1, the file is 'byparts-graph' version 7",
        ),
        (change("format", "onnx"), "the file is 'onnx' version 1"),
        (change("extra", 1), "the file has the unknown field 'extra'"),
        (change("graphs", []), "the file holds no graph"),
        (
            change("graphs/0/nodes/0/op", "ad"),
            "graph 0, node 0: unknown op 'ad'; did you mean 'add'",
        ),
        (change("graphs/0/nodes/0/op", 5), "op is a text, found 5"),
        (change("graphs/0/nodes/0/colour", 5), "a node has the unknown field 'colour'"),
        (change("graphs/0/nodes/1/inputs", [9]), "node 1: inputs: 9 is none of the 3 made before"),
        (change("graphs/0/nodes/1/inputs", [-1]), "-1 is none of the 3"),
        (change("graphs/0/nodes/1/inputs", [True]), "True is none of the 3"),
        (change("graphs/0/nodes/1/inputs", []), r"neg on \(\): neg: takes the inputs \(x\), got 0"),
        (change("graphs/0/nodes/1/attributes", {"a": 1}), "neg has no attribute 'a'"),
        (
            change("graphs/0/nodes/1/attributes", {"a": {"graph": 0}}),
            "0 is none of the 0 made before",
        ),
        (change("graphs/0/nodes/1/attributes", {"a": {"code": "x"}}), "an attribute cannot be"),
        (change("graphs/0/nodes/1/attributes", {"a": {"bytes": "%%"}}), "bytes are base64"),
        (change("graphs/0/inputs/0/type", "f32[2"), r"'f32\[2' is no type: no shape"),
        (change("graphs/0/inputs/0/type", "f32[3]"), r"add: x is f32\[3\] and y is f32\[2\]"),
        (change("graphs/0/outputs", [4]), "outputs: 4 is none of the 4 made before"),
        (change("graphs/0/nodes", None), "nodes is a list, found None"),
    ],
)
def test_wrong_files_are_named_errors(text: str, message: str) -> None:
    """Unknown op, unknown field, wrong version, truncated, hostile: each says what and where."""
    with pytest.raises(FormatError, match=message):
        from_json(text, OPS)


def test_without_ops_it_is_said_what_to_install() -> None:
    with pytest.raises(FormatError, match=r"unknown op 'add'; there are no ops .* byparts-opset"):
        from_json(to_json(small()), ops={})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
NODE = "graphs/0/nodes/0"
PLACES = ["format", "graphs", "graphs/0", "graphs/0/inputs/0", "graphs/0/inputs/0/type"]
PLACES += ["graphs/0/outputs", NODE, f"{NODE}/op", f"{NODE}/inputs", f"{NODE}/attributes"]


@drawn(st.sampled_from(PLACES), anything)
def test_a_file_with_anything_anywhere_loads_or_is_refused(place: str, value: object) -> None:
    """Whatever stands in a file, the only outcomes are a well formed graph and a `FormatError`."""
    try:
        graph = from_json(change(place, value), OPS)
    except FormatError:
        return
    assert verify(graph) is graph


def test_defaults_are_written() -> None:
    """A file keeps its meaning when an op's default changes."""
    x = given("x", 2)
    graph = Graph.of((x,), (Scale()(x),))

    assert json.loads(to_json(graph))["graphs"][0]["nodes"][0]["attributes"] == {
        "factor": 1.0,
        "note": "",
    }
