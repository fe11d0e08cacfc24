"""`tf.keras`: numbers of TensorFlow's (tf_keras, graph mode), names and texts of TensorFlow 1.15."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import byparts_frontend_tf as tf
from byparts_graph_ir import FormatError

layers: Any = tf.keras.layers


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def filled(model: Any, seed: int = 0, shift: float = 0.0) -> Any:
    """The model with weights of a NumPy stream."""
    random = np.random.RandomState(seed)
    shapes = [w.shape.as_list() for w in model.weights]
    model.set_weights([random.normal(size=s) * (0.4 if shift else 0.3) + shift for s in shapes])
    return model


def classifier(optimizer: Any) -> Any:
    """5 numbers -> a probability."""
    model = tf.keras.Sequential(
        [
            layers.Dense(8, activation="relu", input_shape=(5,)),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer, "binary_crossentropy", metrics=["accuracy"])
    return filled(model)


def points() -> tuple[Any, Any]:
    """64 points, and whether their sum is positive."""
    x = np.random.RandomState(1).normal(size=(64, 5)).astype("f")
    return x, (x.sum(1) > 0).astype("f")


@pytest.mark.parametrize(
    ("optimizer", "losses"),
    [
        ("adam", [0.79253, 0.78739, 0.78252]),
        ("nadam", [0.79257, 0.78868, 0.78477]),
        ("rmsprop", [0.78968, 0.78063, 0.77451]),
    ],
)
def test_fit_gives_the_history_of_tensorflow(optimizer: str, losses: list[float]) -> None:
    """The mean losses of three epochs, as TensorFlow computed them."""
    x, y = points()
    history = classifier(optimizer).fit(x, y, batch_size=16, epochs=3, verbose=0, shuffle=False)

    assert_allclose(history.history["loss"], losses, atol=2e-5)
    assert sorted(history.history) == ["acc", "loss"]


@pytest.mark.parametrize(
    ("layer", "shape", "names", "sums", "losses"),
    [
        (
            lambda: layers.LSTM(3),
            (4, 2),
            "lstm/kernel:0 lstm/recurrent_kernel:0 lstm/bias:0",
            [2.9604, 3.0656],
            [0.104, 0.1001, 0.0964],
        ),
        (
            lambda: layers.Bidirectional(layers.GRU(3), merge_mode="sum"),
            (4, 2),
            "bidirectional/forward_gru/kernel:0",
            [7.0075, 7.0075],
            [0.3792, 0.3352, 0.2954],
        ),
    ],
)
def test_recurrent_layers_train_as_in_tensorflow(
    layer: Any, shape: Any, names: str, sums: list[float], losses: list[float]
) -> None:
    """Outputs, and the losses of three steps."""
    inputs = layers.Input(shape)
    model = tf.keras.Model(inputs, layer()(inputs))
    random = np.random.RandomState(3)
    model.set_weights(
        [random.normal(size=w.shape.as_list()).astype("f") * 0.4 + 0.3 for w in model.weights]
    )
    x = random.normal(size=(4, *shape)).astype("f")
    found = model.predict(x)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")

    assert " ".join([w.name for w in model.weights]).startswith(names)
    assert_allclose([found.sum(), np.abs(found).sum()], sums, atol=1e-4)
    steps = [model.train_on_batch(x, np.zeros_like(found)) for _ in range(3)]
    assert_allclose(steps, losses, atol=1e-4)


def test_summary_is_that_of_tensorflow(capsys: Any) -> None:
    """The table of layers, to the last blank."""
    inputs = tf.keras.Input((4,))
    hidden = layers.Dense(3)(inputs)
    tf.keras.Model(inputs, layers.add([layers.Dense(3)(hidden), hidden])).summary()

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'Model: "model"'
    assert lines[2].startswith("Layer (type)                    Output Shape         Param #     ")
    assert lines[-2] == "Non-trainable params: 0"
    assert lines[-6].strip() == "dense[0][0]"
    assert lines[4].startswith("input_1 (InputLayer)            [(None, 4)]          0")


def halved(x: Any) -> Any:
    """x / 2."""
    return x / 2


def test_a_model_of_its_configuration_and_checkpoint_is_the_same(tmp_path: Path) -> None:
    """JSON makes the layers, a checkpoint of TensorFlow's format the weights."""
    inputs = tf.keras.Input((4,))
    a, b = layers.Dense(3, activation="tanh")(inputs), layers.Lambda(halved)(inputs)
    model = tf.keras.Model(inputs, layers.concatenate([a, layers.Dropout(0.5)(b)]))
    x = np.arange(8, dtype="f").reshape(2, 4) - 3
    model.save_weights(str(tmp_path / "w"))
    again = tf.keras.models.model_from_json(model.to_json(), {"halved": halved})
    again.load_weights(str(tmp_path / "w"))

    assert_allclose(again.predict(x), model.predict(x))
    assert [la.name for la in again.layers] == [la.name for la in model.layers]


class Doubled(tf.keras.Model):  # type: ignore[misc]  # found when the class is made
    """A model that calls its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Any] = []
        self.blocks.append(layers.Dense(2, kernel_initializer="identity"))
        self.norm = layers.BatchNormalization()

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The layers of the list, twice, normalized."""
        for layer in self.blocks:
            inputs = layer(layer(inputs))
        return self.norm(inputs, training=training)


def test_a_class_that_calls_layers_is_trained() -> None:
    """Layers in lists are found; weights have names in the scope of the model."""
    model = Doubled()
    model.compile(tf.train.AdamOptimizer(0.1), "mse")
    x = np.random.RandomState(0).normal(size=(32, 2)).astype("f")
    history = model.fit(x, 3 * x, epochs=6, verbose=0, batch_size=16)

    assert model.weights[0].name == "doubled/dense/kernel:0"
    assert len(model.trainable_weights) == 4
    assert history.history["loss"][-1] < history.history["loss"][0]


def test_what_is_wrong_is_said() -> None:
    """Shapes, names, and outputs of no input."""
    model = classifier("sgd")
    with pytest.raises(ValueError, match=r"to have shape \(None, 5\) but got array"):
        model.predict(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="Unknown optimizer"):
        model.compile("hopeful", "mse")
    with pytest.raises(ValueError, match="Graph disconnected"):
        tf.keras.Model(tf.keras.Input((1,)), layers.Dense(1)(tf.keras.Input((2,))))
    with pytest.raises(ValueError, match="expected min_ndim=2, found ndim=1"):
        layers.Dense(1)(tf.placeholder(tf.float32, [None]))


def test_progress_is_printed_as_keras_prints_it(capsys: Any) -> None:
    """The lines of `verbose=2`, and the number of examples."""
    x, y = points()
    classifier("sgd").fit(x, y, epochs=2, verbose=2, validation_split=0.25, batch_size=48)

    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Train on 48 samples, validate on 16 samples", "Epoch 1/2"]
    assert lines[2].startswith("48/48 - ")
    assert [part.split(":")[0] for part in lines[2].split(" - ")[2:]] == [
        *("loss", "acc", "val_loss", "val_acc"),
    ]


def test_texts_and_rows_are_prepared() -> None:
    """Words by their frequency, rows of one length, vectors of classes."""
    tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=4, oov_token="?")
    tokenizer.fit_on_texts(["the cat, the dog!", "The cat sat"])
    rows = tokenizer.texts_to_sequences(["the dog sat on the cat"])
    padded = tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4]], maxlen=2)

    assert rows == [[2, 1, 1, 1, 2, 3]]
    assert padded.tolist() == [[2, 3], [0, 4]]
    assert tf.keras.utils.to_categorical([2, 0]).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_images_are_flipped_and_scaled_in_batches() -> None:
    """Batches of a generator of images; nothing else is changed."""
    images = np.arange(24, dtype="f").reshape(3, 2, 4, 1)
    made = tf.keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True, rescale=0.5)
    x, y = next(made.flow(images, [0, 1, 2], batch_size=2, shuffle=False))

    assert y.tolist() == [0, 1]
    for image, given in zip(x, images, strict=False):
        assert image.tolist() in [(given / 2).tolist(), (given[:, ::-1] / 2).tolist()]


def test_a_data_set_is_read_from_the_folder_of_keras(tmp_path: Path, monkeypatch: Any) -> None:
    """What is there is read; what is not there and cannot be fetched is said."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    x, y = np.zeros((2, 28, 28), np.uint8), np.array([3, 4], np.uint8)
    np.savez(tmp_path / "datasets/mnist.npz", x_train=x, y_train=y, x_test=x[:1], y_test=y[:1])
    (_, labels), _ = tf.keras.datasets.mnist.load_data()

    assert labels.tolist() == [3, 4]
    with pytest.raises(OSError, match="is not there, and file:///nowhere cannot be fetched"):
        tf.keras.utils.get_file("x", "file:///nowhere")


class _Code:
    def __reduce__(self) -> Any:
        return print, ("code was run",)


def test_texts_are_lists_in_files_of_which_no_code_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    texts, bad = np.empty(2, object), np.empty(1, object)
    texts[:], bad[:] = [[1, 5], [7, 1, 2]], [_Code()]
    for name, x in (("imdb", texts), ("bad", bad)):
        y = np.arange(len(x))
        np.savez(
            tmp_path / f"datasets/{name}.npz", x_train=x, y_train=y, x_test=x[:1], y_test=y[:1]
        )

    (x, y), _ = tf.keras.datasets.imdb.load_data()
    assert sorted(x) == [[1, 2, 4, 5], [1, 4, 8]] and sorted(y) == [0, 1]
    with pytest.raises(FormatError, match=r"the file asks for (builtins|__builtin__).print"):
        tf.keras.datasets.imdb.load_data(str(tmp_path / "datasets/bad.npz"))
    assert "code was run" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["w.h5", "w.keras", "model.h5"])
def test_a_full_disk_leaves_the_older_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Weights alone, under two endings, and a whole model: all of a file or none of it."""
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,))])
    path, save = str(tmp_path / name), model.save if name == "model.h5" else model.save_weights
    save(path)
    old = Path(path).read_bytes()

    def full(file: Any, *args: Any, **given: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(OSError, match="No space left on device"):
        save(path)

    assert Path(path).read_bytes() == old and os.listdir(tmp_path) == [name]


def test_a_full_disk_leaves_the_older_hdf5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By h5py, which empties the file that it opens: it is given another one."""

    class Half:
        def __init__(self, path: str, mode: str) -> None:
            Path(path).write_bytes(b"half")
            raise OSError(28, "No space left on device")

    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=Half))
    (tmp_path / "w.h5").write_bytes(b"older")
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,))])
    with pytest.raises(OSError, match="No space left on device"):
        model.save_weights(str(tmp_path / "w.h5"))

    assert (tmp_path / "w.h5").read_bytes() == b"older" and os.listdir(tmp_path) == ["w.h5"]


def test_a_model_of_a_file_goes_on_training(tmp_path: Path) -> None:
    """Layers, weights and the state of the optimizer are in the file; a damaged one is refused."""
    x, y = np.ones((2, 1)), np.zeros(2)
    model, path = tf.keras.Sequential([layers.Dense(1, input_shape=(1,))]), tmp_path / "model.h5"
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    model.train_on_batch(x, y)
    model.save(path)
    again = tf.keras.models.load_model(str(path))

    assert again.train_on_batch(x, y) == model.train_on_batch(x, y)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises((FormatError, OSError)):
        tf.keras.models.load_model(str(path))
