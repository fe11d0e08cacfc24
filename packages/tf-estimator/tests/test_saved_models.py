"""Graphs with their collections and variables in files: `.meta`, saved models, predictors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

X = np.array([[1.0, 2.0]], np.float32)


@pytest.fixture(autouse=True)
def _on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    from byparts_frontend_tf.running import session

    monkeypatch.setitem(session.defaults, "backends", ("numpy",))


def build() -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.layers.dense(x, 3, activation=tf.nn.relu, name="d")
    y = tf.identity(y, name="y")
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y), name="train")
    tf.add_to_collection("inputs", x)
    tf.add_to_collection("words", "a word")
    return x, y, step


def saved(folder: Path, var_list: Any = None) -> tuple[str, Any]:
    """The path of a checkpoint, and the output for X after a step of training."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, step = build()
        unused = tf.get_variable("unused", [2])
        session.run(tf.global_variables_initializer())
        session.run(step, {x: X})
        variables = None if var_list is None else [v for v in tf.global_variables() if v != unused]
        path = tf.train.Saver(variables).save(session, str(folder / "model"), global_step=7)
        return path, session.run(y, {x: X})


@pytest.mark.parametrize("scope", [None, "again"])
def test_a_graph_is_made_of_its_file(tmp_path: Path, scope: Any) -> None:
    """Its variables, collections and training are there, and the saver restores."""
    path, wanted = saved(tmp_path)
    start = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{path}.meta", import_scope=scope)
        saver.restore(session, path)
        x, y = (graph.get_tensor_by_name(f"{start}{n}:0") for n in ("x", "y"))
        found = session.run(y, {x: X})
        session.run(f"{start}train", {x: X})

        assert found.tolist() == wanted.tolist()
        assert session.run(y, {x: X}).sum() < wanted.sum() or wanted.sum() == 0
        assert tf.get_collection("inputs") == [x] and tf.get_collection("words") == [b"a word"]
        names = [v.name for v in tf.trainable_variables()]
        assert names == [f"{start}{n}:0" for n in ("d/kernel", "d/bias", "unused")]


def test_a_graph_that_tensorflow_wrote_goes_on_training() -> None:
    """It predicts what it predicted there, and its next step is the one it took there."""
    path = str(Path(__file__).parent / "recorded" / "trained_model" / "model-3")
    x = np.arange(8).reshape(2, 4) / 8
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{path}.meta").restore(session, path)
        (y,) = tf.get_collection("y")
        before = session.run(y, {"x:0": x})
        session.run("train", {"x:0": x, "t:0": [0, 1]})
        after = session.run(y, {"x:0": x})

    wanted = [[0.4019755, 0.42689097, 0.17113356], [0.63367206, 0.34288305, 0.02344484]]
    then = [[0.3477948, 0.50750482, 0.14470041], [0.46773463, 0.51538581, 0.01687957]]
    np.testing.assert_allclose(before, wanted, rtol=1e-5)
    np.testing.assert_allclose(after, then, rtol=1e-5)


def test_a_saver_of_some_variables_stays_one(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, var_list="some")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{path}.meta").restore(session, path)

        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"unused"]


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.meta").write_bytes(b"\xff\xff")
    with pytest.raises(OSError, match=r"Cannot parse file"):
        tf.train.import_meta_graph(str(tmp_path / "x.meta"))
    with pytest.raises(OSError, match=r"does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none.meta"))


def test_a_saved_model_is_loaded_and_asked(tmp_path: Path) -> None:
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, _ = build()
        session.run(tf.global_variables_initializer())
        wanted = session.run(y, {x: X})
        tf.saved_model.simple_save(session, folder, {"in": x}, {"out": y})
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        signature = found.signature_def["serving_default"]
        names = signature.inputs["in"].name, signature.outputs["out"].name
        loaded = session.run(names[1], {names[0]: X})
    ask = tf.contrib.predictor.from_saved_model(folder)

    assert loaded.tolist() == wanted.tolist() and names == ("x:0", "y:0")
    assert ask({"in": X})["out"].tolist() == wanted.tolist()
    with pytest.raises(ValueError, match=r"unexpected keys"):
        ask({"other": X})


def test_tables_and_assets_are_ready_when_a_model_is_loaded(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        asset = tf.constant(str(words), name="asset")
        size = tf.get_variable("size", [], initializer=tf.constant_initializer(2.0))
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=[asset], main_op=tf.assign(size, 5.0).op
        )
        builder.save()
    words.unlink()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], folder)

        assert session.run("size:0") == 5.0
    assert (tmp_path / "model/assets/words.txt").read_text() == "a\nb\n"
    with pytest.raises(AssertionError, match=r"isn't empty"):
        tf.saved_model.builder.SavedModelBuilder(folder)
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        pytest.raises(RuntimeError, match="tags"),
    ):
        tf.saved_model.loader.load(session, ["train"], folder)


def test_an_estimator_is_exported(tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("x", shape=[2])]
    model = tf.estimator.LinearClassifier(columns, str(tmp_path / "m"), n_classes=3)
    labels = np.array([2])
    fed = tf.estimator.inputs.numpy_input_fn({"x": X}, labels, num_epochs=None, shuffle=False)
    model.train(fed, steps=3)
    once = tf.estimator.inputs.numpy_input_fn({"x": X}, shuffle=False)
    wanted = next(model.predict(once))["probabilities"]
    receive = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}
    )
    folder = model.export_savedmodel(str(tmp_path / "exported"), receive)
    ask = tf.contrib.predictor.from_saved_model(folder.decode(), "predict")

    np.testing.assert_allclose(ask({"x": X})["probabilities"][0], wanted, rtol=1e-6)
