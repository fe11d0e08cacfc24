"""Descriptions of the features to read of an Example: `FixedLenFeature` and its like."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.arrays import as_array
from byparts_tf_files.dtypes import as_dtype, string
from byparts_tf_files.shape import as_dims


@symbol("FixedLenFeature", "io.FixedLenFeature")
class FixedLenFeature(
    namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
):
    """A feature with as many values as the shape has, read as a dense tensor."""

    __slots__ = ()


@symbol("FixedLenSequenceFeature", "io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    namedtuple(
        "FixedLenSequenceFeature",
        ["shape", "dtype", "allow_missing", "default_value"],
        defaults=[False, None],
    )
):
    """Any number of times as many values as the shape has: a dense tensor, filled up."""

    __slots__ = ()


@symbol("VarLenFeature", "io.VarLenFeature")
class VarLenFeature(namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values: a sparse tensor."""

    __slots__ = ()


@symbol("SparseFeature", "io.SparseFeature")
class SparseFeature(
    namedtuple(
        "SparseFeature",
        ["index_key", "value_key", "dtype", "size", "already_sorted"],
        defaults=[False],
    )
):
    """Values with their indices, which stand under other keys: a sparse tensor."""

    __slots__ = ()


KINDS = {"float32": 2, "int64": 3, "string": 1}  # dtype -> number of the field of a `Feature`
NAMES = {1: "string", 2: "float", 3: "int64"}


def checked(features: Any, sequences: bool = False) -> dict[str, Any]:
    """The features, by their names in order.

    Args:
        features: name -> feature.
        sequences: whether they are of the lists of a SequenceExample.

    Raises:
        ValueError: there is none, or one cannot be read so.
    """
    if not features:
        raise ValueError("Missing: features was None or empty.")
    if not isinstance(features, Mapping):
        raise ValueError(f"features is a dict of names, and not {features!r:.60}")
    names = sorted(features)
    return {_text(n): _feature(n, features[n], sequences) for n in names}


def _text(name: Any) -> str:
    return name if isinstance(name, str) else bytes(name).decode()


def _feature(name: Any, given: Any, sequences: bool) -> Any:
    kinds: tuple[Any, ...] = (VarLenFeature, FixedLenSequenceFeature)
    if not sequences:
        kinds = (*kinds, FixedLenFeature, SparseFeature)
    if not isinstance(given, kinds):
        raise ValueError(f"Invalid feature {name}:{given}.")
    if not given.dtype:
        raise ValueError(f"Missing type for feature {name}.")
    dtype = as_dtype(given.dtype).base_dtype
    if dtype.name not in KINDS:
        raise ValueError(f"Feature {name} is of {dtype.name}: expected float32, int64 or string")
    given = given._replace(dtype=dtype)
    if isinstance(given, (FixedLenFeature, FixedLenSequenceFeature)):
        return _dense(name, given, sequences)
    return given


def _dense(name: Any, given: Any, sequences: bool) -> Any:
    if given.shape is None:
        raise ValueError(f"Missing shape for feature {name}.")
    dims = as_dims(given.shape)
    if isinstance(given, FixedLenFeature):
        if dims and dims[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {name} unknown. Consider using "
                "FixedLenSequenceFeature."
            )
    elif not given.allow_missing and not sequences:
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    if dims is None or None in dims:
        raise ValueError(
            f"All dimensions of shape for feature {name} need to be known but received {dims}."
        )
    return given._replace(shape=dims, default_value=_default(given, dims))


def _default(given: Any, dims: Any) -> Any:
    """The array that stands for a missing feature; `None`: nothing does.

    Raises:
        ValueError: it is a tensor whose value is not known while the graph is built.
    """
    value = given.default_value
    if isinstance(value, Tensor):
        value = static_value(value)
        if value is None:
            raise ValueError(f"The default value {given.default_value} has to be a constant.")
    if isinstance(given, FixedLenSequenceFeature):
        if value is None:
            value = b"" if given.dtype is string else 0
        return as_array(value, given.dtype)
    if value is None:
        return None
    array = as_array(value, given.dtype)
    if array.size == 1 and not array.ndim:
        return np.broadcast_to(array, dims).copy()
    return array.reshape(dims)
