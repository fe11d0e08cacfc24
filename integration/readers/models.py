"""Graphs and models that are made of files: graphs of messages, meta graphs, saved models, Keras's.

A refusal is a ValueError, which is what TensorFlow and Keras raise (a `FormatError` is one too), or
an error of the file system where a file of the model is not there.
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_conformance.fuzz.messages import changed_message
from byparts_conformance.fuzz.mutations import changed_bytes, changed_json
from byparts_conformance.fuzz.reader import Data, Reader, scratch_folder
from byparts_graph_ir import FormatError
from byparts_tf_files import errors
from byparts_tf_files.array_files import array_of, arrays_of
from byparts_tf_files.plain_objects import plain_object

_PACKAGES = Path(__file__).parents[2] / "packages"
_FILES = _PACKAGES / "tf-files/tests/recorded"
_FROZEN = _PACKAGES / "frontend-tf/tests/recorded/frozen"
_TRAINED = _PACKAGES / "tf-estimator/tests/recorded/trained_model"
_REFUSALS = (ValueError, NotImplementedError, errors.OpError, OSError)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """A graph of its own, and nothing printed."""
    with tf.Graph().as_default(), contextlib.redirect_stderr(io.StringIO()):
        yield


def _own_graph() -> tf.GraphDef:
    """A graph of ours: variables, a loop, a branch and a queue."""
    with _alone():
        x = tf.placeholder(tf.float32, [None, 3], "x")
        w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
        y = tf.matmul(x, w, name="y")
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, y])
        tf.cond(tf.reduce_sum(y) > 0, lambda: y + 1.0, lambda: y * 2.0)
        return tf.get_default_graph().as_graph_def()


def _changed(random: Random, seed: Any) -> Data:
    if random.random() < 0.2:
        return changed_bytes(random, seed.SerializeToString())
    return bytes(changed_message(random, seed).SerializeToString())


def graph_import() -> Reader:
    """`tf.import_graph_def`, of graphs that TensorFlow froze and of ours."""
    files = [_FROZEN / f"{name}.pb" for name in ("arrays", "sequences")]
    seeds = [tf.GraphDef.FromString(path.read_bytes()) for path in files]

    def read(data: bytes) -> Any:
        with _alone():
            tf.import_graph_def(tf.GraphDef.FromString(data), name="")
            return tf.get_default_graph()

    def check(graph: Any) -> None:
        assert all(op.name for op in graph.get_operations())

    return Reader("graph-import", [*seeds, _own_graph()], _changed, read, check, _REFUSALS)


def meta_graph() -> Reader:
    """`tf.train.import_meta_graph`, of a model that TensorFlow trained and of one of ours."""
    theirs = tf.MetaGraphDef.FromString((_TRAINED / "model-3.meta").read_bytes())
    with _alone():
        x = tf.placeholder(tf.float32, [None, 3], "x")
        y = tf.matmul(x, tf.get_variable("w", [3, 2]))
        tf.add_to_collection("ends", y)
        tf.add_to_collection("numbers", 3)
        ours = tf.train.Saver().export_meta_graph()
    path = scratch_folder() / "m.meta"

    def read(data: bytes) -> Any:
        path.write_bytes(data)
        with _alone():
            tf.train.import_meta_graph(str(path))
            return tf.get_default_graph()

    def check(graph: Any) -> None:
        assert all(op.name for op in graph.get_operations())

    return Reader("meta-graph", [theirs, ours], _changed, read, check, _REFUSALS)


def saved_model() -> Reader:
    """`tf.saved_model.load`, with the variables that TensorFlow saved."""
    folder = scratch_folder() / "model"
    copytree(_FILES / "saved_model", folder)
    kind = tf.core.protobuf.saved_model_pb2.SavedModel
    seed = kind.FromString((folder / "saved_model.pb").read_bytes())

    def read(data: bytes) -> Any:
        (folder / "saved_model.pb").write_bytes(data)
        with _alone(), tf.Session() as session:
            return tf.saved_model.load(session, ["serve"], str(folder))

    def check(found: Any) -> None:
        assert set(found.meta_info_def.tags) == {"serve"}

    return Reader("saved-model", [seed], _changed, read, check, (*_REFUSALS, RuntimeError))


def _models() -> list[Any]:
    layers = tf.keras.layers
    with _alone():
        image = tf.keras.Sequential(
            [
                layers.Conv2D(2, 3, activation="relu", input_shape=(8, 8, 1)),
                *(layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5), layers.Dense(3)),
            ]
        )
        words = layers.Input((5,), dtype="int32")
        hidden = layers.LSTM(3)(layers.Embedding(7, 4)(words))
        both = layers.concatenate([hidden, layers.Dense(2, "tanh")(hidden)])
        text = tf.keras.Model(words, layers.BatchNormalization()(both))
        return [json.loads(model.to_json()) for model in (image, text)]


def keras_json() -> Reader:
    """`tf.keras.models.model_from_json`."""

    def read(text: str) -> Any:
        with _alone():
            return tf.keras.models.model_from_json(text)

    def check(model: Any) -> None:
        assert isinstance(model.name, str), model.name

    return Reader("keras-json", _models(), changed_json, read, check, _REFUSALS)


def keras_file() -> Reader:
    """`tf.keras.models.load_model`, of a zip of arrays, whose texts are changed."""
    path = scratch_folder() / "model.h5"
    with _alone():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        tf.keras.models.save_model(model, str(path))
    arrays = arrays_of(path)
    said = json.loads(arrays.pop("attributes").tobytes())

    def mutate(random: Random, seed: Any) -> Data:
        kept = {k: v for k, v in arrays.items() if random.random() < 0.9}
        text = changed_json(random, seed).encode("utf-8", "surrogatepass")
        if random.random() < 0.7:  # the configuration, which is JSON in JSON
            outer = json.loads(json.dumps(seed))
            key = random.choice(("model_config", "training_config"))
            outer[""][key] = changed_json(random, json.loads(outer[""][key]))
            text = json.dumps(outer).encode("utf-8", "surrogatepass")
        with io.BytesIO() as file:
            np.savez(file, attributes=np.frombuffer(text, np.uint8), **kept)
            return file.getvalue()

    def read(data: bytes) -> Any:
        path.write_bytes(data)
        with _alone():
            return tf.keras.models.load_model(str(path))

    def check(model: Any) -> None:
        assert isinstance(model.name, str), model.name

    return Reader("keras-file", [said], mutate, read, check, _REFUSALS)


def plain_objects() -> Reader:
    """Lists, dicts and arrays of Keras's data sets."""
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    seeds = [
        pickle.dumps({b"data": array, b"labels": [1, 300], "of": "5", "x": 1.5}, 2),
        *[pickle.dumps([[1, 2, 70000], [None, True], {"a": b"b"}], k) for k in (2, 3, 4, 5)],
    ]

    def check(found: Any) -> None:
        json.dumps(found, default=str) if not isinstance(found, dict) else repr(found)

    return Reader("plain-objects", seeds, changed_bytes, plain_object, check)


def array_file() -> Reader:
    """`.npy` files, as the reader of data sets takes them."""
    seeds = []
    for array in (np.arange(6.0).reshape(2, 3), np.array([True, False]), np.array(7)):
        with io.BytesIO() as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
            seeds.append(file.getvalue())

    def check(found: Any) -> None:
        assert found.nbytes <= max(map(len, seeds)) * 2 and found.dtype.kind != "O"

    return Reader("array-file", seeds, changed_bytes, array_of, check, (FormatError, ValueError))
