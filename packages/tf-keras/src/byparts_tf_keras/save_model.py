"""Whole models into HDF5 files: configuration, weights, optimizer."""

from __future__ import annotations

import json
import os
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import hdf5
from byparts_tf_keras.objects import plain, serialize


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
    arguments = model._compile_arguments
    training = {
        "optimizer_config": optimizer,
        "loss": _as_data(arguments["loss"]),
        "metrics": _as_data(arguments["metrics"]),
        "weighted_metrics": _as_data(arguments["weighted_metrics"]),
        "sample_weight_mode": None,
        "loss_weights": arguments["loss_weights"],
    }
    file.attrs["training_config"] = json.dumps(training, default=plain).encode()
    weights = model.optimizer.weights
    if weights:
        hdf5.write_weights(file.create_group("optimizer_weights"), weights)


def _as_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _as_data(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_data(v) for v in value]
    return serialize(value)
