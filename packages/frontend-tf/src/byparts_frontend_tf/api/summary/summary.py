"""`tf.summary`: operations that give summaries, for files that TensorBoard reads.

Each gives a serialized `Summary`, a text that a `FileWriter` puts into its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import string
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.messages.summary import Summary
from byparts_tf_files.summaries import (
    audio_summary,
    histogram_summary,
    image_summary,
    scalar_summary,
    text_summary,
)


def _kind(type: str, host: Any) -> Kind:
    """A kind that gives one text, on the host."""
    return Kind(type, host=host, shape=lambda inputs, **_: (), dtype=string, gradient=False)


def _bytes(summary: Summary) -> Any:
    return np.array(summary.SerializeToString(), object)


_SCALAR = _kind("ScalarSummary", lambda x, tag: _bytes(scalar_summary(tag, x)))
_HISTOGRAM = _kind("HistogramSummary", lambda x, tag: _bytes(histogram_summary(tag, x)))
_IMAGE = _kind(
    "ImageSummary",
    lambda x, tag, max_images: _bytes(image_summary(tag, x, max_images)),
)
_TEXT = _kind("TensorSummaryV2", lambda x, tag: _bytes(text_summary(tag, x)))
_AUDIO = _kind(
    "AudioSummaryV2",
    lambda x, rate, tag, max_outputs: _bytes(
        audio_summary(tag, np.asarray(x), float(rate), max_outputs)
    ),
)


def _merged(*parts: Any) -> Any:
    whole, tags = Summary(), set[str]()
    for part in parts:
        for one in np.ravel(part):
            for value in Summary.FromString(bytes(one)).value:
                if value.tag in tags:
                    raise InvalidArgumentError(
                        None, None, f"Duplicate tag {value.tag} found in summary inputs"
                    )
                tags.add(value.tag)
                whole.value.append(value)
    return _bytes(whole)


_MERGE = _kind("MergeSummary", _merged)


def _made(
    kind: Kind,
    name: str,
    inputs: Sequence[Any],
    collections: Optional[Iterable[str]],
    family: Optional[str],
    **attributes: Any,
) -> Tensor:
    """A summary whose tag is its name scope; added to collections, SUMMARIES by default."""
    clean = _clean(name)
    within = clean if family is None else f"{_clean(family)}/{clean}"
    with name_scope(within) as scope:
        tag = scope.rstrip("/") if family is None else f"{_clean(family)}/{scope.rstrip('/')}"
        made = kind(*map(convert_to_tensor, inputs), name=scope, tag=tag, **attributes)
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        add_to_collection(key, made)
    return made


def _clean(name: str) -> str:
    """With `_` for what a name of an operation may not have."""
    kept = [c if c.isalnum() or c in "_.\\-/" else "_" for c in str(name)]
    return "".join(kept).lstrip("/")


@symbol("summary.scalar")
def scalar(
    name: str, tensor: TensorLike, collections: Any = None, family: Optional[str] = None
) -> Tensor:
    """A summary of one number."""
    return _made(_SCALAR, name, [tensor], collections, family)


@symbol("summary.histogram")
def histogram(
    name: str, values: TensorLike, collections: Any = None, family: Optional[str] = None
) -> Tensor:
    """A summary of how numbers are distributed."""
    return _made(_HISTOGRAM, name, [values], collections, family)


@symbol("summary.image")
def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Any = None,
    family: Optional[str] = None,
) -> Tensor:
    """A summary of the first images of [batch, height, width, 1, 3 or 4]."""
    return _made(_IMAGE, name, [tensor], collections, family, max_images=int(max_outputs))


@symbol("summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Any = None,
    family: Optional[str] = None,
) -> Tensor:
    """A summary of the first sounds of [batch, frames] or [batch, frames, channels]."""
    given = [tensor, convert_to_tensor(sample_rate, "float32")]
    return _made(_AUDIO, name, given, collections, family, max_outputs=int(max_outputs))


@symbol("summary.text")
def text(name: str, tensor: TensorLike, collections: Any = None) -> Tensor:
    """A summary of texts."""
    return _made(_TEXT, name, [tensor], collections, None)


@symbol("summary.merge", "contrib.deprecated.merge_summary")
def merge(inputs: Sequence[Any], collections: Any = None, name: Optional[str] = None) -> Tensor:
    """Merge several summaries into one.

    A run raises `InvalidArgumentError` where two have one tag.
    """
    made = _MERGE(*map(convert_to_tensor, inputs), name=_clean(name) if name else name)
    for key in collections or ():
        add_to_collection(key, made)
    return made


@symbol("summary.merge_all", "contrib.deprecated.merge_all_summaries")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: Optional[str] = None, name: Optional[str] = None
) -> Optional[Tensor]:
    """Merge all summaries in the collection; `None` if there is none."""
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


def _tagged(
    kind: Kind, tag: Any, x: TensorLike, collections: Any, name: Any, **more: Any
) -> Tensor:
    made = kind(convert_to_tensor(x), name=name, tag=str(tag), **more)
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        add_to_collection(key, made)
    return made


@symbol("contrib.deprecated.scalar_summary")
def scalar_summary_of_tag(
    tags: str, values: TensorLike, collections: Any = None, name: Optional[str] = None
) -> Tensor:
    """A summary of one number, whose tag is given."""
    return _tagged(_SCALAR, tags, values, collections, name)


@symbol("contrib.deprecated.histogram_summary")
def histogram_summary_of_tag(
    tag: str, values: TensorLike, collections: Any = None, name: Optional[str] = None
) -> Tensor:
    """A summary of how numbers are distributed, whose tag is given."""
    return _tagged(_HISTOGRAM, tag, values, collections, name)


@symbol("contrib.deprecated.image_summary")
def image_summary_of_tag(
    tag: str,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """A summary of the first images of a batch, whose tag is given."""
    return _tagged(_IMAGE, tag, tensor, collections, name, max_images=int(max_images))
