"""Embeddings of bags of ids: the rows of a table at sparse ids, combined."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.math.binary import div_no_nan, maximum
from byparts_frontend_tf.api.math.reduce import reduce_prod
from byparts_frontend_tf.api.math.segment import segment_sum, unsorted_segment_sum
from byparts_frontend_tf.api.math.unary import sqrt, square
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.sparse.dense import flat_places, numbers_of, sparse
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32, int64

_COMBINERS = ("mean", "sqrtn", "sum")


def _combined(
    rows: Tensor, weights: Optional[Tensor], bags: Tensor, count: Any, combiner: str
) -> Tensor:
    """The rows of each bag, weighted, summed, and divided as the combiner says."""
    if weights is None:
        ones = cast(ones_like(bags), rows.dtype.base_dtype)
        weights = ones if combiner != "sum" else None
        summed = rows
    else:
        weights = cast(weights, rows.dtype.base_dtype)
        summed = rows * reshape(weights, concat([shape_of(weights), [1] * _after(rows)], 0))

    def total(x: Tensor) -> Tensor:
        return segment_sum(x, bags) if count is None else unsorted_segment_sum(x, bags, count)

    made = total(summed)
    if combiner == "sum":
        return made
    assert weights is not None, "made above"
    by = total(weights) if combiner == "mean" else sqrt(total(square(weights)))
    return div_no_nan(made, reshape(by, concat([[-1], [1] * _after(rows)], 0)))


def _after(rows: Tensor) -> int:
    """Number of axes of a row; 1 where it is not known."""
    return 1 if rows.dims is None else len(rows.dims) - 1


def _checked(combiner: Optional[str]) -> str:
    found = "mean" if combiner is None else combiner
    if found not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', and is {combiner!r}")
    return found


@symbol("nn.embedding_lookup_sparse", "contrib.layers.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: Optional[str] = None,
    combiner: Optional[str] = None,
    max_norm: Any = None,
) -> Tensor:
    """The rows at the ids of each row of `sp_ids`, weighted, and their mean, sum or sum / sqrt(n).

    Raises:
        TypeError: the ids are not sparse.
        ValueError: another combiner.
    """
    how = _checked(combiner)
    ids = sparse(sp_ids)
    weights = None if sp_weights is None else sparse(sp_weights).values
    with name_scope(name, "embedding_lookup_sparse"):
        bags = cast(ids.indices[:, 0], int32)
        rows = embedding_lookup(params, ids.values, partition_strategy, max_norm=max_norm)
        return _combined(rows, weights, bags, None, how)


def _bags(indices: Value, shape: Any) -> Value:
    """Number of the row, over all axes but the last, that each place is in."""
    at = ops.getitem(indices, (slice(None), slice(0, indices.type.dims[1] - 1)))
    return flat_places(at, numbers_of(shape)[:-1])


BAGS = Kind(
    "SparseBags",
    _bags,
    values=(1,),
    shape=lambda inputs: (None if inputs[0].dims is None else inputs[0].dims[0],),
    dtype=int64,
    gradient=False,
)


@symbol("nn.safe_embedding_lookup_sparse", "contrib.layers.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: Optional[str] = "mean",
    default_id: Any = None,
    name: Optional[str] = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """Combine rows as `embedding_lookup_sparse`; negative ids and weights <= 0 do not count.

    Rows without an id are that of `default_id`, or zeros; ids may have more than two axes.
    """
    how = _checked(combiner)
    ids = sparse(sparse_ids)
    with name_scope(name, "embedding_lookup"):
        dims = ids.dense_shape[:-1]
        bags, count = BAGS(ids.indices, ids.dense_shape), reduce_prod(dims)
        valid = ids.values >= 0
        weights = cast(ones_like(ids.values), "float32")
        if sparse_weights is not None:
            weights = sparse(sparse_weights).values
            valid = valid if how == "sum" else valid & (weights > 0)
        weights = where(valid, weights, zeros_like(weights))
        at = maximum(ids.values, zeros_like(ids.values))
        rows = embedding_lookup(embedding_weights, at, partition_strategy, max_norm=max_norm)
        made = _combined(rows, weights, bags, count, how)
        if default_id is not None:
            some = unsorted_segment_sum(cast(valid, int32), bags, count) > 0
            other = embedding_lookup(
                embedding_weights, convert_to_tensor([default_id]), partition_strategy
            )
            made = where(some, made, zeros_like(made) + other)
        whole = reshape(made, concat([cast(dims, int32), shape_of(made)[1:]], 0))
        if ids.shape.ndims is not None:
            whole.set_shape([*[None] * (ids.shape.ndims - 1), *(made.dims or (None,))[1:]])
        return whole
