"""`tf.unique`, `tf.setdiff1d`: which elements there are, once each; permutations inverted."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32

Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])
ListDiff = namedtuple("ListDiff", ["out", "idx"])


def _unique(x: Any, dtype: DType) -> tuple[Any, Any, Any]:
    """The elements in the order in which they come first, which one each is, and how often."""
    numbers: dict[Any, int] = {}
    which = np.array([numbers.setdefault(v, len(numbers)) for v in x.tolist()], np.int64)
    first = np.zeros(len(numbers), np.int64)
    first[which[::-1]] = np.arange(len(x))[::-1]
    return x[first], which, np.bincount(which, minlength=len(numbers))


UNIQUE = Kind(
    "UniqueWithCounts",
    host=_unique,
    shape=lambda inputs, dtype: [(None,), inputs[0].dims, (None,)],
    dtype=lambda inputs, dtype: [inputs[0].dtype.base_dtype, dtype, dtype],
    gradient=False,
)


def _vector(x: TensorLike) -> Tensor:
    given = convert_to_tensor(x, name="x")
    given.shape.with_rank(1)
    return given


@symbol("unique")
def unique(x: TensorLike, out_idx: Any = int32, name: Optional[str] = None) -> Any:
    """(y, idx): the elements of a vector once each, as they come, with x = y[idx].

    Raises:
        ValueError: it is no vector.
    """
    made = UNIQUE.outputs(_vector(x), name=name or "Unique", dtype=as_dtype(out_idx))
    return Unique(made[0], made[1])


@symbol("unique_with_counts")
def unique_with_counts(x: TensorLike, out_idx: Any = int32, name: Optional[str] = None) -> Any:
    """Distinct elements as `unique` gives them, and how often each occurs."""
    return UniqueWithCounts(*UNIQUE.outputs(_vector(x), name=name, dtype=as_dtype(out_idx)))


def _difference(x: Any, y: Any, dtype: DType) -> tuple[Any, Any]:
    gone = set(y.tolist())
    kept = [i for i, v in enumerate(x.tolist()) if v not in gone]
    return x[kept], kept


DIFFERENCE = Kind(
    "ListDiff",
    host=_difference,
    shape=lambda inputs, dtype: [(None,), (None,)],
    dtype=lambda inputs, dtype: [inputs[0].dtype.base_dtype, dtype],
    gradient=False,
)


@symbol("setdiff1d", "list_diff")
def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: Any = int32, name: Optional[str] = None
) -> Any:
    """(out, idx): the elements of x that are not in y, and where they stand."""
    a, b = convert_all([_vector(x), y])
    return ListDiff(*DIFFERENCE.outputs(a, b, name=name, dtype=as_dtype(index_dtype)))


def _inverted(x: Value) -> Value:
    n = x.type.dims[0]
    steps = ops.arange(0, n, dtype=x.type.dtype)
    found = ops.scatter(ops.fill(-1, x.type.dtype, [n]), x, steps)
    return ops.gather(steps, found) if n else found  # a number that comes twice leaves a -1


INVERT = Kind(
    "InvertPermutation",
    _inverted,
    shape=lambda inputs: inputs[0].dims or (None,),
    gradient=False,
)


@symbol("invert_permutation", "math.invert_permutation")
def invert_permutation(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """y with y[x[i]] = i.

    Raises at run time:
        InvalidArgumentError: an element is outside.
    """
    return INVERT(_vector(x), name=name)
