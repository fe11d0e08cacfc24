"""What a session would run, as a graph: of TensorFlow's programs and of TinyFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.pure import pure_graph
from byparts_graph_ir import GraphError, parse
from byparts_opset.evaluate import evaluate


def test_a_step_is_a_function_of_feeds_and_variables() -> None:
    """The graph computes what the session does, from the values that these have."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    loss = tf.reduce_sum(tf.matmul(x, w) ** 2.0)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    given = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    with tf.Session(backends=("numpy",)) as session:
        step = pure_graph(session, [loss, train], {x: [None, 2]})
        session.run(w.initializer)
        now = session.run(loss, {x: given})
        old = session.run(w)
        session.run(train, {x: given})
        new = session.run(w)
    types = [v.type for v in step.graph.inputs]

    assert step.fed == (x,) and step.variables == step.updates == (w.op,)
    assert str(types[0]) == "f32[?,2]" and parse(str(step.graph)) == step.graph
    results = evaluate(step.graph, given, old)
    np.testing.assert_allclose(results[0], now)
    np.testing.assert_allclose(results[1], new)


def test_draws_read_the_counter_of_the_session() -> None:
    """And the graph advances it."""
    with tf.Session(backends=("numpy",)) as session:
        step = pure_graph(session, tf.random_normal([3], seed=1), {})

    (drawing,) = step.variables

    assert step.variables == step.updates and drawing.type == "RandomStandardNormal"
    assert [str(v.type) for v in step.graph.outputs] == ["f32[3]", "i64[]"]


def test_what_is_no_single_program_is_refused() -> None:
    """The host's part, a shape that a run decides, a placeholder that is not fed."""
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.Session(backends=("numpy",)) as session:
        with pytest.raises(GraphError, match=r"pure_graph: 'Where' .*test_pure_graph.py:\d+"):
            pure_graph(session, tf.where(x > 0.0, name="Where"), {x: [4]})
        with pytest.raises(GraphError, match=r"'made' .* a shape that only a run can tell"):
            pure_graph(session, tf.zeros([n], name="made"), {n: []})
        with pytest.raises(tf.errors.InvalidArgumentError, match="feed a value for placeholder"):
            pure_graph(session, x + 1.0, {})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            pure_graph(session, x + 1.0, {"y:0": [4]})
