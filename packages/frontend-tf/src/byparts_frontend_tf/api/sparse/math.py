"""Sums, products and softmax of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.math.binary import add as add_tensors, div, multiply, truediv
from byparts_frontend_tf.api.math.segment import highest_in_segments, unsorted_segment_sum
from byparts_frontend_tf.api.math.unary import absolute, exp
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.sparse.dense import (
    flat_places,
    from_dense,
    is_sparse,
    numbers_of,
    sparse,
    sparse_tensor_to_dense,
)
from byparts_frontend_tf.api.sparse.reshape import host_order
from byparts_frontend_tf.api.sparse.retain import Retained, sparse_retain, whole_of
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import reduced_dims
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int64
from byparts_tf_files.shape import Dims, TensorShape


def _product(
    indices: Value, values: Value, shape: Any, b: Value, adjoint_a: bool, adjoint_b: bool
) -> Value:
    """Rows of b times values, summed where they belong: [m, n]."""
    row, column = (1, 0) if adjoint_a else (0, 1)
    dims = numbers_of(shape)
    if adjoint_b:
        b = ops.transpose(b, [1, 0])
    if b.type.dims[0] != dims[column]:
        raise ValueError(
            f"Cannot multiply A and B because inner dimension does not match: {dims[column]} vs. "
            f"{b.type.dims[0]}.  Did you forget a transpose?"
        )
    at = [ops.reshape(ops.getitem(indices, (slice(None), i)), [-1]) for i in (row, column)]
    rows = ops.gather(b, at[1]) * ops.expand_dims(values, 1)
    return ops.scatter_add(at[0], rows, ops.fill(0, b.type.dtype, [dims[row], b.type.dims[1]]))


def _product_shape(inputs: Sequence[Tensor], adjoint_a: bool, adjoint_b: bool) -> Dims:
    a, b = static_dims(inputs[2]), inputs[3].dims
    return (
        None if a is None else a[1 if adjoint_a else 0],
        None if b is None else b[0 if adjoint_b else 1],
    )


PRODUCT = Kind(
    "SparseTensorDenseMatMul",
    _product,
    values=(2,),
    shape=_product_shape,
    dtype=lambda inputs, **_: inputs[1].dtype.base_dtype,
)


@symbol("sparse_tensor_dense_matmul", "sparse.sparse_dense_matmul", "sparse.matmul")
def sparse_tensor_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """A sparse [m, k] times a dense [k, n].

    Raises:
        TypeError: the first is not sparse.
    """
    a = sparse(sp_a)
    if is_sparse(b):
        b = sparse_tensor_to_dense(b)
    with name_scope(name, "SparseTensorDenseMatMul") as scope:
        x = convert_to_tensor(b, a.dtype.base_dtype, "b")
        parts = whole_of(a)._fetched_as()[1]
        return PRODUCT(*parts, x, name=scope, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def _at_places(indices: Value, shape: Any, dense: Value) -> Value:
    """The elements of `dense`, repeated to `shape`, at these places."""
    dims, rank = dense.type.dims, indices.type.dims[1]
    own = ops.getitem(indices, (slice(None), slice(rank - len(dims), None)))
    repeated = ops.constant(np.array([int(d != 1) for d in dims], np.int64))
    return ops.gather(ops.reshape(dense, [-1]), flat_places(own * repeated, dims))


AT_PLACES = Kind(
    "SparseDenseAt",
    _at_places,
    values=(1,),
    shape=lambda inputs: (None if inputs[0].dims is None else inputs[0].dims[0],),
    dtype=lambda inputs: inputs[2].dtype.base_dtype,
)


def _with_dense(function: Any, type: str) -> Any:
    def of(sp: SparseTensor, x: Tensor) -> SparseTensor:
        at = x if x.dims == () else AT_PLACES(sp.indices, sp.dense_shape, x)
        return SparseTensor(sp.indices, function(sp.values, at), sp.dense_shape)

    def apply(sp: SparseTensor, dense: TensorLike) -> SparseTensor:
        with name_scope(None, type):
            x = convert_to_tensor(dense, sp.dtype.base_dtype, "y")
            made = of(sp, x)
        if function is multiply and isinstance(sp, Retained):
            return Retained(made, lambda: of(whole_of(sp), x))
        return made

    return apply


multiplied = _with_dense(multiply, "mul")
divided = _with_dense(truediv, "truediv")
divided_as_before = _with_dense(div, "div")


def _left(indices: Value, shape: Any, axes: Any) -> tuple[Value, Value]:
    """For each element which of the sums it belongs to, and how many sums there are."""
    dims = numbers_of(shape)
    gone = set(range(len(dims))) if axes is None else {a % len(dims) for a in axes}
    kept = [i for i in range(len(dims)) if i not in gone]
    own = [dims[i] for i in kept]
    count = ops.constant(np.array(int(np.prod(own)), np.int64))
    if not kept:
        return ops.fill(0, "i64", [indices.type.dims[0]]), count
    at = ops.gather(indices, ops.constant(np.array(kept, np.int64)), 1)
    return flat_places(at, own), count


LEFT = Kind(
    "SparseGroups",
    _left,
    values=(1,),
    shape=lambda inputs, axes: [(None if inputs[0].dims is None else inputs[0].dims[0],), ()],
    dtype=(int64, int64),
    gradient=False,
)
LEFT_SHAPE = Kind(
    "SparseReducedShape",
    lambda shape, axes, keepdims: ops.constant(
        np.array(reduced_dims(tuple(numbers_of(shape)), axes, keepdims), np.int64)
    ),
    values=(0,),
    shape=lambda inputs, axes, keepdims: (None,),
    gradient=False,
)


def _sparse_reduce(reduce: Any, type: str) -> Any:
    def apply(
        sp_input: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_axes: Any = None,
        keep_dims: Any = None,
        name: Optional[str] = None,
    ) -> Tensor:
        axis = renamed(axis, reduction_axes, "axis", "reduction_axes")
        kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
        axes = None if axis is None else numbers(axis, "the axes")
        sp = sparse(sp_input)
        with name_scope(name, type):
            groups, count = LEFT.outputs(sp.indices, sp.dense_shape, axes=axes)
            made: Tensor = reduce(sp.values, groups, count)
            dims = LEFT_SHAPE(sp.dense_shape, axes=axes, keepdims=kept)
            made = reshape(made, dims)
            made.set_shape(TensorShape(reduced_dims(static_dims(sp.dense_shape), axes, kept)))
            return made

    apply.__name__, apply.__module__ = type, __name__
    apply.__doc__ = f"TensorFlow's `{type}` of a SparseTensor, as a tensor; 0 where there is none."
    return apply


sparse_reduce_sum = _sparse_reduce(unsorted_segment_sum, "SparseReduceSum")
sparse_reduce_max = _sparse_reduce(highest_in_segments, "SparseReduceMax")


@symbol("sparse_reduce_sum_sparse", "sparse.reduce_sum_sparse")
def sparse_reduce_sum_sparse(sp_input: Any, *arguments: Any, **named: Any) -> SparseTensor:
    """Sum as `sparse_reduce_sum` does; the sums that are not zero, as a SparseTensor."""
    return from_dense(sparse_reduce_sum(sp_input, *arguments, **named))


@symbol("sparse_softmax", "sparse.softmax")
def sparse_softmax(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """The softmax of the elements of each row; what has no element counts as -infinity."""
    sp = sparse(sp_input)
    with name_scope(name, "SparseSoftmax"):
        rows, count = LEFT.outputs(sp.indices, sp.dense_shape, axes=(-1,))
        highest = highest_in_segments(stop_gradient(sp.values), rows, count, ascending=True)
        powers = exp(sp.values - gather(highest, rows))
        sums = unsorted_segment_sum(powers, rows, count)
        return SparseTensor(sp.indices, powers / gather(sums, rows), sp.dense_shape)


def _met(first: Any, second: Any) -> tuple[Any, Any]:
    """The places of two lists, each once and in order, and which of them each element is at."""
    both = np.concatenate([first, second])
    order = host_order(both)
    ordered = both[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(both)]
    which = np.empty(len(both), np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which


MET = Kind(
    "SparseUnion",
    host=_met,
    shape=lambda inputs: [(None, *(inputs[0].dims or (None, None))[1:]), (None,)],
    dtype=(int64, int64),
    gradient=False,
)


def _together(a: SparseTensor, b: SparseTensor, function: Any) -> SparseTensor:
    """`function` of the elements of both at each place, 0 where one has none."""
    places, which = MET.outputs(a.indices, b.indices)
    count = shape_of(places)[0]
    n = shape_of(a.values)[0]
    parts = [
        unsorted_segment_sum(a.values, which[:n], count),
        unsorted_segment_sum(b.values, which[n:], count),
    ]
    return SparseTensor(places, function(*parts), a.dense_shape)


@symbol("sparse_add", "sparse.add")
def sparse_add(
    a: Any, b: Any, threshold: Any = None, thresh: Any = None, name: Optional[str] = None
) -> Any:
    """The sum: sparse if both are, without elements smaller than `threshold`; else dense.

    Raises:
        TypeError: neither is sparse.
    """
    least = renamed(threshold, thresh, "threshold", "thresh")
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    with name_scope(name, "SparseAdd"):
        if is_sparse(a) and is_sparse(b):
            made = _together(sparse(a), sparse(b), add_tensors)
            if least is None or (not isinstance(least, Tensor) and np.all(np.equal(least, 0))):
                return made
            return sparse_retain(made, absolute(made.values) >= least)
        sp, dense = (sparse(a), b) if is_sparse(a) else (sparse(b), a)
        x = convert_to_tensor(dense, sp.dtype.base_dtype)
        return add_tensors(sparse_tensor_to_dense(sp), x)


def _greater(name: str, test: Any) -> Any:
    def apply(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
        with name_scope(name, apply.__name__):
            return _together(sparse(sp_a), sparse(sp_b), test)

    apply.__name__, apply.__module__ = name, __name__
    apply.__doc__ = f"TensorFlow's `{name}`: of both at each place, 0 where one has none."
    return apply


def _higher(x: Tensor, y: Tensor) -> Tensor:
    return where(x >= y, x, y)


def _lower(x: Tensor, y: Tensor) -> Tensor:
    return where(x <= y, x, y)


sparse_maximum = _greater("SparseSparseMaximum", _higher)
sparse_minimum = _greater("SparseSparseMinimum", _lower)

SYMBOLS = {
    "sparse_reduce_sum": "sparse_reduce_sum",
    "sparse.reduce_sum": "sparse_reduce_sum",
    "sparse_reduce_max": "sparse_reduce_max",
    "sparse.reduce_max": "sparse_reduce_max",
    "sparse_maximum": "sparse_maximum",
    "sparse.maximum": "sparse_maximum",
    "sparse_minimum": "sparse_minimum",
    "sparse.minimum": "sparse_minimum",
}
