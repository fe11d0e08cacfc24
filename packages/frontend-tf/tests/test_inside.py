"""Names of TensorFlow's inside, modes of TensorFlow, and what programs take of its tools."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_keras.rnn.inside import assert_like_rnncell, concat_sizes, linear


@pytest.mark.parametrize(
    ("inside", "public"),
    [
        ("python.ops.array_ops.concat", "concat"),
        ("python.ops.variable_scope.variable_scope", "variable_scope"),
        ("python.ops.gradients.gradients", "gradients"),
        ("python.ops.rnn.bidirectional_dynamic_rnn", "nn.bidirectional_dynamic_rnn"),
        ("python.training.training.AdamOptimizer", "train.AdamOptimizer"),
        ("python.ops.rnn_cell_impl.LSTMStateTuple", "nn.rnn_cell.LSTMStateTuple"),
        ("python.framework.ops.name_scope", "name_scope"),
        ("python.framework.errors_impl.OutOfRangeError", "errors.OutOfRangeError"),
        ("python.lib.io.file_io.FileIO", "python.lib.io.file_io.FileIO"),
        ("python.platform.tf_logging.info", "logging.info"),
        (
            "contrib.layers.python.layers.initializers.xavier_initializer",
            "glorot_uniform_initializer",
        ),
        (
            "contrib.seq2seq.python.ops.attention_wrapper.BahdanauAttention",
            "contrib.seq2seq.BahdanauAttention",
        ),
        ("contrib.slim.layers.conv2d", "contrib.slim.conv2d"),
        ("python.layers.convolutional.Deconvolution2D", "layers.Conv2DTranspose"),
        ("python.ops.gradient_checker.compute_gradient_error", "test.compute_gradient_error"),
        ("compat.v1.dimension_value", "compat.dimension_value"),
        ("distribute.Server", "train.Server"),
        ("python.ops.rnn.rnn_cell_impl.LSTMCell", "nn.rnn_cell.LSTMCell"),
        (
            "contrib.slim.initializers.variance_scaling_initializer",
            "contrib.layers.variance_scaling_initializer",
        ),
        ("compat.v1.python.ops.math_ops.matmul", "matmul"),
    ],
)
def test_a_name_inside_is_what_is_public_elsewhere(inside: str, public: str) -> None:
    module, _, name = inside.rpartition(".")
    made = getattr(import_module(f"byparts_frontend_tf.{module}"), name)
    expected: Any = tf
    for part in public.split("."):
        expected = getattr(expected, part)

    assert made is expected or made.__name__ == "xavier_initializer"


@pytest.mark.parametrize(
    "name", ["python.ops.math_ops.mattmul", "contrib.rnn.python.ops.nothing.No"]
)
def test_what_is_not_inside_is_an_attribute_error(name: str) -> None:
    module, _, last = name.rpartition(".")

    with pytest.raises(AttributeError, match="is not here; the nearest"):
        getattr(import_module(f"byparts_frontend_tf.{module}"), last)


def test_there_are_graphs_and_no_eager_mode() -> None:
    tf.disable_v2_behavior()
    tf.disable_eager_execution()

    assert not tf.executing_eagerly()
    with pytest.raises(NotImplementedError, match=r"run it in a tf\.Session"):
        tf.enable_eager_execution()
    with pytest.raises(tf.errors.NotFoundError, match=r"^x\.so: operations compiled"):
        tf.load_op_library("x.so")
    with tf.Graph().as_default(), tf.op_scope([], None, "scope") as scope:
        assert (scope, tf.constant(1).name) == ("scope/", "scope/Const:0")


def test_linear_is_a_product_with_variables_of_its_scope() -> None:
    x, y = np.ones([2, 3], "float32"), np.full([2, 1], 2.0, "float32")
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("cell", initializer=tf.ones_initializer()):
            made = linear([x, y], 4, True, tf.constant_initializer(0.5))
        session.run(tf.global_variables_initializer())

        assert [v.name for v in tf.global_variables()] == ["cell/kernel:0", "cell/bias:0"]
        assert (session.run(made) == 5.5).all()
        with pytest.raises(ValueError, match="2D arguments"):
            linear(np.ones(3, "float32"), 4)


def test_cells_and_sizes_are_checked_as_inside() -> None:
    assert_like_rnncell("cell", tf.nn.rnn_cell.GRUCell(2))
    with pytest.raises(TypeError, match="'output_size' property is missing"):
        assert_like_rnncell("cell", 3)
    assert concat_sizes(5, tf.TensorShape([2, 3]), static=True) == [5, 2, 3]


def test_a_benchmark_reports_the_median_of_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.test.Benchmark().run_op_benchmark(
            session, tf.constant(1.0), burn_iters=1, min_iters=3, name="one"
        )

    assert (found["iters"], found["name"]) == (3, "one")
    assert capsys.readouterr().out.startswith("one: iters: 3, wall_time: ")


def test_a_graph_and_its_checkpoint_become_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with `tensorflow.python.tools.freeze_graph`; `inspect_checkpoint` prints what it holds."""
    tools = import_module("byparts_frontend_tf.python.tools")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        w = tf.Variable([[2.0], [3.0]], name="w")
        tf.matmul(tf.placeholder(tf.float32, [None, 2], name="x"), w, name="y")
        session.run(w.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
        written = tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
    out = str(tmp_path / "frozen.pb")
    tools.freeze_graph.freeze_graph(written, "", False, path, "y", "", "", out, True, "")
    tools.inspect_checkpoint.print_tensors_in_checkpoint_file(path, None, False)
    message = tf.GraphDef.FromString(Path(out).read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(message, name="", return_elements=["y:0"])

        assert session.run(y, {"x:0": [[1.0, 1.0]]}).tolist() == [[5.0]]
    assert capsys.readouterr().out == "w (float32) [2, 1]\n"


def test_modules_that_libraries_of_distributions_take() -> None:
    """Shapes, arguments of convolutions, functions and what a session runs in place of an object."""
    shapes = import_module("byparts_frontend_tf.python.framework.tensor_shape")
    utils = import_module("byparts_frontend_tf.python.layers.utils")
    inspect = import_module("byparts_frontend_tf.python.util.tf_inspect")
    rnn: dict[str, Any] = {}
    exec("from byparts_frontend_tf.python.ops.rnn_cell import *", rnn)  # as programs do

    assert (shapes.scalar(), shapes.vector(2)) == (tf.TensorShape([]), tf.TensorShape([2]))
    assert shapes.unknown_shape(2).as_list() == [None, None]
    assert tf.compat.dimension_value(tf.Dimension(3)) == 3 == tf.compat.dimension_value(3)
    assert utils.conv_output_length(9, 3, "valid", 2) == 4 == len(utils.normalize_tuple(1, 4, "k"))
    assert utils.convert_data_format("channels_first", 4) == "NCHW"
    assert inspect.getfullargspec(tf.log) == inspect.getfullargspec(lambda x, name=None: None)
    assert rnn["LSTMCell"] is tf.nn.rnn_cell.LSTMCell
    assert {"__add__", "__lt__", "__getitem__"} < tf.Tensor.OVERLOADABLE_OPERATORS


class _Drawn:
    """An object that a session runs as two fetches."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def test_a_class_says_what_a_session_runs_for_its_objects() -> None:
    session_module = import_module("byparts_frontend_tf.python.client.session")
    register = session_module.register_session_run_conversion_functions
    register(_Drawn, lambda drawn: ([drawn.tensor, drawn.tensor * 2], sum))
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run({"a": [_Drawn(tf.constant(3))]}) == {"a": [9]}
    with pytest.raises(ValueError, match="already been registered"):
        register(_Drawn, lambda drawn: None)


def test_what_goes_one_of_two_ways_is_merged() -> None:
    """As programs that prepare images choose one of several functions; gradients pass."""
    flow = import_module("byparts_frontend_tf.python.ops.control_flow_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        which, x = tf.placeholder(tf.int32, []), tf.constant([1.0, 2.0])
        ways = [flow.switch(x, tf.equal(which, i))[1] * 10.0**i for i in range(3)]
        y, index = flow.merge(ways)
        slope = tf.gradients(y, x)[0]

        for i in range(3):
            found = session.run([y, index, slope], {which: i})
            assert [f.tolist() for f in found] == [[10.0**i, 2 * 10.0**i], i, [10.0**i] * 2]


def test_a_function_of_devices_sees_the_operation() -> None:
    def choose(op: tf.Operation) -> str | None:
        return "/job:ps" if op.node_def.op.startswith("Variable") else None

    with tf.Graph().as_default(), tf.device(choose), tf.control_dependencies([tf.no_op()]):
        assert tf.Variable(1.0).device == "/job:ps"
