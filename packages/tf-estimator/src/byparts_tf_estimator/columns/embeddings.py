"""Columns of vectors that are learned, one for each category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from byparts_frontend_tf.api.initializers import TruncatedNormal
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.variables.variable_scope import get_variable
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.column import (
    Batch,
    CategoricalColumn,
    DenseColumn,
)
from byparts_tf_estimator.columns.dense import categorical
from byparts_tf_estimator.columns.looking_up import combined
from byparts_tf_files.dtypes import float32


@dataclass(frozen=True)
class EmbeddingColumn(DenseColumn):
    """See `embedding_column`."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str = "mean"
    initializer: Any = None
    ckpt_to_load_from: Optional[str] = None
    tensor_name_in_ckpt: Optional[str] = None
    max_norm: Optional[float] = None
    trainable: bool = True
    shared_name: Optional[str] = None

    @property
    def name(self) -> str:
        """The name of the categories, and _embedding or _shared_embedding."""
        shared = "" if self.shared_name is None else "_shared"
        return f"{self.categorical_column.name}{shared}_embedding"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Specs of the features of the categories."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """`dimension` numbers."""
        return (self.dimension,)

    def dense(self, batch: Batch, trainable: bool, collections: Any) -> Tensor:
        """The combined vectors of the categories of each example; 0 if it has none."""
        found = batch.ids(self.categorical_column)
        table = self._table(trainable and self.trainable, collections)
        return combined(
            lambda ids: embedding_lookup(table, ids, max_norm=self.max_norm),
            found,
            self.combiner,
        )

    def _table(self, trainable: bool, collections: Any) -> Any:
        if self.shared_name is None:
            return self._new_table("embedding_weights", trainable, collections)
        graph = get_default_graph()
        tables = graph.__dict__.setdefault("_shared_embeddings", {})
        if self.shared_name not in tables:
            tables[self.shared_name] = self._new_table("embedding_weights", trainable, collections)
        return tables[self.shared_name]

    def _new_table(self, name: str, trainable: bool, collections: Any) -> Any:
        table = get_variable(
            name,
            shape=[self.categorical_column.num_buckets, self.dimension],
            dtype=float32,
            initializer=self.initializer,
            trainable=trainable,
            collections=collections,
        )
        if self.ckpt_to_load_from is not None:
            names = {self.tensor_name_in_ckpt: table}
            named("train.init_from_checkpoint")(self.ckpt_to_load_from, names)
        return table


@symbol("feature_column.embedding_column")
def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A vector of each category, learned; those of one example combined.

    Args:
        categorical_column: the categories.
        dimension: of the vectors.
        combiner: "mean", "sqrtn" or "sum".
        initializer: by default normal, of deviation 1 / sqrt(dimension).
        ckpt_to_load_from: a checkpoint that has the vectors.
        tensor_name_in_ckpt: their name there.
        max_norm: vectors that are longer are made so long.
        trainable: whether they are learned.

    Raises:
        ValueError: the dimension is not positive; only one of a checkpoint and a name is given.
    """
    initializer = _checked_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    where = ckpt_to_load_from, tensor_name_in_ckpt
    column = categorical(categorical_column)
    return EmbeddingColumn(column, dimension, combiner, initializer, *where, max_norm, trainable)


def _checked_embedding(dimension: Any, initializer: Any, path: Any, name: Any) -> Any:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (path is None) != (name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    return initializer or TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))


@symbol("feature_column.shared_embedding_columns", "feature_column.shared_embeddings")
def shared_embedding_columns(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: Optional[str] = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> list[EmbeddingColumn]:
    """An `embedding_column` for each of several columns of categories, of one table.

    Raises:
        ValueError: they have different numbers of categories; as `embedding_column`.
    """
    initializer = _checked_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    columns = [categorical(c) for c in categorical_columns]
    counts = {c.name: c.num_buckets for c in columns}
    if len(set(counts.values())) > 1:
        raise ValueError(
            "To use shared_embedding_column, all categorical_columns must have the same number of "
            f"buckets. Given: {counts}"
        )
    name = shared_embedding_collection_name
    name = name or "_".join(sorted([c.name for c in columns])) + "_shared_embedding"
    how = (initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable, name)
    return [EmbeddingColumn(c, dimension, combiner, *how) for c in columns]
