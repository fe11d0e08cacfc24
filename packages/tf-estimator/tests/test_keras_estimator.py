"""Models of Keras as estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def _on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    from byparts_frontend_tf.running import session

    monkeypatch.setitem(session.defaults, "backends", ("numpy",))


def model(optimizer: Any) -> Any:
    tf.keras.backend.clear_session()
    made = tf.keras.models.Sequential(
        [
            tf.keras.layers.Dense(4, activation="relu", input_shape=(3,), name="first"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(2, activation="softmax", name="last"),
        ]
    )
    made.compile(optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return made


def fed(name: str, epochs: Any = 1) -> Any:
    given = {"batch_size": 10, "num_epochs": epochs, "shuffle": False}
    return tf.estimator.inputs.numpy_input_fn({name: X}, Y, **given)


@pytest.mark.parametrize("kind", ["keras", "train"])
def test_a_model_is_trained_as_an_estimator(kind: str, tmp_path: Path) -> None:
    """It begins with the weights of the model, and predicts what it predicts."""
    keras: dict[str, Any] = {"keras": lambda: "adam", "train": lambda: tf.train.AdamOptimizer(0.01)}
    made = model(keras[kind]())
    wanted, name = made.predict(X), made.input_names[0]
    estimator = tf.keras.estimator.model_to_estimator(made, model_dir=str(tmp_path))
    key = made.output_names[0]
    before = np.array([p[key] for p in estimator.predict(fed(name))])
    first = estimator.evaluate(fed(name))
    estimator.train(fed(name, None), steps=60)
    found = estimator.evaluate(fed(name))

    np.testing.assert_allclose(before, wanted, rtol=1e-4)
    assert found["loss"] < first["loss"] and sorted(found) == ["accuracy", "global_step", "loss"]
    assert first["accuracy"] == pytest.approx((wanted.argmax(1) == Y).mean())


def test_what_is_no_compiled_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has not been compiled yet"):
        tf.keras.estimator.model_to_estimator(tf.keras.models.Sequential())
    with pytest.raises(ValueError, match=r"needs to be provided"):
        tf.keras.estimator.model_to_estimator()
