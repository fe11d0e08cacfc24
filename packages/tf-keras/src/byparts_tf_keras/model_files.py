"""Whole models in HDF5 files: configuration, weights, optimizer; and copies of models."""

from __future__ import annotations

import json
import os
from typing import Any

from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.damage import refusing
from byparts_tf_keras import hdf5
from byparts_tf_keras.inputs import InputLayer
from byparts_tf_keras.model import Model
from byparts_tf_keras.network_config import layer_of
from byparts_tf_keras.objects import custom_object_scope, plain, serialize
from byparts_tf_keras.sequential import Sequential


@symbol("keras.models.save_model")
def save_model(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: Any = None,
    signatures: Any = None,
) -> None:
    """Save a model as HDF5.

    Raises:
        ImportError: the file is HDF5, and h5py is not installed.
        NotImplementedError: its class calls the layers; another format is asked for.
    """
    if save_format in ("tf", "tensorflow"):
        raise NotImplementedError(
            "models are saved as HDF5 (.h5); a SavedModel is written by tf.saved_model"
        )
    path = os.fspath(filepath)
    if not overwrite and os.path.exists(path):
        raise FileExistsError(f"{path} exists, and overwrite is False")
    if not model._is_graph_network:
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a "
            "Sequential model. It does not work for subclassed models: use save_weights."
        )
    entry = {"class_name": type(model).__name__, "config": model.get_config()}
    config = json.dumps(entry, default=plain)
    with hdf5.opened(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = "2.2.4-tf", "tensorflow"
        file.attrs["model_config"] = config.encode()
        hdf5.write_layers(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer is not None:
            _write_training(file, model)


def _write_training(file: Any, model: Any) -> None:
    try:
        optimizer = {
            "class_name": type(model.optimizer).__name__,
            "config": model.optimizer.get_config(),
        }
    except NotImplementedError:  # one of tf.train
        return
    given = model._compile_arguments
    training = {
        "optimizer_config": optimizer,
        "loss": _as_data(given["loss"]),
        "metrics": _as_data(given["metrics"]),
        "weighted_metrics": _as_data(given["weighted_metrics"]),
        "sample_weight_mode": None,
        "loss_weights": given["loss_weights"],
    }
    file.attrs["training_config"] = json.dumps(training, default=plain).encode()
    weights = model.optimizer.weights
    if weights:
        hdf5.write_weights(file.create_group("optimizer_weights"), weights)


def _as_data(given: Any) -> Any:
    if isinstance(given, dict):
        return {k: _as_data(v) for k, v in given.items()}
    if isinstance(given, (list, tuple)):
        return [_as_data(v) for v in given]
    return serialize(given)


@symbol("keras.models.load_model", "python.keras.models.load_model")
def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model of a file, ready to be trained on.

    Raises:
        ImportError: the file is HDF5, and h5py is not installed.
        OSError, ValueError: there is no such file; it has no model.
    """
    path = os.fspath(filepath)
    if not os.path.exists(path):
        raise OSError(f"SavedModel file does not exist at: {path}")
    opened = hdf5.opened(path, "r")
    with refusing(path), opened as file, custom_object_scope(custom_objects or {}):
        config = file.attrs.get("model_config")
        if config is None:
            raise ValueError("No model found in config file.")
        model = layer_of(json.loads(_text(config)))
        hdf5.read_layers(file["model_weights"], model.layers)
        training = file.attrs.get("training_config")
        if compile and training is not None:
            said = json.loads(_text(training))
            model.compile(
                optimizer=said["optimizer_config"],
                loss=_found(said["loss"]),
                metrics=said["metrics"],
                weighted_metrics=said.get("weighted_metrics"),
                loss_weights=said["loss_weights"],
            )
            if "optimizer_weights" in file:
                model._make_train_function()
                model.optimizer.set_weights(hdf5.arrays_of(file["optimizer_weights"]))
    return model


def _text(given: Any) -> str:
    return given.decode() if isinstance(given, bytes) else str(given)


def _found(loss: Any) -> Any:
    return loss


@symbol("keras.models.clone_model")
def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """An equal model with new weights.

    Args:
        model: a functional one, or `Sequential`.
        input_tensors: tensors to build on in the place of new placeholders.
        clone_function: layer -> layer; by default that of its configuration.
    """
    if not isinstance(model, Model) or (
        not model._is_graph_network and not isinstance(model, Sequential)
    ):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` or a `Sequential` instance, but "
            f"got: {model}"
        )
    made: dict[Any, Any] = {}

    def copy(layer: Any) -> Any:
        if layer not in made:
            make = clone_function or (lambda la: type(la).from_config(la.get_config()))
            made[layer] = make(layer)
        return made[layer]

    if isinstance(model, Sequential):
        if input_tensors is None:
            return Sequential([copy(la) for la in model._stack], name=model.name)
        begin = [InputLayer(input_tensor=t) for t in flatten(input_tensors)]
        return Sequential([*begin, *[copy(la) for la in model.layers]], name=model.name)
    clone = Model.from_config(model.get_config())
    if input_tensors is None:
        return clone
    return Model(input_tensors, clone(input_tensors), name=model.name)
