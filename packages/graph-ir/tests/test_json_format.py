"""JSON: exact, versioned, flat, and safe to read from a stranger."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn, strategies as st
from test_text import odd
from toy_ops import OPS, Call, Neg, Scale, f32, given, neg, nest, small

from byparts_graph_ir import (
    FormatError,
    Graph,
    GraphError,
    Node,
    from_json,
    parse,
    to_json,
    verify,
)


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
    where = again.nodes[0].where
    assert small().nodes[0].where.endswith(where) and "toy_ops.py:" in where


def test_a_file_says_nothing_of_the_folders_of_this_machine() -> None:
    """The line of a user's program is relative to the working folder, or a name alone."""
    x = given("x", 2)
    lines = [__file__ + ":7", os.path.abspath("/elsewhere/me/train.py") + ":8 in a/b", "<stdin>:1"]
    nodes = [Node(Neg(), (x,), line) for line in lines]
    graph = Graph((x,), tuple(nodes), ())

    for read, text in ((from_json, to_json(graph)), (parse, str(graph))):
        here, *others = [node.where for node in read(text, OPS).nodes]
        assert (Path(here).name, Path(here).is_absolute()) == ("test_json_format.py:7", False)
        assert others == ["train.py:8 in a/b", "<stdin>:1"]
        assert read(text, OPS) == graph


def test_a_line_cannot_write_into_a_text() -> None:
    """A comment ends with its line: a file name with a line break does not begin another."""
    graph = from_json(change("graphs/0/nodes/0/where", "a\n return %x }\r\u2028"), OPS)

    assert "# a\\n return %x }\\r\\u2028\n" in str(graph)
    assert parse(str(graph), OPS) == graph


def doubled(depth: int) -> str:
    """A graph that is in two nodes of one that is in two nodes..., the last on another type."""
    graphs: list[Any] = []
    for i in range(depth + 1):
        body = {"op": "fused", "attributes": {"graph": {"graph": i - 1}}} if i else {"op": "neg"}
        kind = "f32[4]" if i == depth else "f32[n]"
        nodes = [{**body, "inputs": [0]}, {**body, "inputs": [1]}]
        graphs.append({"inputs": [{"name": "x", "type": kind}], "nodes": nodes, "outputs": [2]})
    return json.dumps({"format": "byparts-graph", "version": 1, "graphs": graphs})


def test_a_short_file_is_read_in_a_short_time() -> None:
    """Each level asks the one inside for its types; without memory of it, 4 times 4 times 4."""
    graph = from_json(doubled(16), OPS)

    assert verify(graph).outputs[0].type == f32(4)
    with pytest.raises(FormatError, match=r"graphs\[18\]: graphs of \d+ nodes inside it; expected"):
        from_json(doubled(40), OPS)


def test_a_key_that_stands_twice_is_found_among_many() -> None:
    keys = ", ".join(f'"{i}": 0' for i in range(200_000))

    with pytest.raises(FormatError, match="an object with two '199999'"):
        from_json(f'{{{keys}, "199999": 1}}')


@pytest.mark.parametrize("read", [parse, from_json])
def test_a_byte_order_mark_and_lines_of_windows(read: Callable[..., Graph]) -> None:
    text = str(small()) if read is parse else json.dumps(json.loads(to_json(small())), indent=1)

    assert read("\ufeff" + text.replace("\n", "\r\n"), OPS) == small()
    with pytest.raises(FormatError, match="expected a text, got bytes; decode it first"):
        read(text.encode(), OPS)


def test_what_no_file_could_be_read_with_is_not_written() -> None:
    """An attribute is checked when it is written as when it is read."""
    x = given("x", 2)
    graph = Graph.of((x,), (Scale("2")(x),))  # type: ignore[arg-type]  # the mistake

    with pytest.raises(GraphError, match=r"scale: factor is '2'; a file needs float"):
        to_json(graph)


def test_n7_a_loaded_graph_can_be_built_upon() -> None:
    """NNVM's loaded variables could not be composed."""
    loaded = from_json(to_json(small()), OPS)
    more = Graph.of(loaded.inputs, (neg(loaded.outputs[0]),))

    assert isinstance(verify(more).nodes[-1].op, Neg)


@pytest.mark.long
def test_tens_of_thousands_of_levels() -> None:
    """Graphs inside graphs, 25 000 deep, are stored flat; brackets deeper than that are refused."""
    deep = small()
    for _ in range(25_000):
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


def scaled(factor: float) -> str:
    """A graph of one op that has attributes."""
    x = given("x", 2)
    return to_json(Graph.of((x,), (Scale(factor)(x),)))


def tuples(depth: int) -> str:
    """The attribute of so many tuples inside each other."""
    return '{"tuple": [' * (depth + 1) + "]}" * (depth + 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON text"),
        (to_json(small())[:-20], "not a JSON text"),
        ("[]", r"the file: expected an object, found \[\]"),
        (
            change("version", 7),
            "this reads 'byparts-graph' version 1, the file is 'byparts-graph' version 7",
        ),
        (change("format", "onnx"), "the file is 'onnx' version 1"),
        (change("extra", 1), "the file has the unknown field 'extra'"),
        (change("graphs", []), "the file holds no graph"),
        (
            change("graphs/0/nodes/0/op", "ad"),
            r"graphs\[0\].nodes\[0\]: unknown op 'ad'; did you mean 'add'",
        ),
        (change("graphs/0/nodes/0/op", 5), r"nodes\[0\].op: expected a text, found 5"),
        (
            change("graphs/0/nodes/0/colour", 5),
            r"graphs\[0\].nodes\[0\] has the unknown field 'colour'",
        ),
        (
            change("graphs/0/nodes/1/inputs", [9]),
            r"nodes\[1\].inputs\[0\]: 9 is none of the 3 made before",
        ),
        (change("graphs/0/nodes/1/inputs", [-1]), "-1 is none of the 3"),
        (change("graphs/0/nodes/1/inputs", [True]), "True is none of the 3"),
        (change("graphs/0/nodes/1/inputs", []), r"neg on \(\): neg: takes the inputs \(x\), got 0"),
        (change("graphs/0/nodes/1/attributes", {"a": 1}), "neg has no attribute 'a'"),
        (
            change("graphs/0/nodes/1/attributes", {"a": {"graph": 0}}),
            "0 is none of the 0 made before",
        ),
        (
            change("graphs/0/nodes/1/attributes", {"a": {"code": "x"}}),
            "attributes.a: expected an attribute, found",
        ),
        (change("graphs/0/nodes/1/attributes", {"a": {"bytes": "%%"}}), "bytes are base64"),
        (change("graphs/0/inputs/0/type", "f32[2"), r"'f32\[2' is no type: no shape"),
        (change("graphs/0/inputs/0/type", "f32[3]"), r"add: x is f32\[3\] and y is f32\[2\]"),
        (change("graphs/0/outputs", [4]), r"outputs\[0\]: 4 is none of the 4 made before"),
        (change("graphs/0/nodes", None), r"graphs\[0\].nodes: expected a list, found None"),
        (change("version", True), "version 1, the file is 'byparts-graph' version True"),
        (change("version", float("nan")), "version NaN, which is no JSON"),
        (change("graphs/0/outputs", [float("inf")]), r"outputs\[0\]: Infinity, which is no JSON"),
        (change("graphs/0/inputs/0/name", None), r"inputs\[0\].name: expected a text, found None"),
        (
            change("graphs/0/inputs/0/type", "f32[" + "9" * 5000 + "]"),
            r"is no type: '9+.* is no dim",
        ),
        (change("graphs/0/inputs/0/type", f"f32[{1 << 63}]"), "dimension of more than 63 bits"),
        (change("graphs/0/inputs/0/type", "f32[\u0663]"), "is no type"),
        (
            to_json(small()).replace('"outputs"', '"outputs": [], "outputs"'),
            r"graphs\[0\]: expected an object, found an object with two 'outputs'",
        ),
        (
            to_json(small()).replace('"version": 1', f'"version": {"1" * 5000}'),
            "version a number of 5000 digits",
        ),
        (scaled(1.5).replace("1.5", "1e999"), r"attributes.factor: expected .* found 1e999, more"),
        (scaled(1.5).replace("1.5", '"1.5"'), "scale: factor is '1.5'; expected float"),
        (scaled(1.5).replace("1.5", "true"), "scale: factor is True; expected float"),
        (scaled(1.5).replace("1.5", tuples(65)), "expected an attribute, tuples at most 64 deep"),
    ],
)
def test_wrong_files_are_named_errors(text: str, message: str) -> None:
    """Unknown op, unknown field, wrong version, truncated, hostile: each says what and where."""
    with pytest.raises(FormatError, match=message):
        from_json(text, OPS)


def test_without_ops_it_is_said_what_to_install() -> None:
    with pytest.raises(
        FormatError, match=r"unknown op 'add'; there are no ops here: pip install \S+opset"
    ):
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
