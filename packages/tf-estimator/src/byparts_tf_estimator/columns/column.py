"""Columns of features, and the features of a batch, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.sparse.dense import sparse_tensor_to_dense
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_files.dtypes import string


class FeatureColumn:
    """A rule that makes numbers of one or several features of examples."""

    @property
    def name(self) -> str:
        """The name of its variables, by which columns are ordered, too."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Name of a feature -> how it is read from an `Example`."""
        raise NotImplementedError

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _replace(self, **changes: Any) -> Any:
        return replace(self, **changes)  # type: ignore[type-var]  # all are dataclasses


class DenseColumn(FeatureColumn):
    """A column that is numbers of one shape."""

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of the numbers of one example."""
        raise NotImplementedError

    def dense(self, batch: Batch, trainable: bool, collections: Any) -> Tensor:
        """The numbers, [examples, *variable_shape]."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ids:
    """Categories of examples: [examples, most of one example], -1 where there is none."""

    ids: Tensor
    weights: Optional[Tensor] = None


class CategoricalColumn(FeatureColumn):
    """A column that is categories by number."""

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        raise NotImplementedError

    def ids(self, batch: Batch) -> Ids:
        """The categories of each example."""
        raise NotImplementedError


class Batch:
    """The features of a batch of examples.

    Args:
        features: name -> tensor or sparse tensor, the first axis being that of the examples.

    Raises:
        ValueError: it is no dict.
    """

    def __init__(self, features: Any) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features!r}")
        self._features = dict(features)
        self._ids: dict[Any, Ids] = {}

    def raw(self, key: str) -> Any:
        """A feature as it is given, with an axis more where it has but one.

        Raises:
            ValueError: there is none, or it has no axis.
        """
        if key not in self._features:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        given = self._features[key]
        if hasattr(given, "dense_shape"):
            return given
        tensor = convert_to_tensor(given)
        rank = tensor.get_shape().ndims
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}")
        return expand_dims(tensor, -1) if rank == 1 else tensor

    def tensors(self) -> list[Any]:
        """All features."""
        return [v for v in self._features.values() if isinstance(v, Tensor)]

    def filled(self, key: str) -> Tensor:
        """A feature of categories as a tensor; -1 or "" where there is none."""
        given = self.raw(key)
        if not hasattr(given, "dense_shape"):
            return given  # type: ignore[no-any-return]  # a tensor
        nothing: Any = "" if given.dtype is string else -1
        return sparse_tensor_to_dense(given, default_value=nothing, validate_indices=False)

    def ids(self, column: CategoricalColumn) -> Ids:
        """The categories of a column, computed once."""
        if column not in self._ids:
            self._ids[column] = column.ids(self)
        return self._ids[column]


def known(ids: Tensor) -> Tensor:
    """Whether there is a category."""
    return ids >= 0  # type: ignore[no-any-return]  # a tensor


def at_least_zero(ids: Tensor) -> Tensor:
    """The categories, 0 where there is none."""
    return where(known(ids), ids, 0 * ids)
