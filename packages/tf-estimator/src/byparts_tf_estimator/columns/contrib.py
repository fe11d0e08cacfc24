"""Columns of `tf.contrib.layers`: those of `tf.feature_column` by older names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.initializers import TruncatedNormal
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.columns.categorical import (
    HashedColumn,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    weighted_categorical_column,
)
from byparts_tf_estimator.columns.column import CategoricalColumn
from byparts_tf_estimator.columns.crossed import CrossedColumn, crossed_column as crossed
from byparts_tf_estimator.columns.dense import (
    NumericColumn,
    numeric_column,
)
from byparts_tf_estimator.columns.embeddings import EmbeddingColumn, embedding_column as embedded
from byparts_tf_estimator.columns.layer import input_layer, linear_model
from byparts_tf_estimator.columns.vocabularies import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from byparts_tf_files.dtypes import float32, int64, string


@symbol("contrib.layers.real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = float32,
    normalizer: Optional[Callable[..., Any]] = None,
) -> NumericColumn:
    """Numbers of a feature.  See `tf.feature_column.numeric_column`."""
    return numeric_column(column_name, [dimension], default_value, dtype, normalizer)


@symbol("contrib.layers.sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = string,
    hash_keys: Any = None,
) -> HashedColumn:
    """See `tf.feature_column.categorical_column_with_hash_bucket`."""
    return categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


@symbol("contrib.layers.sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str,
    keys: Any,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = string,
) -> CategoricalColumn:
    """See `tf.feature_column.categorical_column_with_vocabulary_list`."""
    return categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value)


@symbol("contrib.layers.sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = string,
) -> CategoricalColumn:
    """See `tf.feature_column.categorical_column_with_vocabulary_file`."""
    other = None if num_oov_buckets else default_value
    given = (vocab_size, num_oov_buckets, other, dtype)
    return categorical_column_with_vocabulary_file(column_name, vocabulary_file, *given)


@symbol("contrib.layers.sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = int64
) -> CategoricalColumn:
    """See `tf.feature_column.categorical_column_with_identity`."""
    return categorical_column_with_identity(column_name, bucket_size)


@symbol("contrib.layers.weighted_sparse_column")
def weighted_sparse_column(
    sparse_id_column: CategoricalColumn, weight_column_name: str, dtype: Any = float32
) -> CategoricalColumn:
    """See `tf.feature_column.weighted_categorical_column`."""
    return weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


@symbol("contrib.layers.crossed_column")
def crossed_column(
    columns: Sequence[CategoricalColumn],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    hash_key: Optional[int] = None,
) -> CrossedColumn:
    """See `tf.feature_column.crossed_column`; hashed columns are crossed by their texts."""
    keys = [c.key if isinstance(c, HashedColumn) else c for c in columns]
    return crossed(keys, hash_bucket_size, hash_key)


@symbol("contrib.layers.embedding_column")
def embedding_column(
    sparse_id_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """See `tf.feature_column.embedding_column`; it begins with values of deviation 1 / sqrt(n)."""
    first = initializer or TruncatedNormal(0.0, 1 / math.sqrt(sparse_id_column.num_buckets))
    given = (combiner, first, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    return embedded(sparse_id_column, dimension, *given)


@symbol("contrib.layers.input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Optional[str] = None,
) -> Tensor:
    """See `tf.feature_column.input_layer`."""
    with variable_scope(scope, "input_from_feature_columns"):
        return input_layer(columns_to_tensors, feature_columns, weight_collections, trainable)


@symbol("contrib.layers.weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Optional[str] = None,
) -> tuple[Tensor, dict[Any, Any], Any]:
    """The sums, column -> its variables, and the bias.  See `tf.feature_column.linear_model`."""
    made: dict[Any, Any] = {}
    given = ("sum", weight_collections, trainable, made)
    with variable_scope(scope, "weighted_sum_from_feature_columns"):
        total = linear_model(columns_to_tensors, feature_columns, num_outputs, *given)
    (bias,) = made.pop("bias")
    return total, made, bias


SYMBOLS = {
    "contrib.layers.bucketized_column": "columns.dense:bucketized_column",
    "contrib.layers.one_hot_column": "columns.dense:indicator_column",
    "contrib.layers.create_feature_spec_for_parsing": "columns.layer:make_parse_example_spec",
}
