"""Targets and weights of a model's outputs, as arrays that fit them."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_tf_keras.data import (
    class_weights,
)


class Expected:
    """The shape that targets are to have: as the output, or classes."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def get_shape(self) -> Any:
        shape = self._output.tensor.get_shape()
        if shape.ndims is None or not hasattr(self._output.loss, "fn"):
            return tf.TensorShape(None)
        dims = shape.as_list()
        if self._output.sparse:
            return tf.TensorShape([*dims[:-1], 1]) if len(dims) == 2 else tf.TensorShape(None)
        known = getattr(self._output.loss.fn, "__module__", "").startswith("byparts_frontend_tf")
        return shape if known else tf.TensorShape([None] * len(dims))


def check_sparse(outputs: list[Any], targets: list[Any]) -> None:
    """Classes of rank one less than the output have an axis more at the end."""
    for i, (o, t) in enumerate(zip(outputs, targets, strict=True)):
        rank = o.tensor.get_shape().ndims
        if o.sparse and rank is not None and t.ndim == rank - 1:
            targets[i] = np.expand_dims(t, -1)


def weights_of(
    weights: Any, classes: Any, outputs: list[Any], targets: list[Any]
) -> Optional[list[Any]]:
    """Arrays of weights, one for each output, if there are any."""
    if weights is None and not classes:
        return None
    names = [o.name for o in outputs]
    by_output = _each(weights, names)
    by_class = (
        _each(classes, names) if classes and not _is_plain(classes) else [classes] * len(names)
    )
    rows = []
    for w, c, t in zip(by_output, by_class, targets, strict=True):
        row = np.ones(t.shape[0], np.float32) if w is None else np.asarray(w)
        if c:
            row = row * class_weights(t, c)
        rows.append(row)
    return rows


def _is_plain(classes: Any) -> bool:
    return isinstance(classes, dict) and not any(isinstance(v, dict) for v in classes.values())


def _each(values: Any, names: list[str]) -> list[Any]:
    if isinstance(values, dict):
        return [values.get(n) for n in names]
    if isinstance(values, (list, tuple)) and len(values) == len(names):
        return list(values)
    return (
        [values] * len(names)
        if values is None or len(names) == 1
        else [values, *[None] * (len(names) - 1)]
    )
