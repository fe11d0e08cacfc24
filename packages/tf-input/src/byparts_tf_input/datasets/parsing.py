"""`tf.parse_example` and its like: the operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64, string
from byparts_tf_files.shape import Dims
from byparts_tf_input.datasets.elements import Spec, components, joined
from byparts_tf_input.datasets.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    checked,
)
from byparts_tf_input.datasets.parse_example import of_lists, of_many, of_one

Parsed = dict[str, Any]  # name -> Tensor or SparseTensor


def _kind(type: str, host: Callable[..., Any]) -> Kind:
    return Kind(
        type,
        host=lambda data, features, parts: _alone(host(data, features)),
        shape=lambda i, parts, **_: [dims for _, dims in parts],
        dtype=lambda i, parts, **_: [dtype for dtype, _ in parts],
        gradient=False,
    )


def _alone(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays


PARSE_ONE = _kind("ParseSingleExample", lambda d, f: of_one(d, f, int64))
PARSE_MANY = _kind("ParseExample", lambda d, f: of_many(d, f, int64))
PARSE_LISTS = _kind("ParseSingleSequenceExample", of_lists)


def _specs(features: dict[str, Any], batch: Sequence[Optional[int]]) -> list[Spec]:
    """Specs of the results, one for each feature; `batch`: the axes in front."""
    return [_spec(f, (*batch,)) for f in features.values()]


def _spec(feature: Any, batch: tuple[Optional[int], ...]) -> Spec:
    if isinstance(feature, FixedLenFeature):
        return Spec(feature.dtype, (*batch, *feature.shape))
    if isinstance(feature, FixedLenSequenceFeature):
        return Spec(feature.dtype, (*batch, None, *feature.shape))
    rank = 1
    if isinstance(feature, SparseFeature):
        rank = 1 if isinstance(feature.index_key, str) else len(feature.index_key)
    return Spec(feature.dtype, (*batch, *(None,) * rank), SparseTensor)


def _parsed(
    kind: Kind, serialized: Tensor, features: dict[str, Any], specs: list[Spec], name: Any
) -> Parsed:
    outputs = kind.outputs(serialized, name=name, features=features, parts=components(specs))
    return dict(zip(features, joined(specs, outputs, SparseTensor), strict=True))


@symbol("parse_example", "io.parse_example")
def parse_example(
    serialized: TensorLike, features: Any, name: Optional[str] = None, example_names: Any = None
) -> Parsed:
    """The features of a batch of serialized Examples: name -> tensor or sparse tensor.

    Args:
        serialized: strings [batch].
        features: name -> `FixedLenFeature` and its like.
        name: of the operation.
        example_names: accepted.

    Raises:
        ValueError: features cannot be read so.
    """
    wanted = checked(features)
    with name_scope(name, "ParseExample", [serialized]):
        data = convert_to_tensor(serialized, string, "serialized")
        data.shape.with_rank(1)
        batch = (None,) if data.dims is None else data.dims
        return _parsed(PARSE_MANY, data, wanted, _specs(wanted, batch), None)


@symbol("parse_single_example", "io.parse_single_example")
def parse_single_example(
    serialized: TensorLike, features: Any, name: Optional[str] = None, example_names: Any = None
) -> Parsed:
    """The features of one serialized Example: name -> tensor or sparse tensor.

    Args:
        serialized: a string.
        features: name -> `FixedLenFeature` and its like.
        name: of the operation.
        example_names: accepted.

    Raises:
        ValueError: features cannot be read so, or the string is no scalar.
    """
    wanted = checked(features)
    with name_scope(name, "ParseSingleExample", [serialized]):
        data = convert_to_tensor(serialized, string, "serialized")
        data.shape.with_rank(0)
        return _parsed(PARSE_ONE, data, wanted, _specs(wanted, ()), None)


@symbol("parse_single_sequence_example", "io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: Optional[str] = None,
) -> tuple[Parsed, Parsed]:
    """The context and the lists of one serialized SequenceExample.

    Args:
        serialized: a string.
        context_features: name -> `FixedLenFeature` and its like.
        sequence_features: name -> `FixedLenSequenceFeature` or `VarLenFeature`.
        example_name: accepted.
        name: of the operation.

    Raises:
        ValueError: features cannot be read so.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        data = convert_to_tensor(serialized, string, "serialized")
        context, lists = {}, {}
        if context_features:
            wanted = checked(context_features)
            context = _parsed(PARSE_ONE, data, wanted, _specs(wanted, ()), None)
        if sequence_features:
            wanted = checked(sequence_features, sequences=True)
            specs = [_list_spec(f) for f in wanted.values()]
            lists = _parsed(PARSE_LISTS, data, wanted, specs, None)
        return context, lists


def _list_spec(feature: Any) -> Spec:
    if isinstance(feature, VarLenFeature):
        return Spec(feature.dtype, (None, None), SparseTensor)
    dims: Dims = (None, *feature.shape)
    return Spec(feature.dtype, dims)
