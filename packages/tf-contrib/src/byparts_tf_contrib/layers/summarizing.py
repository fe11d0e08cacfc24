"""`tf.contrib.layers.summarize_*`: summaries of tensors by what they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import greater, less
from byparts_frontend_tf.api.math.reduce import reduce_mean
from byparts_frontend_tf.api.summary.summary import histogram, scalar
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32

_PREFIXES = ("contrib.layers", "contrib.layers.summaries")


def _names(name: str) -> list[str]:
    return [f"{prefix}.{name}" for prefix in _PREFIXES]


def _share(holds: Any, name: str) -> None:
    scalar(name, reduce_mean(cast(holds, float32)))


@symbol(*_names("summarize_activation"))
def summarize_activation(op: Any) -> Any:
    """A histogram of an activation, and how much of it is cut off."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        _share(less(op.op.inputs[0], 0.0), f"{op.op.name}/zeros")
    if op.op.type == "Relu6":
        _share(greater(op.op.inputs[0], 6.0), f"{op.op.name}/sixes")
    return histogram(f"{op.op.name}/activation", op)


@symbol(*_names("summarize_tensor"))
def summarize_tensor(tensor: Any, tag: Optional[str] = None) -> Any:
    """A summary of one number, or a histogram; `None` of what is a summary."""
    if tensor.op.type.endswith("Summary"):
        return None
    make = scalar if tensor.get_shape().ndims == 0 else histogram
    return make(tag or tensor.op.name, tensor)


@symbol(*_names("summarize_tensors"))
def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """A summary of each."""
    return [summarizer(tensor) for tensor in tensors]


@symbol(*_names("summarize_collection"))
def summarize_collection(
    collection: str,
    name_filter: Optional[str] = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """A summary of each tensor of a collection whose name matches."""
    members = get_collection(collection)
    wanted = [t for t in members if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(wanted, summarizer)


@symbol(*_names("summarize_activations"))
def summarize_activations(
    name_filter: Optional[str] = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """A summary of each activation."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


@symbol(*_names("summarize_variables"))
def summarize_variables(name_filter: Optional[str] = None) -> list[Any]:
    """A summary of each variable."""
    return summarize_collection(GraphKeys.GLOBAL_VARIABLES, name_filter)


@symbol(*_names("summarize_weights"))
def summarize_weights(name_filter: Optional[str] = None) -> list[Any]:
    """A summary of what is in the collection of weights."""
    return summarize_collection(GraphKeys.WEIGHTS, name_filter)


@symbol(*_names("summarize_biases"))
def summarize_biases(name_filter: Optional[str] = None) -> list[Any]:
    """A summary of what is in the collection of biases."""
    return summarize_collection(GraphKeys.BIASES, name_filter)
