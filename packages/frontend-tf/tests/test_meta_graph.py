"""Graphs with their collections, savers and training come back from files: `.meta`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

RECORDED = Path(__file__).parents[2] / "tf-files/tests/recorded"
X = np.ones((1, 3))


@pytest.fixture(autouse=True)
def _graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(defaults, "backends", ("numpy",))
    with tf.Graph().as_default():
        yield


def model() -> tuple[Any, Any, Any]:
    """An input, what a layer makes of it, and a training step."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
    y = tf.identity(tf.matmul(x, w), name="y")
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(y), step)
    tf.add_to_collection("ends", y)
    tf.add_to_collection("train", train)
    tf.add_to_collection("numbers", 3)
    return x, y, train


def saved(folder: Path) -> str:
    """A checkpoint of the model after one step."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, _, train = model()
        tf.train.batch([tf.constant(1.0)], 2, name="batch")
        session.run(tf.global_variables_initializer())
        session.run(train, {x: X})
        path: str = tf.train.Saver(max_to_keep=2).save(session, str(folder / "model"), 1)
        return path


def test_training_goes_on_from_files_alone(tmp_path: Path) -> None:
    """The graph, its collections, its gradients and its saver."""
    path = saved(tmp_path)
    with tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        graph = tf.get_default_graph()
        (y,), (train,) = tf.get_collection("ends"), tf.get_collection("train")
        assert y is graph.get_tensor_by_name("y:0")
        assert [v.name for v in tf.trainable_variables()] == ["w:0"]
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        assert tf.get_collection("numbers") == [3]
        np.testing.assert_allclose(session.run(y, {"x:0": X}), [[2.7, 2.7]], rtol=1e-6)
        session.run(train, {"x:0": X})
        np.testing.assert_allclose(session.run(y, {"x:0": X}), [[2.4, 2.4]], rtol=1e-6)
        assert session.run(tf.train.get_global_step()) == 2
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert session.run("batch:0").tolist() == [1, 1]
        coord.request_stop()
        coord.join(threads)
        assert saver.saver_def.max_to_keep == 2
        saver.save(session, str(tmp_path / "again"))
        session.run("save/restore_all", {"save/Const:0": path})
        assert session.run("global_step:0") == 1


def test_names_may_be_put_into_a_scope(tmp_path: Path) -> None:
    """`import_scope`; two copies in one graph; part of a graph without its scope."""
    path = saved(tmp_path)
    with tf.Session() as session:
        for scope in ("a", "b"):
            tf.train.import_meta_graph(path + ".meta", import_scope=scope).restore(session, path)
        both = session.run(["a/y:0", "b/y:0"], {"a/x:0": X, "b/x:0": 2 * X})
        np.testing.assert_allclose(both, [[[2.7, 2.7]], [[5.4, 5.4]]], rtol=1e-6)
    part = tf.train.export_meta_graph(export_scope="b", collection_list=["variables"])
    names = [n.name for n in part.graph_def.node]
    assert "w" in names
    assert not any(n.startswith(("a/", "b/")) for n in names)


def test_messages_and_text(tmp_path: Path) -> None:
    """`export_meta_graph` into text; devices left out; what is no file."""
    with tf.device("/gpu:0"):
        tf.Variable(1.0, name="v")
    path = str(tmp_path / "graph.pbtxt")
    written = tf.train.Saver().export_meta_graph(path, as_text=True, clear_devices=True)
    assert written.saver_def.filename_tensor_name == "save/Const:0"
    assert not any(n.device for n in written.graph_def.node)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(path)
        session.run(tf.global_variables_initializer())
        assert session.run("v:0") == 1.0
        with pytest.raises(OSError, match=r"File .*none does not exist"):
            tf.train.import_meta_graph(str(tmp_path / "none"))
        (tmp_path / "bad").write_bytes(b"\xff\xff\xff")
        with pytest.raises(OSError, match=r"Cannot parse file .*bad"):
            tf.train.import_meta_graph(str(tmp_path / "bad"))


def test_tensorflows_own_files() -> None:
    """What TensorFlow wrote: a graph, and a saved model with its variables."""
    tf.train.import_meta_graph(str(RECORDED / "graph.meta"))
    assert tf.global_variables()
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], str(RECORDED / "saved_model"))
        values = session.run(tf.global_variables())
        assert message.signature_def
        assert all(np.isfinite(v).all() for v in values)
