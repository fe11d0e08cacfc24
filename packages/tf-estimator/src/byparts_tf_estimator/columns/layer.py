"""`input_layer` and `linear_model`: columns as the first layer of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.binary import add_n
from byparts_frontend_tf.api.nn.activations import bias_add
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.columns.column import Batch, CategoricalColumn, DenseColumn, FeatureColumn
from byparts_tf_estimator.columns.looking_up import combined
from byparts_tf_files.dtypes import float32


def sorted_columns(given: Any) -> list[Any]:
    """Columns by their names.

    Raises:
        ValueError: there is none, two have one name, or one is none.
    """
    columns = [given] if isinstance(given, FeatureColumn) else list(given)
    if isinstance(given, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                "Items of feature_columns must be a _FeatureColumn. Given (type "
                f"{type(column)}): {column}."
            )
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    names = [c.name for c in columns]
    for column in columns:
        if names.count(column.name) > 1:
            same = [c for c in columns if c.name == column.name]
            raise ValueError(
                f"Duplicate feature column name found for columns: {same[0]} and {same[1]}."
            )
    return sorted(columns, key=lambda c: c.name)


@symbol("feature_column.input_layer")
def input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: Optional[dict[Any, Any]] = None,
    cols_to_output_tensors: Optional[dict[Any, Any]] = None,
) -> Tensor:
    """The numbers of dense columns side by side, in the order of their names.

    Args:
        features: name -> tensor.
        feature_columns: dense columns.
        weight_collections: of variables.
        trainable: whether variables are learned.
        cols_to_vars: is given the variables of each column.
        cols_to_output_tensors: is given the tensor of each column.

    Raises:
        ValueError: a column is not dense; as `sorted_columns`.
    """
    columns = sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    batch, parts = Batch(features), []
    with variable_scope(None, default_name="input_layer", values=batch.tensors()):
        for column in columns:
            with variable_scope(None, default_name=_scope_name(column)) as scope:
                made = column.dense(batch, trainable, _collections(weight_collections))
                width = prod(column.variable_shape)
                flat = reshape(made, [shape_of(made)[0], width])
                flat.set_shape([made.get_shape().as_list()[0], width])
                parts.append(flat)
                if cols_to_vars is not None:
                    key = GraphKeys.GLOBAL_VARIABLES
                    cols_to_vars[column] = get_collection(key, scope=f"{scope.name}/")
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = flat
        _check_batches(parts)
        return concat(parts, 1) if len(parts) > 1 else parts[0]


def _scope_name(column: Any) -> str:
    return getattr(column, "shared_name", None) or str(column.name)


def _collections(given: Any) -> Any:
    if given is None:
        return None
    keys = list(given)
    more = [] if GraphKeys.GLOBAL_VARIABLES in keys else [GraphKeys.GLOBAL_VARIABLES]
    return keys + more


def _check_batches(parts: Iterable[Tensor]) -> None:
    sizes = {t.get_shape().as_list()[0] for t in parts} - {None}
    if len(sizes) > 1:
        raise ValueError(f"Batch size (first dimension) of each feature must be same: {sizes}")


@symbol("feature_column.linear_model")
def linear_model(
    features: Any,
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: Optional[dict[Any, Any]] = None,
) -> Tensor:
    """A linear function of columns, of which those of categories have a weight for each.

    Args:
        features: name -> tensor.
        feature_columns: of any kind but indicators and embeddings of categories.
        units: numbers of the result.
        sparse_combiner: "sum", "mean" or "sqrtn": of the weights of several categories.
        weight_collections: of variables.
        trainable: whether variables are learned.
        cols_to_vars: is given the variables of each column, and those of "bias".

    Returns:
        [examples, units].
    """
    columns = sorted_columns(feature_columns)
    batch, keys = Batch(features), _collections(weight_collections)
    with variable_scope(None, default_name="linear_model", values=batch.tensors()):
        sums = []
        for column in columns:
            with variable_scope(None, default_name=column.name):
                made, weights = _weighted(column, batch, units, sparse_combiner, trainable, keys)
            sums.append(made)
            if cols_to_vars is not None:
                cols_to_vars[column] = [weights]
        bias = _variable("bias_weights", [units], trainable, keys)
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        total = add_n(sums) if len(sums) > 1 else sums[0]
        return bias_add(total, bias, name="weighted_sum")


def _variable(name: str, shape: list[int], trainable: bool, collections: Any) -> Any:
    given = {"trainable": trainable, "collections": collections}
    return get_variable(name, shape=shape, dtype=float32, initializer=Zeros(), **given)


def _weighted(
    column: Any, batch: Batch, units: int, combiner: str, trainable: bool, keys: Any
) -> tuple[Tensor, Any]:
    if isinstance(column, CategoricalColumn):
        weights = _variable("weights", [column.num_buckets, units], trainable, keys)
        return combined(
            lambda ids: embedding_lookup(weights, ids), batch.ids(column), combiner
        ), weights
    if not isinstance(column, DenseColumn):
        raise ValueError(f"Items of feature_columns must be dense or categorical. Given: {column}")
    width = prod(column.variable_shape)
    weights = _variable("weights", [width, units], trainable, keys)
    made = column.dense(batch, trainable, keys)
    return matmul(reshape(made, [shape_of(made)[0], width]), weights, name="weighted_sum"), weights


@symbol("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """Specs, by name, for reading the features of these columns from `Example`s.

    Raises:
        ValueError: two columns read one feature differently.
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column}"
            )
        for key, spec in column.parse_example_spec.items():
            if found.setdefault(key, spec) != spec:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given "
                    f"{spec} and {found[key]}"
                )
    return found
