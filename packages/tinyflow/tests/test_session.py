"""Fetches in any structure, feeds by value, programs kept, errors that help."""

from __future__ import annotations

import shutil
from collections import namedtuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import byparts_tinyflow as tf
from byparts_graph_ir import GraphError, ShapeError
from byparts_graph_ir.parts.hub import parts

Pair = namedtuple("Pair", "left right")


def test_fetches_keep_their_structure() -> None:
    """Lists, tuples, named tuples, dicts, nested; the same value twice; nothing at all."""
    x = tf.placeholder(tf.float32)
    fetch = {"a": [x + 1, (x + 2,)], "b": Pair(x + 3, tf.group()), "c": (), "d": [x, x]}
    got = tf.Session().run(fetch, {x: np.float32(1)})

    assert got == {"a": [2, (3,)], "b": Pair(4, None), "c": (), "d": [1, 1]}
    assert isinstance(got["b"], Pair)


def test_t8_an_intermediate_fetched_beside_its_result() -> None:
    """T8: TinyFlow's fusion gave exp(a) for both."""
    x = tf.placeholder(tf.float32)
    a = x * 2
    got = tf.Session().run([a, tf.exp(a)], {x: np.ones(3)})

    assert_allclose(got[0], [2, 2, 2])
    assert_allclose(got[1], np.exp([2, 2, 2]), rtol=1e-6)


def test_any_value_can_be_fed() -> None:
    """Feeding an intermediate or a variable replaces it; TinyFlow ignored it."""
    x = tf.placeholder(tf.float32)
    w = tf.Variable(tf.ones([]))
    y = x * 2
    z = y + w

    assert tf.Session().run(z, {y: 5.0, w: 1.0}) == 6
    assert tf.Session().run([y, z], {y: 5.0, w: 1.0}) == [5, 6]


def test_results_are_the_callers_own() -> None:
    """Writing into a result changes nothing else."""
    w = tf.Variable(tf.ones([2]))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    session.run(w)[:] = 7

    assert_array_equal(session.run(w), [1, 1])


def test_t7_alternating_fetches_hit_the_cache() -> None:
    """T7: TinyFlow kept one program; here each fetch list and batch size is built once."""
    x = tf.placeholder(tf.float32)
    y, z = tf.reduce_sum(x), tf.exp(x)
    session = tf.Session()
    for size in (2, 3, 2, 3):
        session.run(y, {x: np.ones(size)})
        session.run([z, y], {x: np.ones(size)})

    assert session.executor.statistics.misses == 4


def test_missing_feeds_are_named() -> None:
    """TinyFlow aborted the process."""
    x = tf.placeholder(tf.float32, [None, 3], name="images")
    with pytest.raises(
        GraphError,
        match=r"feed a value for placeholder tensor 'images' .*\n.* created at .*test_session.py:\d+",
    ):
        tf.Session().run(x * 2)


def test_bad_feeds_and_fetches_say_what_they_are() -> None:
    """Wrong key, wrong shape, wrong fetch, ragged list."""
    x = tf.placeholder(tf.float32, [None, 3], name="images")
    session = tf.Session()
    with pytest.raises(GraphError, match=r"Cannot interpret feed_dict key as Tensor: .*'images'"):
        session.run(x * 2, {"images": np.ones((1, 3))})
    with pytest.raises(ShapeError, match=r"shape \(1, 4\) for Tensor 'images:0'"):
        session.run(x * 2, {x: np.ones((1, 4))})
    with pytest.raises(GraphError, match="Fetch argument 3 "):
        session.run(3)
    with pytest.raises(ShapeError, match=r"a list for Tensor 'images:0': .*inhomogeneous"):
        session.run(x * 2, {x: [[1.0, 2.0, 3.0], [1.0]]})
    with pytest.raises(
        ShapeError, match=r"a str for Tensor 'images:0': could not convert string to float"
    ):
        session.run(x * 2, {x: "abc"})
    with pytest.raises(ShapeError, match=r"shape \(\) for Tensor 'images:0'"):
        session.run(x * 2, {x: None})


def test_a_gpu_that_is_not_there_warns() -> None:
    """config='gpu' and 'gpu fusion' run on the CPU, and say so."""
    x = tf.placeholder(tf.float32)
    for config in ("gpu", "gpu fusion"):
        with pytest.warns(UserWarning, match=f"config='{config}': .*; running on the CPU"):
            session = tf.Session(config=config)
        assert session.run(x + 1, {x: 1.0}) == 2


@pytest.mark.parametrize("config", ["gpu", "gpu fusion"])
def test_a_gpu_trains_as_the_cpu_does(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one that is not there: the same kernels, run by the CPU."""
    pytest.importorskip("byparts_kernels_cuda", reason="needs byparts-kernels-cuda")
    pytest.importorskip("byparts_optimize", reason="needs byparts-optimize")
    if not any(map(shutil.which, ("g++", "clang++", "c++"))):
        pytest.skip("no C++ compiler on the path")
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    monkeypatch.setattr(parts, "_backends", {})  # it is started anew, and forgotten after this test
    x, y = (tf.placeholder(tf.float32, shape) for shape in ((None, 3), (None, 1)))
    w = tf.Variable(tf.zeros([3, 1]))
    error = tf.tanh(tf.matmul(x, w)) - y
    loss = tf.reduce_mean(error * error)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    feeds = {x: np.eye(3, dtype="f4"), y: np.ones((3, 1), "f4") / 2}

    begin = tf.initialize_all_variables()

    def trained(session: tf.Session) -> list[float]:
        session.run(begin)
        return [float(session.run([loss, train], feeds)[0]) for _ in range(3)]

    on_gpu = tf.Session(config=config)
    assert_allclose(trained(on_gpu), trained(tf.Session()), rtol=1e-5)
    stored = on_gpu.variables.get(w.op)
    assert stored is not None and stored.space.name == "cuda:0"


def test_closed_sessions_say_so() -> None:
    """Also at the end of a with block."""
    with tf.Session() as session:
        pass
    with pytest.raises(GraphError, match="closed Session"):
        session.run([])


def test_an_error_while_running_names_the_line() -> None:
    """What a kernel refuses is told with op and place."""
    label = tf.placeholder(tf.float32)
    loss = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(tf.zeros([2, 3]), label)
    with pytest.raises(GraphError, match="3") as caught:
        tf.Session().run(loss, {label: np.array([0.0, 3.0])})
    assert "test_session.py" in str(getattr(caught.value, "__notes__", caught.value.args))


def test_symbols_print_what_they_are() -> None:
    """Name, shape and type are in the representation."""
    y = tf.zeros([2]) + 1

    assert repr(y) == "<tf.Tensor 'add:0' shape=(2,) dtype=float32>" and isinstance(y, tf.Symbol)
    assert isinstance(tf.Variable(y), tf.SymbolBase)


# fmt: off
# What `tf.` showed there, without AttrScope and the module of symbols.
TINYFLOW_NAMES = [
    "Group", "Session", "Symbol", "SymbolBase", "Variable", "argmax", "assign", "avg_pool",
    "batch_normalization", "conv2d", "div", "equal", "exp", "flatten_layer", "float32",
    "gradients", "group", "infer_variable_shapes", "initialize_all_variables", "linear", "log",
    "matmul", "max_pool", "mean_sparse_softmax_cross_entropy_with_logits", "mul", "nn", "normal",
    "ones", "ones_like", "pad", "placeholder", "pow", "reduce_mean", "reduce_sum", "relu",
    "softmax", "sqrt", "tanh", "train", "zeros", "zeros_like",
]
# fmt: on


def test_every_name_of_tinyflow_is_there_or_says_why_not() -> None:
    """Two are gone on purpose."""
    assert [name for name in TINYFLOW_NAMES if not hasattr(tf, name)] == []
    assert set(TINYFLOW_NAMES) - {"nn", "train"} <= set(tf.__all__)
    with pytest.raises(
        AttributeError, match=r"'AttrScope': string attributes of symbols are not kept"
    ):
        tf.AttrScope  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'float64'$"):
        tf.float64  # noqa: B018


def test_a_group_of_symbols_is_fetched_together() -> None:
    """`Group([a, b])` was one symbol of two outputs; a list is that."""
    x = tf.placeholder(tf.float32)

    assert tf.Session().run(tf.Group([x + 1, x + 2]), {x: 1.0}) == [2, 3]
