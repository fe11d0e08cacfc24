"""Rows of sparse tensors: filled where they are empty, as indicators, merged from ids."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.math.binary import equal
from byparts_frontend_tf.api.math.reduce import reduce_any
from byparts_frontend_tf.api.math.unary import logical_not
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.sparse.dense import sparse, sparse_tensor_to_dense
from byparts_frontend_tf.api.sparse.reshape import host_order, sparse_reorder
from byparts_frontend_tf.api.where import boolean_mask
from byparts_frontend_tf.graph.composites import IndexedSlices, SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, int64


def _filled(indices: Any, shape: Any) -> tuple[Any, Any, Any]:
    """The order of all elements and of new ones behind them, their places, which rows are new."""
    rows = int(shape[0])
    empty = np.ones(rows, bool)
    empty[indices[:, 0]] = False
    new = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    new[:, 0] = np.flatnonzero(empty)
    places = np.concatenate([indices, new])
    order = host_order(places)
    return np.minimum(order, len(indices)), places[order], empty


FILLED = Kind(
    "SparseFillEmptyRows",
    host=_filled,
    shape=lambda inputs: [(None,), (None, *(inputs[0].dims or (None, None))[1:]), (None,)],
    dtype=(int64, int64, bool_),
    gradient=False,
)


@symbol("sparse_fill_empty_rows", "sparse.fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: Optional[str] = None
) -> tuple[SparseTensor, Tensor]:
    """With an element in the first column of each row that has none; which rows these are."""
    with name_scope(name, "SparseFillEmptyRows"):
        sp = sparse(sp_input)
        default = convert_to_tensor(default_value, sp.dtype.base_dtype)
        order, places, empty = FILLED.outputs(sp.indices, sp.dense_shape)
        values = gather(concat([sp.values, reshape(default, [1])], 0), order)
        return SparseTensor(places, values, sp.dense_shape), empty


@symbol("sparse_to_indicator", "sparse.to_indicator")
def sparse_to_indicator(sp_input: Any, vocab_size: int, name: Optional[str] = None) -> Tensor:
    """[..., vocab_size]: whether an id is in a row."""
    with name_scope(name, "SparseToIndicator"):
        sp = sparse(sp_input)
        ids = SparseTensor(sp.indices, ones_like(sp.values, dtype=bool_), sp.dense_shape)
        made = sparse_merge(sp, ids, vocab_size)
        return sparse_tensor_to_dense(made, False)


@symbol("sparse_merge", "sparse.merge")
def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: Optional[str] = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """The values at the ids of each row: [..., vocab_size]."""
    with name_scope(name, "SparseMerge"):
        several = list(sp_ids) if isinstance(sp_ids, (list, tuple)) else [sp_ids]
        sizes = list(vocab_size) if isinstance(vocab_size, (list, tuple)) else [vocab_size]
        ids, values = [sparse(s) for s in several], sparse(sp_values)
        columns = [expand_dims(cast(s.values, int64), 1) for s in ids]
        places = concat([ids[0].indices[:, :-1], *columns], 1)
        size = [cast(convert_to_tensor(v), int64) for v in sizes]
        shape = concat([ids[0].dense_shape[:-1], *[reshape(v, [1]) for v in size]], 0)
        made = SparseTensor(places, values.values, shape)
        return made if already_sorted else sparse_reorder(made)


@symbol("sparse_mask", "sparse.mask")
def sparse_mask(a: IndexedSlices, mask_indices: TensorLike, name: Optional[str] = None) -> Any:
    """IndexedSlices without the rows at these indices."""
    with name_scope(name, "sparse_mask"):
        gone = convert_to_tensor(mask_indices, a.indices.dtype.base_dtype)
        found = reduce_any(_equal(a.indices, gone), 1)
        kept = logical_not(found)
        values = boolean_mask(a.values, kept)
        return IndexedSlices(values, boolean_mask(a.indices, kept), a.dense_shape)


def _equal(a: Tensor, b: Tensor) -> Tensor:
    found: Tensor = equal(expand_dims(a, 1), expand_dims(b, 0))
    return found
