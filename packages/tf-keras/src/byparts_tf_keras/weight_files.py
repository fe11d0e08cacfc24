"""Weights of models in files: TensorFlow's checkpoints, and HDF5."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.checkpoint_state import update_checkpoint_state
from byparts_tf_files.damage import refusing
from byparts_tf_files.write_checkpoint import write_checkpoint
from byparts_tf_keras import hdf5
from byparts_tf_keras.network_config import layer_of
from byparts_tf_keras.objects import plain
from byparts_tf_keras.values import batch_get_value, batch_set_value

_END = "/.ATTRIBUTES/VARIABLE_VALUE"


class Saved:
    """The part of a network that knows files."""

    name: str
    built: bool

    @property
    def layers(self) -> list[Any]:
        """The layers of the network."""
        raise NotImplementedError

    @property
    def _is_graph_network(self) -> bool:
        raise NotImplementedError

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: Any = None) -> None:
        """Save the weights: HDF5 where the name ends so or it is asked for, else a checkpoint.

        Raises:
            FileExistsError: the file is there and is not to be overwritten.
        """
        path = os.fspath(filepath)
        if _is_hdf5(path, save_format):
            if not overwrite and os.path.exists(path):
                raise FileExistsError(f"{path} exists, and overwrite is False")
            hdf5.save_weights(path, self.layers)
            return
        named = list(_named(self.layers))
        values = batch_get_value([w for _, w in named])
        rows = {key: np.asarray(v) for (key, _), v in zip(named, values, strict=True)}
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_checkpoint(path, rows)
        update_checkpoint_state(os.path.dirname(path) or ".", path, [path])

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Load the weights of a file.

        Raises:
            ValueError: it has other layers or shapes; the model has no weights yet.
        """
        if not self.built:
            raise ValueError(
                "Unable to load weights saved in HDF5 format into a subclassed Model which has not "
                "created its variables yet. Call the Model first, then load the weights."
            )
        path = os.fspath(filepath)
        if _is_hdf5(path, None) or (os.path.isfile(path) and hdf5.holds_layers(path)):
            hdf5.load_weights(path, self.layers, by_name)
            return None
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading "
                "TensorFlow-formatted weights (got by_name=True to load_weights)."
            )
        checkpoint = read_checkpoint(path)
        pairs = [(w, checkpoint[_key(checkpoint, key, w)]) for key, w in _named(self.layers)]
        for w, value in pairs:
            if tuple(w.shape.as_list()) != value.shape:
                raise ValueError(
                    f"{path} has shape {value.shape} for {w.name}, and it has {w.shape}"
                )
        batch_set_value(pairs)
        return _Status()

    def save(
        self,
        filepath: Any,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: Any = None,
        **kwargs: Any,
    ) -> None:
        """Save the model: its configuration, weights and optimizer."""
        from byparts_tf_keras.save_model import save_model  # few programs save whole models

        save_model(self, filepath, overwrite, include_optimizer, save_format)

    def get_config(self) -> dict[str, Any]:
        """The layers and their connections, as data."""
        raise NotImplementedError

    def to_json(self, **kwargs: Any) -> str:
        """Class and configuration, as JSON."""
        record = {
            "class_name": type(self).__name__,
            "config": self.get_config(),
            "keras_version": "2.2.4-tf",
            "backend": "tensorflow",
        }
        return json.dumps(record, default=plain, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """Refused.

        Raises:
            NotImplementedError: always; JSON says the same.
        """
        raise NotImplementedError("to_yaml is not here: use to_json and model_from_json")


class _Status:
    """The answer of `load_weights` for a checkpoint: all of it was found, else it raised."""

    def assert_consumed(self) -> _Status:
        """All of it was found."""
        return self

    assert_existing_objects_matched = assert_consumed

    def expect_partial(self) -> _Status:
        """Accepted."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Done already."""

    run_restore_ops = initialize_or_restore


def _is_hdf5(path: str, save_format: Any) -> bool:
    if save_format is None:
        return path.endswith((".h5", ".keras", ".hdf5"))
    form = str(save_format).lower().strip()
    if form in ("h5", "hdf5", "keras"):
        return True
    if form in ("tf", "tensorflow"):
        return False
    raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')


def _named(layers: list[Any]) -> Iterator[tuple[str, Any]]:
    """(key in a checkpoint, weight)."""
    number = 0
    for layer in layers:
        weights = layer.weights
        if not weights:
            continue
        short = [w.op.name.rpartition("/")[2] for w in weights]
        for w, last in zip(weights, short, strict=True):
            inner = last if short.count(last) == 1 else w.op.name
            yield f"layer_with_weights-{number}/{inner}{_END}", w
        number += 1


def _key(checkpoint: Any, key: str, weight: Any) -> str:
    """The name of the weight in the checkpoint.

    Raises:
        ValueError: it has none.
    """
    if key in checkpoint:
        return key
    if weight.op.name in checkpoint:
        return str(weight.op.name)
    begin, _, inner = key.removesuffix(_END).partition("/")
    last = inner.rpartition("/")[2]
    like = [
        k
        for k in checkpoint
        if k.startswith(f"{begin}/") and k.endswith(f"/{last}{_END}") and "OPTIMIZER_SLOT" not in k
    ]
    if len(like) != 1:
        raise ValueError(f"the checkpoint has no {weight.op.name!r} ({key})")
    return str(like[0])


@symbol("keras.models.model_from_json")
def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """The model of `to_json`, with new weights.

    Raises:
        ValueError: the text is no JSON, or what it says is no model.
    """
    with refusing("the JSON of a model"):
        return layer_of(json.loads(json_string), custom_objects)


@symbol("keras.models.model_from_config")
def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """The model of a class and a configuration, with new weights.

    Raises:
        TypeError: it is a list.
        ValueError: what it says is no model.
    """
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    with refusing("the configuration of a model"):
        return layer_of(config, custom_objects)
