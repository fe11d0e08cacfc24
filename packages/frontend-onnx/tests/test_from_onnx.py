"""Models as graphs: names, weights, open sizes, examples, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from models import FLOAT, INT64, graph, model, node, results, run
from onnx import helper

import byparts_opset as ops
from byparts_frontend_onnx import Rules, Undetermined, UnsupportedOp, from_onnx, rules
from byparts_graph_ir import FormatError, GraphError, Value
from byparts_runtime import Executor

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_weights_have_the_names_of_the_file() -> None:
    w, b = np.ones((4, 5), np.float32), np.arange(5, dtype=np.float32)
    nodes = [node("MatMul", ["x", "layer.weight"], ["t"]), node("Add", ["t", "b"], ["y"])]
    imported = from_onnx(model(nodes, {"x": ["n", 4]}, ["y"], {"layer.weight": w, "b": b}))

    assert (imported.inputs, imported.outputs) == (("x",), ("y",))
    assert list(imported.weights) == ["layer.weight"]  # five numbers are a constant
    assert str(imported.graph.outputs[0].type) == "f32[n,5]"
    np.testing.assert_array_equal(results(imported, x=X[0])[0], X[0] @ w + b)


def test_one_program_serves_every_size_of_computed_shapes() -> None:
    """Shape, Gather, Concat and Reshape of named sizes stay names."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Unsqueeze", ["n", "axis"], ["n1"]),
        node("Concat", ["n1", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    known = {"zero": np.int64(0), "axis": np.array([0]), "rest": np.array([2, -1])}
    imported = from_onnx(model(nodes, {"x": ["batch size", "seq.len", 4]}, ["y"], known))

    assert imported.dimensions == {"batch size": "batch_size", "seq.len": "seq_len"}
    executor = Executor(backends=("numpy",))
    for shape in ((2, 3, 4), (1, 1, 4), (5, 2, 4)):
        (y,) = executor(imported.graph, np.ones(shape, np.float32))
        assert y.shape == (shape[0], 2, shape[1] * 2)
    assert executor.statistics.misses <= 3


def test_a_table_of_places_is_read_up_to_a_named_size() -> None:
    """As GPT-2 reads its masks and places; beyond the table is an error and no smaller result."""
    nodes = [
        node("Shape", ["x"], ["n"], start=1, end=2),
        node("Shape", ["past"], ["m"], start=0, end=1),
        node("Add", ["m", "n"], ["end"]),
        node("Slice", ["table", "m", "end"], ["rows"]),
        node("Add", ["x", "rows"], ["y"]),
    ]
    table = np.arange(40, dtype=np.float32).reshape(20, 2)
    source = model(nodes, {"x": [1, "n", 2], "past": ["past"]}, ["y"], {"table": table})
    imported = from_onnx(source)

    assert str(imported.graph.outputs[0].type) == "f32[1,n,2]"
    executor = Executor(backends=("numpy",))
    for n, m in ((3, 0), (1, 7), (5, 15)):
        feed = np.zeros((1, n, 2), np.float32), np.zeros(m, np.float32)
        (y,) = executor(imported.graph, *feed, *imported.weights.values())
        np.testing.assert_array_equal(y[0], table[m : m + n])
    feed = np.zeros((1, 5, 2), np.float32), np.zeros(16, np.float32)
    with pytest.raises(GraphError, match=r"index 20 at .* out of range for axis 0 of size 20"):
        executor(imported.graph, *feed, *imported.weights.values())


def test_expressions_of_dimensions_are_names_where_no_input_tells_their_names() -> None:
    inputs = {"a": ["past", "n"], "b": ["past + n", 1], "c": ["other + n"]}
    imported = from_onnx(model([node("Add", ["a", "b"], ["y"])], inputs, ["y"]))

    types = [str(v.type) for v in imported.graph.inputs]
    assert types == ["f32[past,n]", "f32[n+past,1]", "f32[n_n_other]"]


def test_what_has_no_rule_is_said_at_once() -> None:
    body = graph([node("Mystery", ["x"], ["z"], name="inner")], {}, ["z"])
    nodes = [
        node("Odd", ["x"], ["t"], name="first", domain="acme"),
        node("If", ["c"], ["y"], then_branch=body, else_branch=body),
    ]
    bad = model(nodes, {"x": [2], "c": (9, [])}, ["y"], domains={"acme": 1})

    with pytest.raises(UnsupportedOp, match="2 operators have no rule") as refusal:
        from_onnx(bad)

    assert "2 x Mystery, at 'inner', 'inner'" in str(refusal.value)
    assert "1 x acme:Odd, at 'first'; add a rule with @rules.on(\"acme:Odd\")" in str(refusal.value)


def test_a_rule_of_ones_own() -> None:
    mine = Rules(rules)

    @mine.on("acme:Snake")
    def snake(node: object, x: Value) -> Value:
        return x + ops.sin(x)

    source = model([node("Snake", ["x"], ["y"], domain="acme")], {"x": [2]}, ["y"],
                   domains={"acme": 1})  # fmt: skip
    (y,) = results(from_onnx(source, rules=mine), x=np.ones(2, np.float32))
    np.testing.assert_allclose(y, 1 + np.sin([1, 1]), rtol=1e-6)


def test_two_rules_of_one_operator_are_refused() -> None:
    mine = Rules()
    mine.on("Add")(lambda node, x, y: x)
    with pytest.raises(GraphError, match=r"Add already has a rule: .*; second: "):
        mine.on("Add")(lambda node, x, y: y)


def test_an_input_that_decides_a_shape_needs_an_example() -> None:
    source = model([node("Reshape", ["x", "s"], ["y"])], {"x": [2, 3, 4], "s": (INT64, [2])}, ["y"])
    with pytest.raises(Undetermined, match="'s' decides a shape and depends on input 's'"):
        from_onnx(source)

    imported = from_onnx(source, feed={"x": X, "s": np.array([6, 4])})

    assert imported.inputs == ("x",) and imported.values["s"].tolist() == [6, 4]
    assert "input 's' is built in: its elements decide shapes" in imported.explain()
    assert results(imported, x=X)[0].shape == (6, 4)


def test_values_are_taken_in_the_dtype_of_the_file() -> None:
    source = model([node("Mul", ["x", "k"], ["y"])], {"x": [2], "k": [1]}, ["y"])
    imported = from_onnx(source, values={"k": [3]})
    assert results(imported, x=np.ones(2, np.float32))[0].tolist() == [3, 3]
    with pytest.raises(GraphError, match="values: the model has no input 'z'; it has x, k"):
        from_onnx(source, values={"z": [3]})


def test_whether_a_size_is_1_is_never_guessed() -> None:
    """Branches of other ranks for a size of 1: without a number for the size it is refused."""
    squeezed = graph([node("Squeeze", ["x", "axis"], ["a"])], {}, ["a"])
    whole = graph([node("Identity", ["x"], ["b"])], {}, ["b"])
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Equal", ["n", "one"], ["is_one"]),
        node("If", ["is_one"], ["y"], then_branch=squeezed, else_branch=whole),
    ]
    known = {"zero": np.int64(0), "one": np.int64(1), "axis": np.array([0])}
    source = model(nodes, {"x": ["n", 3]}, ["y"], known)
    with pytest.raises(Undetermined, match="depends on size 'n'"):
        from_onnx(source)

    for n, rank in ((1, 1), (2, 2)):
        x = np.ones((n, 3), np.float32)
        imported = from_onnx(source, feed={"x": x})
        assert results(imported, x=x)[0].ndim == rank and imported.sizes == {"n": n}


def test_nodes_may_stand_in_any_order() -> None:
    nodes = [node("Relu", ["t"], ["y"]), node("Neg", ["x"], ["t"])]
    (y,) = run(model(nodes, {"x": [2, 3, 4]}, ["y"]), x=X - 5)
    np.testing.assert_array_equal(y, np.maximum(5 - X, 0))


def test_a_circle_is_refused() -> None:
    nodes = [node("Neg", ["y"], ["t"], name="a"), node("Neg", ["t"], ["y"], name="b")]
    with pytest.raises(FormatError, match="waits for itself"):
        from_onnx(model(nodes, {"x": [2]}, ["y"]))


def test_declared_shapes_are_not_believed() -> None:
    source = model([node("MatMul", ["x", "w"], ["y"])], {"x": ["n", 4]}, ["y"],
                   {"w": np.ones((4, 5), np.float32)})  # fmt: skip
    source.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [7, 7, 7]))
    assert run(source, x=X[0])[0].shape == (3, 5)


def test_versions_of_an_operator_are_one_rule() -> None:
    """Before opset 7, `axis` says where the second operand stands."""
    nodes = [node("Add", ["x", "b"], ["y"], broadcast=1, axis=1)]
    b = np.array([1, 2, 3], np.float32)
    (y,) = run(model(nodes, {"x": [2, 3, 4]}, ["y"], {"b": b}, version=6), x=X)
    np.testing.assert_array_equal(y, X + b[:, None])


def test_functions_of_a_model_are_written_out() -> None:
    twice = helper.make_function(
        "local", "Twice", ["a"], ["b"], [node("Mul", ["a", "two"], ["b"]),
         node("Constant", [], ["two"], value_float=2.0)],
        [helper.make_opsetid("", 18)])  # fmt: skip
    nodes = [node("Twice", ["x"], ["y"], domain="local")]
    source = model(nodes, {"x": [2, 3, 4]}, ["y"], domains={"local": 1}, functions=[twice])
    np.testing.assert_array_equal(run(source, x=X)[0], 2 * X)


def test_a_loop_with_a_count_that_is_fed() -> None:
    body = graph(
        [node("Identity", ["c"], ["c2"]), node("Add", ["v", "w"], ["v2"])],
        {"i": (INT64, []), "c": (9, []), "v": [2, 3, 4]},
        ["c2", "v2"],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], body=body)]
    source = model(nodes, {"n": (INT64, []), "x": [2, 3, 4]}, ["y"], {"w": np.ones_like(X)})
    for n in (0, 5):
        np.testing.assert_array_equal(run(source, n=np.int64(n), x=X)[0], X + n)


def test_branches_share_weights_with_the_graph_around_them() -> None:
    w = np.arange(20, dtype=np.float32)
    one = graph([node("Add", ["x", "w"], ["a"])], {}, ["a"])
    other = graph([node("Mul", ["x", "w"], ["b"])], {}, ["b"])
    nodes = [node("If", ["c"], ["y"], then_branch=one, else_branch=other)]
    imported = from_onnx(model(nodes, {"c": (9, []), "x": ["n"]}, ["y"], {"w": w}))

    assert list(imported.weights) == ["w"]
    np.testing.assert_array_equal(results(imported, c=np.array(False), x=w)[0], w * w)


def test_no_model_is_refused() -> None:
    with pytest.raises(FormatError, match="the bytes holds no ONNX model"):
        from_onnx(b"not a model")
    with pytest.raises(FormatError, match=r"there is no file '/nowhere\.onnx'"):
        from_onnx("/nowhere.onnx")


def test_random_numbers_need_a_seed_and_differ_from_node_to_node() -> None:
    nodes = [
        node("RandomNormalLike", ["x"], ["a"], mean=3.0, scale=0.5),
        node("RandomNormalLike", ["x"], ["b"]),
        node("RandomUniform", [], ["c"], shape=[1000], low=2.0, high=4.0),
    ]
    source = model(nodes, {"x": [1000]}, ["a", "b", "c"])
    with pytest.raises(UnsupportedOp, match=r"without from_onnx\(..., seed=0\)"):
        from_onnx(source)

    a, b, c = results(from_onnx(source, seed=5), x=np.zeros(1000, np.float32))

    assert abs(a.mean() - 3) < 0.1 and abs(a.std() - 0.5) < 0.05 and abs(b.mean()) < 0.1
    assert 2 <= c.min() < 2.1 < 3.9 < c.max() < 4 and abs(np.corrcoef(a, b)[0, 1]) < 0.1
