"""Ready-made estimators against the same steps in NumPy; those of contrib.learn; without a TPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

IRIS = tf.contrib.learn.datasets.load_dataset("iris")
ORDER = np.random.RandomState(0).permutation(150)
X, Y = IRIS.data[ORDER].astype(np.float32), IRIS.target[ORDER]
TWO = (Y > 0).astype(np.int64)
NUMBERS = X @ np.array([1.0, -1.0, 0.5, 2.0], np.float32)
COLUMNS = [tf.feature_column.numeric_column("x", shape=[4])]
ROWS = 10


@pytest.fixture(autouse=True)
def _on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    from byparts_frontend_tf.running import session

    monkeypatch.setitem(session.defaults, "backends", ("numpy",))


def fed(y: Any, epochs: Any = None, size: int = ROWS) -> Any:
    given = {"batch_size": size, "num_epochs": epochs, "shuffle": False}
    return tf.estimator.inputs.numpy_input_fn({"x": X}, y, **given)


def config(folder: Path) -> Any:
    return tf.estimator.RunConfig(folder, tf_random_seed=2)


def softmax(logits: Any) -> Any:
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_a_linear_classifier_takes_the_steps_of_its_optimizer(tmp_path: Path) -> None:
    """The loss is the sum over a batch; metrics are of all examples."""
    model = tf.estimator.LinearClassifier(
        COLUMNS,
        n_classes=3,
        config=config(tmp_path),
        optimizer=tf.train.GradientDescentOptimizer(0.01),
    )
    model.train(fed(Y), steps=5)
    w, b = np.zeros((4, 3)), np.zeros(3)
    for step in range(5):
        x, y = (a[step * ROWS : (step + 1) * ROWS] for a in (X, Y))
        error = softmax(x @ w + b) - np.eye(3)[y]
        w, b = w - 0.01 * x.T @ error, b - 0.01 * error.sum(0)
    found = model.evaluate(fed(Y, 1, 50))
    each = -np.log(softmax(X @ w + b)[np.arange(150), Y])
    first = next(model.predict(fed(None, 1)))

    np.testing.assert_allclose(
        model.get_variable_value("linear/linear_model/x/weights"), w, rtol=1e-4
    )
    assert found["average_loss"] == pytest.approx(each.mean(), rel=1e-4)
    assert found["loss"] == pytest.approx(each.sum() / 3, rel=1e-4)
    assert found["accuracy"] == pytest.approx((np.argmax(X @ w + b, 1) == Y).mean())
    assert first["class_ids"] == [np.argmax(X[0] @ w + b)]
    assert first["classes"].tolist() == [str(first["class_ids"][0]).encode()]


def test_a_network_has_tensorflows_names_and_learns(tmp_path: Path) -> None:
    model = tf.estimator.DNNClassifier([40, 20], COLUMNS, n_classes=3, config=config(tmp_path))
    model.train(fed(Y, size=50), steps=100)
    found = model.evaluate(fed(Y, 1))

    assert found["accuracy"] > 0.9 and list(found)[-1] == "global_step"
    trained = [n for n in model.get_variable_names() if "Adagrad" not in n]
    layers = ("hiddenlayer_0", "hiddenlayer_1", "logits")
    parts = [f"dnn/{layer}/{part}" for layer in layers for part in ("bias", "kernel")]
    assert trained == [*parts, "global_step"]


def test_two_classes_have_more_metrics(tmp_path: Path) -> None:
    model = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=COLUMNS,
        dnn_feature_columns=COLUMNS,
        dnn_hidden_units=[4],
        config=config(tmp_path),
    )
    model.train(fed(TWO, size=50), steps=60)
    found = model.evaluate(fed(TWO, 1))
    one = next(model.predict(fed(None, 1)))

    assert set(found) == {
        *("accuracy", "accuracy_baseline", "auc", "auc_precision_recall", "average_loss", "loss"),
        *("global_step", "label/mean", "precision", "prediction/mean", "recall"),
    }
    assert found["label/mean"] == pytest.approx(TWO.mean()) and found["auc"] > 0.98
    assert one["probabilities"][1] == pytest.approx(one["logistic"][0], rel=1e-5)


@pytest.mark.parametrize("kind", ["LinearRegressor", "DNNRegressor", "BaselineRegressor"])
def test_regressors_learn_numbers(kind: str, tmp_path: Path) -> None:
    more = {"LinearRegressor": {"feature_columns": COLUMNS}, "BaselineRegressor": {}}
    given = more.get(kind, {"feature_columns": COLUMNS, "hidden_units": [40]})
    model = getattr(tf.estimator, kind)(config=config(tmp_path), **given)
    model.train(fed(NUMBERS, size=50), steps=100)
    found = model.evaluate(fed(NUMBERS, 1))
    mean = np.mean([p["predictions"][0] for p in model.predict(fed(None, 1))])

    assert found["label/mean"] == pytest.approx(NUMBERS.mean(), rel=1e-4)
    assert found["prediction/mean"] == pytest.approx(mean, rel=1e-4)
    assert found["average_loss"] < (np.mean(NUMBERS**2) - 5 if "Base" in kind else 0.3)


def test_classes_may_be_named_and_examples_weighed(tmp_path: Path) -> None:
    """Of examples that weigh nothing nothing is learnt."""
    names = np.array(["a", "b", "c"])[Y]
    given = {"x": X, "w": (Y < 2).astype(np.float32)}
    input_fn = tf.estimator.inputs.numpy_input_fn(given, names, 50, num_epochs=None, shuffle=False)
    model = tf.estimator.LinearClassifier(
        COLUMNS,
        n_classes=3,
        label_vocabulary=["a", "b", "c"],
        weight_column="w",
        config=config(tmp_path),
    ).train(input_fn, steps=60)
    found = {p["classes"][0] for p in model.predict(fed(None, 1))}

    assert found == {b"a", b"b"}
    assert model.evaluate(input_fn, steps=3)["accuracy"] > 0.95


def test_a_head_and_metrics_are_given_to_a_model(tmp_path: Path) -> None:
    head = tf.contrib.estimator.multi_class_head(n_classes=3)
    model = tf.estimator.DNNEstimator(head, [8], COLUMNS, config=config(tmp_path))

    def more(labels: Any, predictions: Any) -> Any:
        first = tf.equal(predictions["class_ids"][:, 0], 0)
        return {"zeros": tf.metrics.mean(tf.cast(first, tf.float32))}

    model = tf.contrib.estimator.add_metrics(model, more)
    model.train(fed(Y, size=50), steps=80)
    found = model.evaluate(fed(Y, 1, 50))

    assert found["loss"] == pytest.approx(found["average_loss"], rel=1e-4)  # a mean, here
    assert found["zeros"] == pytest.approx(1 / 3, abs=0.1) and found["accuracy"] > 0.6


def test_examples_are_read_by_columns() -> None:
    spec = tf.estimator.classifier_parse_example_spec(COLUMNS, "y", weight_column="w")
    wanted = {
        "x": tf.FixedLenFeature((4,), tf.float32, None),
        "y": tf.FixedLenFeature((1,), tf.int64, None),
        "w": tf.FixedLenFeature((1,), tf.float32, None),
    }

    assert spec == wanted
    with pytest.raises(ValueError, match=r"x is a feature of a column"):
        tf.estimator.regressor_parse_example_spec(COLUMNS, "x")


def test_contrib_learn_fits_arrays(tmp_path: Path) -> None:
    learn = tf.contrib.learn
    model = learn.DNNClassifier(
        hidden_units=[40, 20],
        feature_columns=learn.infer_real_valued_columns_from_input(X),
        n_classes=3,
        config=learn.RunConfig(tf_random_seed=1),
        model_dir=tmp_path,
    ).fit(X, Y, steps=200)
    found = model.evaluate(X, Y)
    classes = list(model.predict(X, as_iterable=True))

    assert sorted(found) == ["accuracy", "global_step", "loss"] and found["accuracy"] > 0.9
    assert np.mean(np.array(classes) == Y) == pytest.approx(found["accuracy"])
    assert np.shape(model.predict_proba(X, as_iterable=False)) == (150, 3)


def test_contrib_learn_takes_model_functions_and_metrics(tmp_path: Path) -> None:
    learn = tf.contrib.learn

    def model_fn(features: Any, targets: Any, mode: str, params: Any) -> Any:
        logits = tf.contrib.layers.linear(features, 3)
        found = {"class": tf.argmax(logits, 1)}
        if mode == learn.ModeKeys.INFER:
            return learn.ModelFnOps(mode, found)
        loss = tf.losses.sparse_softmax_cross_entropy(targets, logits)
        step = tf.contrib.layers.optimize_loss(
            loss, tf.contrib.framework.get_global_step(), params["rate"], "Adam"
        )
        return found, loss, step

    model = learn.SKCompat(learn.Estimator(model_fn, str(tmp_path), params={"rate": 0.1}))
    model.fit(X, Y, batch_size=150, steps=60)
    metrics = {"right": learn.MetricSpec(tf.metrics.accuracy, prediction_key="class")}
    found = model.score(X, Y, metrics=metrics)

    assert found["right"] > 0.9 and found["global_step"] == 60
    assert np.mean(model.predict(X)["class"] == Y) == pytest.approx(found["right"])


def test_a_monitor_evaluates_and_stops(tmp_path: Path) -> None:
    learn = tf.contrib.learn
    monitor = learn.monitors.ValidationMonitor(X, Y, every_n_steps=5, early_stopping_rounds=10)
    columns = learn.infer_real_valued_columns_from_input(X)
    rate = tf.train.GradientDescentOptimizer(0.0)
    learn.LinearClassifier(
        columns, tmp_path, 3, optimizer=rate, config=learn.RunConfig(save_checkpoints_steps=5)
    ).fit(X, Y, steps=100, monitors=[monitor])

    assert monitor.early_stopped and monitor.best_value == pytest.approx(np.log(3), rel=1e-5)


def test_an_experiment_trains_and_evaluates(tmp_path: Path) -> None:
    def make(output_dir: str) -> Any:
        model = tf.estimator.LinearRegressor(COLUMNS, output_dir)
        given = {"train_steps": 5, "eval_steps": 1, "export_strategies": Strategy()}
        made = tf.contrib.learn.Experiment(model, fed(NUMBERS), fed(NUMBERS, 1), **given)
        made.extend_train_hooks([tf.train.StopAtStepHook(last_step=3)])
        return made

    found, exported = tf.contrib.learn.learn_runner.run(make, str(tmp_path))

    assert found["global_step"] == 3 and (tmp_path / "eval").is_dir()
    assert exported == [str(tmp_path / "export/best/model.ckpt-3")]


class Strategy:
    name = "best"

    def export(self, estimator: Any, folder: str, checkpoint_path: str, eval_result: Any) -> str:
        return str(Path(folder) / Path(checkpoint_path).name)


def tpu_model(features: Any, labels: Any, mode: str, params: Any) -> Any:
    tpu = tf.contrib.tpu
    y = tf.squeeze(tf.layers.dense(features["x"], 1), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode=mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    optimizer = tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
    return tpu.TPUEstimatorSpec(
        mode=mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metrics=(lambda a, b: {"error": tf.metrics.mean_squared_error(a, b)}, [labels, y]),
    )


def tpu_input(params: Any) -> Any:
    rows = tf.data.Dataset.from_tensor_slices(({"x": X}, NUMBERS))
    return rows.repeat().batch(params["batch_size"], drop_remainder=True)


def test_a_tpu_estimator_runs_without_a_tpu(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tpu = tf.contrib.tpu
    given = tpu.RunConfig(model_dir=str(tmp_path), tpu_config=tpu.TPUConfig(iterations_per_loop=5))
    sizes = {"train_batch_size": 50, "eval_batch_size": 30, "predict_batch_size": 7}
    model = tpu.TPUEstimator(tpu_model, config=given, use_tpu=False, **sizes)
    with caplog.at_level("INFO", logger="tensorflow"):
        model.train(tpu_input, max_steps=60)
    found = model.evaluate(tpu_input, steps=5)
    batch = next(model.predict(tpu_input, yield_single_examples=False))

    assert found["error"] == pytest.approx(found["loss"], rel=1e-4) and found["loss"] < 5
    assert batch["y"].shape == (7,)
    assert caplog.messages[-1] == "training_loop marked as finished"


def test_a_tpu_is_refused() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=r"give use_tpu=False"):
        tf.contrib.tpu.TPUEstimator(tpu_model, config=tf.contrib.tpu.RunConfig())


def test_clusters_by_the_names_of_contrib_learn(tmp_path: Path) -> None:
    """Points that are no queue are one batch."""
    points = np.array([[0.0, 0.0], [0.0, 0.2], [4.0, 4.0], [4.0, 4.4]], np.float32)
    model = tf.contrib.learn.KMeansClustering(
        2, tmp_path, initial_clusters=points[[0, 3]], relative_tolerance=1e-4, use_mini_batch=False
    ).fit(input_fn=lambda: (tf.constant(points), None))

    found = list(model.predict_cluster_idx(lambda: (tf.constant(points), None)))
    np.testing.assert_allclose(model.clusters(), [[0, 0.1], [4, 4.2]], rtol=1e-5)
    assert found == [0, 0, 1, 1]
    assert model.transform(lambda: (tf.constant(points), None)).shape == (4, 2)
    assert model.score(lambda: (tf.constant(points), None), steps=3) == pytest.approx(0.1, rel=1e-3)
