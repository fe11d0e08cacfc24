"""Whole models from HDF5 files, and copies of models."""

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
from byparts_tf_keras.objects import custom_object_scope
from byparts_tf_keras.sequential import Sequential


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


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


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
    clones: dict[Any, Any] = {}

    def copy(layer: Any) -> Any:
        if layer not in clones:
            make = clone_function or (lambda la: type(la).from_config(la.get_config()))
            clones[layer] = make(layer)
        return clones[layer]

    if isinstance(model, Sequential):
        if input_tensors is None:
            return Sequential([copy(la) for la in model._stack], name=model.name)
        begin = [InputLayer(input_tensor=t) for t in flatten(input_tensors)]
        return Sequential([*begin, *[copy(la) for la in model.layers]], name=model.name)
    clone = Model.from_config(model.get_config())
    if input_tensors is None:
        return clone
    return Model(input_tensors, clone(input_tensors), name=model.name)
