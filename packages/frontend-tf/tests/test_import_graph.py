"""`tf.import_graph_def`: frozen graphs of TensorFlow, and our own graphs there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

FROZEN = Path(__file__).parent / "recorded" / "frozen"


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def frozen(name: str) -> Any:
    """A graph that TensorFlow froze."""
    graph_def = tf.GraphDef()
    graph_def.ParseFromString((FROZEN / f"{name}.pb").read_bytes())
    return graph_def


@pytest.mark.parametrize("name", ["images", "sequences", "arrays"])
def test_a_frozen_graph_computes_what_tensorflow_computed(name: str) -> None:
    recorded = np.load(FROZEN / f"{name}.npz")
    feeds = {k[5:]: recorded[k] for k in recorded.files if k.startswith("feed ")}
    fetches = [k for k in recorded.files if not k.startswith("feed ")]
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = tf.import_graph_def(frozen(name), name="", return_elements=fetches)

        results = session.run(outputs, feeds)

    for fetch, result in zip(fetches, results, strict=True):
        np.testing.assert_allclose(result, recorded[fetch], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("optimizer", ["descent", "momentum", "adam"])
def test_a_graph_that_tensorflow_trained_trains_on(optimizer: str) -> None:
    """Its gradients and updates are operations: the losses of four steps are TensorFlow's."""
    recorded = np.load(FROZEN / "training.npz")
    feeds = {k[5:]: recorded[k] for k in recorded.files if k.startswith("feed ")}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen("training"), name="")
        session.run("init")
        losses = [session.run(["loss:0", optimizer], feeds)[0] for _ in range(4)]

    np.testing.assert_allclose(losses, recorded[optimizer], rtol=2e-5)


def sent(graph: Any) -> Any:
    """The message of a graph, through bytes."""
    return tf.GraphDef.FromString(graph.as_graph_def().SerializeToString())


def test_our_own_graph_there_and_back_trains_as_before() -> None:
    """Variables, a branch, a loop, gradients and an optimizer, by their names."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [-2.0]], name="w")
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, w), lambda: -tf.matmul(x, w))
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 1.5), (0, y))[1]
        loss = tf.reduce_mean(y**2, name="loss")
        tf.train.MomentumOptimizer(0.001, 0.5).minimize(loss, name="train")
        tf.global_variables_initializer()
    feed = {"x:0": np.ones([2, 2], "float32")}
    losses = []
    for message in (None, sent(graph)):
        with tf.Graph().as_default() as here, tf.Session(graph=here if message else graph) as s:
            if message:
                tf.import_graph_def(message, name="")
            s.run("init")
            losses.append([s.run(["loss:0", "train"], feed)[0] for _ in range(3)])

    assert losses[0] == losses[1]
    assert losses[0][0] > losses[0][2]


def test_what_waits_inside_a_branch_waits_there_again() -> None:
    """A counter is read after it was written, on the side that is taken."""
    with tf.Graph().as_default() as graph:
        count = tf.Variable(0, name="count")

        def counted() -> Any:
            with tf.control_dependencies([tf.assign_add(count, 5)]):
                return tf.identity(count.read_value())

        tf.identity(tf.cond(tf.placeholder(tf.bool, [], name="p"), counted, lambda: count), "y")
        tf.global_variables_initializer()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(sent(graph), name="")
        session.run("init")

        assert [session.run("y:0", {"p:0": p}) for p in (True, False, True)] == [5, 5, 10]


def test_names_mapped_inputs_and_returned_elements() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.control_dependencies([tf.no_op(name="first")]):
            tf.reduce_sum(x, 1, name="y")
    with tf.Graph().as_default() as other:
        ones = tf.ones([3, 2])
        y, first = tf.import_graph_def(sent(graph), {"x:0": ones}, ["y:0", "first"])
        again = tf.import_graph_def(sent(graph), {"x": ones}, ["y"])[0]
        with tf.Session() as session:
            result = session.run(y)

    assert (y.name, first.name, again.name) == ("import/y:0", "import/first", "import_1/y")
    assert y.op.control_inputs == [first]
    assert y.get_shape().as_list() == [3]
    assert result.tolist() == [2.0, 2.0, 2.0]
    assert "import/x" in [op.name for op in other.get_operations()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input_map": {"z:0": 1.0}}, "not found in graph_def: .z:0"),
        ({"return_elements": ["z"]}, "Requested return_element 'z' not found"),
        ({"graph_def": tf.GraphDef(node=[{"name": "a", "op": "Neg", "input": ["b"]}])}, "'b'"),
        (
            {
                "graph_def": tf.GraphDef(
                    node=[
                        {"name": "a", "op": "Neg", "input": ["b"]},
                        {"name": "b", "op": "Neg", "input": ["a"]},
                    ]
                )
            },
            "need each other",
        ),
        (
            {"graph_def": tf.GraphDef(node=[{"name": "bad", "op": "Reshape"}])},
            r"node 'bad' \(Reshape\)",
        ),
        (
            {
                "graph_def": tf.GraphDef(
                    node=[{"name": "bad", "op": "Neg", "attr": {"_byparts": {"s": b"{}"}}}]
                )
            },
            r"node 'bad' \(Neg\): attribute _byparts is damaged",
        ),
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(
    arguments: dict[str, Any], message: str
) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="x")
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.import_graph_def(**{"graph_def": sent(graph), **arguments})


def test_an_operation_of_no_kind_that_is_here_is_refused_when_it_runs() -> None:
    message = tf.GraphDef(
        node=[
            {"name": "x", "op": "Frobnicate", "attr": {"T": {"type": 1}}},
            {"name": "y", "op": "Neg", "input": ["x"]},
        ]
    )
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.import_graph_def(message, name="", return_elements=["x:0", "y:0"])

        assert session.run(y, {x: 2.0}) == -2.0
        with pytest.raises(tf.errors.UnimplementedError, match="Frobnicate 'x'"):
            session.run(y)


def test_a_python_function_is_in_no_file() -> None:
    with tf.Graph().as_default() as graph:
        tf.py_func(np.sin, [tf.constant(1.0)], tf.float32, name="f")
    with tf.Graph().as_default(), tf.Session() as session:
        (f,) = tf.import_graph_def(sent(graph), return_elements=["f:0"])

        with pytest.raises(tf.errors.UnimplementedError, match="Python function"):
            session.run(f)


def test_variables_become_constants_and_training_goes() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [-2.0]], name="w")
        checked = tf.check_numerics(tf.matmul(x, w), "bad", name="checked")
        with tf.control_dependencies([checked]):
            tf.nn.relu(tf.identity(tf.matmul(x, w)) + 0.5, name="y")
        session.run(tf.global_variables_initializer())
        session.run(w.assign_add([[1.0], [1.0]]))
        frozen = tf.graph_util.convert_variables_to_constants(session, sent(graph), ["y"])
        pruned = tf.graph_util.remove_training_nodes(frozen, ["y"])
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(pruned, name="", return_elements=["y:0"])
        result = session.run(y, {"x:0": [[1.0, 1.0], [0.0, 3.0]]})

    assert {n.name: n.op for n in frozen.node}["w"] == "Const"
    assert not {"CheckNumerics", "Identity", "VariableV2"} & {n.op for n in pruned.node}
    assert result.tolist() == [[1.5], [0.0]]


def test_a_part_of_a_graph_is_what_its_outputs_need() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0], name="x")
        tf.negative(x, name="y")
        tf.exp(x, name="z")
    part = tf.graph_util.extract_sub_graph(sent(graph), ["y"])

    assert [n.name for n in part.node] == ["x", "y"]
    with pytest.raises(AssertionError, match="q is not in graph"):
        tf.graph_util.extract_sub_graph(part, ["q"])


def test_a_variable_of_an_imported_graph_is_one_again() -> None:
    """Its message has the names of its operations."""
    with tf.Graph().as_default() as graph:
        made = tf.Variable([1.0, 2.0], name="w", trainable=False)
        tf.add(made, 1.0, name="y")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(sent(graph), name="a")
        w = tf.Variable.from_proto(made.to_proto(), "a")
        session.run(w.initializer)
        session.run(w.assign_add([1.0, 1.0]))

        assert session.run("a/y:0").tolist() == [3.0, 4.0]
        assert (w.name, w.trainable, w.to_proto("a")) == ("a/w:0", False, made.to_proto())


def test_attributes_of_operations_are_tensorflows() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
        c = tf.constant([[1.0, 2.0]])
        y = tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), [1, 2, 2, 1], "SAME")
        total = tf.reduce_sum(y, 1, keepdims=True)

    assert (y.op.get_attr("strides"), y.op.get_attr("padding")) == ([1, 2, 2, 1], b"SAME")
    assert (x.op.get_attr("dtype"), total.op.get_attr("keep_dims")) == (tf.float32, True)
    assert tf.make_ndarray(c.op.get_attr("value")).tolist() == [[1.0, 2.0]]
    assert [d.size for d in x.op.get_attr("shape").dim] == [-1, 4, 4, 1]
    with pytest.raises(ValueError, match="no attr named 'nothing'"):
        y.op.get_attr("nothing")
