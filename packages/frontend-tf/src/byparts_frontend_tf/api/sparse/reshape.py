"""Sparse tensors with other places: reordered, reshaped, cut, joined, filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number, renamed
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import minimum
from byparts_frontend_tf.api.math.reduce import reduce_max
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.sparse.dense import numbers_of, sparse
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32, int64
from byparts_tf_files.shape import Dims


def picked(sp: SparseTensor, at: Tensor, indices: Any = None, shape: Any = None) -> SparseTensor:
    """The elements number `at` [k] of a SparseTensor, at other places or their own."""
    places = gather(sp.indices, at) if indices is None else indices
    return SparseTensor(
        places, gather(identity(sp.values), at), sp.dense_shape if shape is None else shape
    )


def _places(inputs: Sequence[Tensor], **_: Any) -> Dims:
    return None if inputs[0].dims is None else (inputs[0].dims[0],)


def host_order(indices: Any) -> Any:
    """The numbers of places [n, rank] in the order of rows."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


ORDER = Kind("SparseOrder", host=host_order, shape=_places, dtype=int64, gradient=False)


@symbol("sparse.eye")
def sparse_eye(
    num_rows: TensorLike, num_columns: Any = None, dtype: Any = float32, name: Optional[str] = None
) -> SparseTensor:
    """Ones on the diagonal."""
    with name_scope(name, "eye"):
        rows = cast(num_rows, int64)
        columns = rows if num_columns is None else cast(num_columns, int64)
        at = range_of(minimum(rows, columns))
        ones = cast(at * 0 + 1, dtype)
        return SparseTensor(stack([at, at], 1), ones, stack([rows, columns]))


@symbol("sparse_reorder", "sparse.reorder")
def sparse_reorder(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """The elements in the order of rows."""
    with name_scope(name, "SparseReorder"):
        sp = sparse(sp_input)
        return picked(sp, ORDER(sp.indices))


def _new_shape(old: Any, new: Any) -> list[int]:
    size, dims = int(np.prod(numbers_of(old))), numbers_of(new)
    if dims.count(-1) == 1:
        rest = int(np.prod([d for d in dims if d != -1]))
        dims[dims.index(-1)] = size // max(rest, 1)
    if int(np.prod(dims)) != size:
        raise ValueError(f"Input to reshape is a SparseTensor with {size} dense values, not {dims}")
    return dims


def _reshaped(indices: Value, old: Any, new: Any) -> tuple[Value, Value]:
    dims = _new_shape(old, new)
    given = numbers_of(old)
    steps = [int(np.prod(given[i + 1 :])) for i in range(len(given))]
    flat = ops.sum(indices * ops.constant(np.array(steps, np.int64)), [1], keepdims=True)
    strides = ops.constant(np.array([int(np.prod(dims[i + 1 :])) for i in range(len(dims))]))
    sizes = ops.constant(np.array(dims, np.int64))
    return ops.mod(ops.floordiv(flat, strides), sizes), sizes


def _reshaped_shapes(inputs: Sequence[Tensor]) -> list[Dims]:
    rank = None if inputs[2].dims is None else inputs[2].dims[0]
    return [(None if inputs[0].dims is None else inputs[0].dims[0], rank), (rank,)]


RESHAPE = Kind(
    "SparseReshape",
    _reshaped,
    values=(1, 2),
    shape=_reshaped_shapes,
    dtype=(int64, int64),
    gradient=False,
)


@symbol("sparse_reshape", "sparse.reshape")
def sparse_reshape(sp_input: Any, shape: TensorLike, name: Optional[str] = None) -> SparseTensor:
    """The elements in another shape; one -1 stands for what is left."""
    sp, new = sparse(sp_input), cast(shape_tensor(shape), int64)
    at, dims = RESHAPE.outputs(sp.indices, sp.dense_shape, new, name=name)
    known = static_dims(new)
    if known is not None and None not in known:
        dims = convert_to_tensor(np.array(known, np.int64))
    return SparseTensor(at, sp.values, dims)


@symbol("sparse_transpose", "sparse.transpose")
def sparse_transpose(sp_input: Any, perm: Any = None, name: Optional[str] = None) -> SparseTensor:
    """The elements with axes in another order, by default the opposite one."""
    with name_scope(name, "SparseTranspose"):
        sp = sparse(sp_input)
        rank = shape_of(sp.dense_shape)[0]
        order = rank - 1 - range_of(rank) if perm is None else convert_to_tensor(perm)
        turned = gather(sp.indices, order, axis=1)
        return sparse_reorder(SparseTensor(turned, sp.values, gather(sp.dense_shape, order)))


def _cut(indices: Any, start: Any, size: Any, shape: Any) -> tuple[Any, Any, Any]:
    """The numbers of the elements within, their places, and the shape of the piece."""
    within = np.logical_and(indices >= start, indices < start + size).all(axis=1)
    at = np.flatnonzero(within)
    return at, indices[at] - start, np.clip(shape - start, 0, size)


CUT = Kind(
    "SparseCut",
    host=_cut,
    shape=lambda inputs: [
        (None,),
        (None, None if inputs[0].dims is None else inputs[0].dims[1]),
        inputs[3].dims,
    ],
    dtype=(int64, int64, int64),
    gradient=False,
)


@symbol("sparse_slice", "sparse.slice")
def sparse_slice(
    sp_input: Any, start: TensorLike, size: TensorLike, name: Optional[str] = None
) -> SparseTensor:
    """The elements from `start` on, `size` along each axis at most."""
    with name_scope(name, "SparseSlice"):
        sp = sparse(sp_input)
        first, count = convert_to_tensor(start, int64), convert_to_tensor(size, int64)
        at, places, dims = CUT.outputs(sp.indices, first, count, sp.dense_shape)
        return picked(sp, at, places, dims)


def _piece(indices: Any, shape: Any, axis: int, count: int, which: int) -> tuple[Any, Any, Any]:
    """Cut a piece as TensorFlow does: the first pieces have one more where it does not go up."""
    size, more = divmod(int(shape[axis]), count)
    start, dims = np.zeros_like(shape), np.array(shape)
    start[axis] = which * size + min(which, more)
    dims[axis] = size + (which < more)
    return _cut(indices, start, dims, np.asarray(shape))


PIECE = Kind(
    "SparsePiece",
    host=_piece,
    shape=lambda inputs, **_: [
        (None,),
        (None, None if inputs[0].dims is None else inputs[0].dims[1]),
        inputs[1].dims,
    ],
    dtype=(int64, int64, int64),
    gradient=False,
)


@symbol("sparse_split", "sparse.split")
def sparse_split(
    keyword_required: Any = None,
    sp_input: Any = None,
    num_split: Any = None,
    axis: Any = None,
    name: Optional[str] = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """`num_split` pieces along an axis.

    Raises:
        ValueError: an argument is missing.
    """
    axis = renamed(axis, split_dim, "axis", "split_dim")
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis are required")
    with name_scope(name, "SparseSplit"):
        sp, along, count = sparse(sp_input), number(axis, "axis"), number(num_split, "num_split")
        made = []
        for i in range(count):
            at, places, dims = PIECE.outputs(
                sp.indices, sp.dense_shape, axis=along, count=count, which=i
            )
            made.append(picked(sp, at, places, dims))
        return made


def _joined(*parts: Any, axis: int, expand: bool) -> tuple[Any, Any, Any]:
    """Concatenate places and shapes: the order of all elements, their places, and the shape."""
    half = len(parts) // 2
    shapes, offset, moved = [np.array(s) for s in parts[half:]], 0, []
    for places, shape in zip(parts[:half], shapes, strict=True):
        step = np.zeros_like(shape)
        step[axis] = offset
        moved.append(places + step)
        offset += int(shape[axis])
    dims = np.max(shapes, axis=0)
    rest = [np.delete(s, axis) for s in shapes]
    if not expand and any((r != rest[0]).any() for r in rest):
        raise ValueError(f"Concat dimensions do not match: {[s.tolist() for s in shapes]}")
    dims[axis] = offset
    places = np.concatenate(moved)
    order = host_order(places)
    return order, places[order], dims


JOINED = Kind(
    "SparseJoined",
    host=_joined,
    shape=lambda inputs, **_: [
        (None,),
        (None, None if inputs[0].dims is None else inputs[0].dims[1]),
        inputs[-1].dims,
    ],
    dtype=(int64, int64, int64),
    gradient=False,
)


@symbol("sparse_concat", "sparse.concat")
def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: Optional[str] = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool = False,
) -> SparseTensor:
    """Sparse tensors one after the other along an axis."""
    with name_scope(name, "SparseConcat"):
        given = [sparse(s) for s in sp_inputs]
        if len(given) == 1:
            return given[0]
        parts = [s.indices for s in given] + [s.dense_shape for s in given]
        along = number(renamed(axis, concat_dim, "axis", "concat_dim"), "axis")
        order, places, dims = JOINED.outputs(
            *parts, axis=along, expand=bool(expand_nonconcat_dim or expand_nonconcat_dims)
        )
        values = gather(concat([s.values for s in given], 0), order)
        return SparseTensor(places, values, dims)


@symbol("sparse.expand_dims")
def sparse_expand_dims(sp_input: Any, axis: Any = None, name: Optional[str] = None) -> SparseTensor:
    """The elements with an axis of one element, by default the last."""
    sp = sparse(sp_input)
    with name_scope(name, "expand_dims"):
        at = -1 if axis is None else number(axis, "axis")
        cut = at if at >= 0 else shape_of(sp.dense_shape)[0] + (at + 1)
        dims = sp.dense_shape
        return sparse_reshape(sp, concat([dims[:cut], [1], dims[cut:]], 0))


@symbol("sparse_reset_shape", "sparse.reset_shape")
def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The elements in a larger shape, by default the smallest that holds them."""
    sp = sparse(sp_input)
    if new_shape is not None:
        return SparseTensor(sp.indices, sp.values, convert_to_tensor(new_shape, int64))
    none = convert_to_tensor(np.full((1, 1), -1, np.int64)) + 0 * sp.dense_shape[None]
    return SparseTensor(sp.indices, sp.values, reduce_max(concat([none, sp.indices], 0), 0) + 1)
