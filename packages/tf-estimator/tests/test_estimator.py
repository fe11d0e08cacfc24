"""Estimators: trained, evaluated, asked, resumed; the numbers are computed by hand beside them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

X = np.arange(12, dtype=np.float32).reshape(6, 2) / 6
Y = (X @ [1.0, 2.0] + 0.5).astype(np.float32)
RATE, BATCH = 0.1, 4


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    y = tf.layers.dense(features["x"], 1, kernel_initializer=tf.zeros_initializer(), name="d")
    y = tf.squeeze(y, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "twice": 2 * y})
    loss = tf.losses.mean_squared_error(labels, y)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def fed(epochs: Any = None) -> Any:
    return tf.estimator.inputs.numpy_input_fn(
        {"x": X}, Y, batch_size=BATCH, num_epochs=epochs, shuffle=False
    )


def dataset(params: Any) -> Any:
    assert params["rate"] == RATE
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(BATCH)


@pytest.fixture(autouse=True)
def _on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    from byparts_frontend_tf.running import session

    monkeypatch.setitem(session.defaults, "backends", ("numpy",))


def estimator(folder: Path, **config: Any) -> Any:
    given = tf.estimator.RunConfig(tf_random_seed=1, **config)
    return tf.estimator.Estimator(model_fn, folder, given, params={"rate": RATE})


def by_hand(*runs: int) -> tuple[Any, float]:
    """The weights after so many steps; each training begins with the first rows."""
    w, b = np.zeros(2), 0.0
    for steps in runs:
        rows = np.arange(steps * BATCH).reshape(steps, BATCH) % len(X)
        for i in rows:
            error = X[i] @ w + b - Y[i]
            w, b = w - RATE * 2 * X[i].T @ error / BATCH, b - RATE * 2 * float(error.mean())
    return w, b


@pytest.mark.parametrize("input_fn", [fed(), dataset], ids=["arrays", "dataset"])
def test_training_takes_the_steps_of_the_optimizer_and_goes_on(
    tmp_path: Path, input_fn: Any
) -> None:
    model = estimator(tmp_path, save_checkpoints_steps=20)
    assert model.train(input_fn, steps=30) is model
    again = estimator(tmp_path).train(input_fn, max_steps=40)
    w, b = by_hand(30, 10)

    np.testing.assert_allclose(again.get_variable_value("d/kernel")[:, 0], w, rtol=1e-4)
    np.testing.assert_allclose(again.get_variable_value("d/bias"), [b], rtol=1e-4)
    assert again.get_variable_names() == ["d/bias", "d/kernel", "global_step"]
    assert model.latest_checkpoint() == str(tmp_path / "model.ckpt-40")
    assert {f"model.ckpt-{n}.index" for n in (0, 20, 30, 40)} <= {
        p.name for p in tmp_path.iterdir()
    }


def test_an_evaluation_is_over_all_batches(tmp_path: Path) -> None:
    """The loss is the mean of the losses of batches, a metric that of examples."""
    model = estimator(tmp_path).train(fed(), steps=10)
    w, b = by_hand(10)
    errors = X @ w + b - Y
    losses = [np.mean(errors[i : i + BATCH] ** 2) for i in (0, BATCH)]
    found = model.evaluate(fed(1))
    first = model.evaluate(fed(1), steps=1, name="first")

    assert list(found) == ["loss", "mae", "global_step"] and found["global_step"] == 10
    assert found["loss"] == pytest.approx(np.mean(losses), rel=1e-4)
    assert found["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-4)
    assert first["loss"] == pytest.approx(losses[0], rel=1e-4)
    assert (tmp_path / "eval").is_dir() and (tmp_path / "eval_first").is_dir()


def test_predictions_come_one_by_one_or_in_batches(tmp_path: Path) -> None:
    model = estimator(tmp_path).train(fed(), steps=10)
    w, b = by_hand(10)
    single = list(model.predict(fed(1), predict_keys="y"))
    batches = list(model.predict(fed(1), yield_single_examples=False))

    np.testing.assert_allclose([p["y"] for p in single], X @ w + b, rtol=1e-4)
    assert [len(p["twice"]) for p in batches] == [4, 2] and list(single[0]) == ["y"]


def test_what_is_done_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        logger = tf.train.LoggingTensorHook({"weights": "d/kernel", "bias": "d/bias:0"}, 9)
        model = estimator(tmp_path, log_step_count_steps=5).train(fed(), [logger], steps=6)
        model.train(fed(), max_steps=6)
        model.evaluate(fed(1), steps=2)
    tf.logging.set_verbosity(tf.logging.WARN)
    said = [r.getMessage() for r in caplog.records]
    wanted = (
        *("Using config: ", "Calling model_fn.", "Done calling model_fn.", "bias = [0."),
        *(
            "loss = ",
            "loss = ",
            "Loss for final step: ",
            "Skipping training since max_steps has already saved.",
        ),
        *("Calling model_fn.", "Starting evaluation at ", "Restoring parameters from "),
        *("Evaluation [1/2]", "Evaluation [2/2]"),
        *("Finished evaluation at ", "Saving dict for global step 6: global_step = 6, loss = "),
        "Saving 'checkpoint_path' summary for global step 6: ",
    )
    rest = iter(said)

    assert all(any(line.startswith(w) for line in rest) for w in wanted), said
    losses = [line.split()[2].rstrip(",") for line in said if line.startswith("loss = ")]
    assert losses == [str(np.float32(n)) for n in losses]  # as NumPy writes an f32


def test_training_and_evaluation_take_turns(tmp_path: Path) -> None:
    model = estimator(tmp_path, save_checkpoints_steps=4)
    seen: list[int] = []

    class Seen(tf.estimator.Exporter):  # type: ignore[misc]  # names of tf have no types
        name = "seen"

        def export(
            self, estimator: Any, path: str, checkpoint: str, result: Any, last: bool
        ) -> Any:
            seen.append(int(result["global_step"]) * (-1 if last else 1))

    given = tf.estimator.EvalSpec(fed(1), throttle_secs=0, exporters=Seen())
    found, _ = tf.estimator.train_and_evaluate(
        model, tf.estimator.TrainSpec(fed(), max_steps=10), given
    )

    assert seen == [4, 8, -10] and found["global_step"] == 10


def test_a_model_begins_with_another(tmp_path: Path) -> None:
    estimator(tmp_path / "a").train(fed(), steps=10)
    given = {"params": {"rate": 1e-9}, "warm_start_from": str(tmp_path / "a")}
    model = tf.estimator.Estimator(model_fn, tmp_path / "b", **given).train(fed(), steps=1)
    w, _ = by_hand(10)

    np.testing.assert_allclose(model.get_variable_value("d/kernel")[:, 0], w, rtol=1e-4)


def test_training_stops_when_it_gets_no_better(tmp_path: Path) -> None:
    """Of what evaluations wrote; and what is evaluated on the way is of that step."""
    model = estimator(tmp_path, save_checkpoints_steps=100)
    on_the_way = tf.contrib.estimator.InMemoryEvaluatorHook(model, fed(1), every_n_iter=10)
    stop = tf.contrib.estimator.stop_if_lower_hook(
        model, "mae", threshold=0.03, run_every_secs=None, run_every_steps=1
    )
    model.train(fed(), [on_the_way, stop], steps=200)
    found = tf.contrib.estimator.read_eval_metrics(model.eval_dir())
    below = [step for step, values in found.items() if values["mae"] < 0.03]

    assert 10 <= below[0] < 200 and list(found)[:2] == [10, 20]
    assert int(model.get_variable_value("global_step")) <= below[0] + 1
    w, b = by_hand(10)
    assert found[10]["mae"] == pytest.approx(np.abs(X @ w + b - Y).mean(), rel=1e-4)


BAD: dict[str, Any] = {
    "Can not provide both steps and max_steps": lambda e: e.train(fed(), steps=1, max_steps=1),
    "Must specify steps > 0": lambda e: e.train(fed(), steps=0),
    "does not include params argument": lambda e: tf.estimator.Estimator(
        lambda features: None, params={"a": 1}
    ),
    "must include features argument": lambda e: tf.estimator.Estimator(lambda x: None),
    "different values": lambda e: tf.estimator.Estimator(
        model_fn, "a", tf.estimator.RunConfig("b")
    ),
    "should return an EstimatorSpec": lambda e: tf.estimator.Estimator(
        lambda features: 1, e.model_dir
    ).train(lambda: {"x": tf.zeros([1])}, steps=1),
    "Expected to run at least one output": lambda e: next(e.predict(fed(1), ["none"])),
    "has not been trained yet": lambda e: e.get_variable_value("w"),
    "Missing loss": lambda e: tf.estimator.EstimatorSpec("eval"),
    "Missing train_op": lambda e: tf.estimator.EstimatorSpec("train", loss=tf.zeros([])),
}


@pytest.mark.parametrize("message", BAD)
def test_what_does_not_fit_is_said(message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        BAD[message](estimator(tmp_path))


def test_a_saved_model_of_words_is_loaded_without_what_made_it(tmp_path: Path) -> None:
    """Its vocabulary and what an example has are in the graph; examples fed one by one are not."""
    words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
    columns = [tf.feature_column.indicator_column(words)]
    model = tf.estimator.LinearClassifier(columns, str(tmp_path / "m"))
    data = {"word": np.array([["a"], ["b"]])}, np.array([0, 1])
    model.train(lambda: tf.data.Dataset.from_tensors(data).repeat(3))
    spec = tf.feature_column.make_parse_example_spec(columns)
    parsed = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    folder = model.export_savedmodel(str(tmp_path / "e"), parsed)
    example = tf.train.Example()
    example.features.feature["word"].bytes_list.value.append(b"b")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], folder.decode())
        signature = loaded.signature_def["serving_default"]
        fed = {signature.inputs["inputs"].name: [example.SerializeToString()]}
        scores = session.run(signature.outputs["scores"].name, fed)
        two = {name: tf.placeholder(tf.string, [None, 1]) for name in ("word", "other")}
    raw = tf.estimator.export.build_raw_serving_input_receiver_fn(two)
    folder = model.export_savedmodel(str(tmp_path / "f"), raw)
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], folder.decode())

    assert scores[0, 1] > 0.5 and list(loaded.signature_def) == ["predict"]
    with pytest.raises(ValueError, match="must include best_eval_result argument"):
        tf.estimator.BestExporter(serving_input_receiver_fn=raw, compare_fn=lambda a, b: True)


def test_an_optimizer_is_clipped_and_features_come_back(tmp_path: Path) -> None:
    """`contrib.estimator`: one step is at most the rate times the norm."""
    extend = tf.contrib.estimator
    x = np.array([[3.0], [4.0]], np.float32)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(({"x": x, "id": [[7], [8]]}, [[100.0], [200.0]]))

    model = tf.estimator.LinearRegressor(
        [tf.feature_column.numeric_column("x")],
        tmp_path,
        optimizer=extend.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.5), 2.0),
    ).train(input_fn)
    found = list(extend.forward_features(model, "id").predict(input_fn))
    parts = [
        model.get_variable_value(f"linear/linear_model/{n}") for n in ("x/weights", "bias_weights")
    ]

    assert np.linalg.norm([float(p.item()) for p in parts]) == pytest.approx(1.0)
    assert [row["id"].tolist() for row in found] == [[7], [8]]
