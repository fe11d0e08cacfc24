"""Operations found by what they need and feed; copied, rerouted, made to wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

ge = tf.contrib.graph_editor


def names(ops: Any) -> list[str]:
    return [op.name for op in ops]


def build() -> dict[str, Any]:
    x = tf.constant(2.0, name="x")
    a = tf.multiply(x, 3.0, name="a")
    b = tf.add(a, 1.0, name="b")
    return {"x": x, "a": a, "b": b, "c": tf.square(b, name="c")}


def test_walks_go_to_what_is_needed_and_to_what_needs() -> None:
    with tf.Graph().as_default() as graph:
        t = build()

        assert set(names(ge.get_backward_walk_ops(t["b"].op))) == {"b", "b/y", "a", "a/y", "x"}
        stopped = ge.get_backward_walk_ops(t["c"].op, inclusive=False, stop_at_ts=[t["a"]])
        assert set(names(stopped)) == {"b", "b/y"}
        assert names(ge.get_forward_walk_ops(t["a"].op, within_ops=[t["b"].op])) == ["a", "b"]
        between = ge.get_walks_intersection_ops(t["a"].op, t["b"].op)
        assert names(between) == ["a", "b"]
        assert names(ge.select_ops("^[ab]$", graph=graph)) == ["a", "b"]
        assert [v.name for v in ge.filter_ts_from_regex([t["b"].op], "^a")] == ["a:0"]


def test_copies_take_other_tensors() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        t = build()
        part = ge.sgv([t["b"].op, t["c"].op])
        view, info = ge.copy_with_input_replacements(part, {t["a"]: tf.constant(10.0)})
        copy = info.transformed(t["c"])
        replaced = ge.graph_replace(t["c"], {t["x"]: tf.constant(0.0)})
        found = session.run([t["c"], copy, replaced])

    assert found == [49.0, 121.0, 1.0] and names(view.ops) == ["b_1", "c_1"]
    assert info.original(copy.op) is t["c"].op and part.inputs[0] is t["a"]


def test_tensors_are_put_in_the_place_of_others() -> None:
    """Also after a run; gradients go the new way."""
    with tf.Graph().as_default(), tf.Session() as session:
        t = build()
        other = tf.constant(5.0)
        moved = tf.negative(t["a"])
        before = session.run([t["c"], moved])
        late = tf.identity(t["a"])
        new = {t["a"]: other}  # views of dicts are taken, too
        count = ge.reroute_ts(
            new.values(), new.keys(), can_modify={1: late.op, 2: moved.op}.values()
        )
        slope = tf.gradients(moved, [other, t["x"]])
        after = session.run([t["c"], moved, late])

        assert before == [49.0, -6.0] and after == [49.0, -5.0, 5.0] and count == 2
        assert slope[1] is None and session.run(slope[0]) == -1.0


def test_operations_wait_for_others() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.Variable(1.0)
        first = tf.assign(v, 2.0)
        read = tf.identity(v.read_value())
        ge.add_control_inputs(v.initializer, [])
        ge.add_control_inputs(read.op.inputs[0].op, [first.op])
        session.run(tf.global_variables_initializer())

        assert session.run(read) == 2.0
        assert ge.ControlOutputs(graph).get(first.op) == [read.op.inputs[0].op]
        ge.remove_control_inputs(read.op.inputs[0].op, first.op)
        with pytest.raises(ValueError, match=r"is not a control_input"):
            ge.remove_control_inputs(read.op, first.op)


def test_gradients_from_copies_save_memory_and_are_the_same() -> None:
    """As "memory-saving gradients" does it: what is between checkpoints is computed again."""
    x = np.arange(3, dtype=np.float32)
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        v = tf.Variable(x)
        kept = tf.tanh(v, name="kept")
        loss = tf.reduce_sum(tf.sin(tf.square(kept)))
        apart = tf.stop_gradient(kept)
        part = ge.get_backward_walk_ops(loss.op, stop_at_ts=[kept])
        copied, info = ge.copy_with_input_replacements(ge.sgv(part), {})
        ge.reroute_ts([apart], [kept], can_modify=copied.ops)
        inner = tf.gradients(info.transformed(loss), apart)
        outer = tf.gradients(kept, v, grad_ys=inner)
        session.run(tf.global_variables_initializer())
        found, wanted = session.run([outer[0], tf.gradients(loss, v)[0]])

    np.testing.assert_allclose(found, wanted, rtol=1e-6)
