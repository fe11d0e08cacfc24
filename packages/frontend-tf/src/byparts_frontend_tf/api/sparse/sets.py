"""Which elements there are, once each; rows dealt out and put together again."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.indexing import gather
from byparts_frontend_tf.api.passing import identity
from byparts_frontend_tf.api.reductions import reduce_max
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of
from byparts_frontend_tf.api.stacking import concat
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims, static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32, int32
from byparts_tf_files.shape import Dims, merged

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
    """As `unique`, and how often each occurs."""
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


def _dealt(partitions: Any, count: int) -> tuple[Any, ...]:
    flat = partitions.reshape(-1)
    if flat.size and not 0 <= flat.min() <= flat.max() < count:
        raise ValueError(f"partitions = {flat.tolist()} is not in [0, {count})")
    return tuple([np.flatnonzero(flat == i) for i in range(count)])


DEALT = Kind(
    "DynamicPartition",
    host=_dealt,
    shape=lambda inputs, count: [(None,)] * count,
    dtype=lambda inputs, count: [int32] * count,
    gradient=False,
)


@symbol("dynamic_partition")
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: Optional[str] = None
) -> list[Tensor]:
    """The rows of `data` with partition 0, those with 1, and so on.

    Raises at run time:
        InvalidArgumentError: a number is not below `num_partitions`.
    """
    with name_scope(name, "DynamicPartition"):
        x = identity(convert_to_tensor(data))  # so its gradient is dense
        parts = convert_to_tensor(partitions, int32)
        if parts.dims is not None and x.dims is not None:
            merged(x.dims[: len(parts.dims)], parts.dims)
            if len(parts.dims) != 1:
                x = reshape(x, concat([[-1], shape_of(x)[len(parts.dims) :]], 0))
        places = DEALT.operation([parts], count=int(num_partitions)).outputs
        return [gather(x, at) for at in places]


def _stitched(size: Any, *given: Value) -> Value:
    half = len(given) // 2
    at = ops.concat([ops.reshape(i, [-1]) for i in given[:half]], 0)
    pairs = zip(given[:half], given[half:], strict=True)
    rows = [ops.reshape(x, [i.type.size, *x.type.dims[len(i.type.dims) :]]) for i, x in pairs]
    data = ops.concat(rows, 0)
    return ops.scatter(ops.fill(0, data.type.dtype, [int(size), *data.type.dims[1:]]), at, data)


def _stitched_shape(inputs: Sequence[Tensor]) -> Dims:
    half = (len(inputs) - 1) // 2
    rest: Dims = None
    for i, x in zip(inputs[1 : half + 1], inputs[half + 1 :], strict=True):
        if i.dims is not None and x.dims is not None:
            rest = merged(rest, x.dims[len(i.dims) :])
    return None if rest is None else (static_number(inputs[0]), *rest)


STITCH = Kind(
    "DynamicStitch",
    _stitched,
    values=(0,),
    shape=_stitched_shape,
    dtype=lambda inputs: inputs[-1].dtype.base_dtype,
)


@symbol("dynamic_stitch", "parallel_dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: Optional[str] = None) -> Tensor:
    """One tensor of all rows of `data`, each at its index; the last of several at one place."""
    with name_scope(name, "DynamicStitch") as scope:
        at = [convert_to_tensor(i, int32) for i in indices]
        rows = convert_all(data)
        none = convert_to_tensor(np.array([-1], np.int32))
        size = reduce_max(concat([none, *[reshape(i, [-1]) for i in at]], 0), 0) + 1
        return STITCH(size, *at, *rows, name=scope)


def _distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many insertions, deletions and substitutions make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _distances(
    at: Any, values: Any, shape: Any, at_b: Any, b: Any, shape_b: Any, *, each: bool
) -> Any:
    dims = np.maximum(shape, shape_b)[:-1]
    made = np.zeros(dims, np.float32)
    rows: list[dict[Any, list[Any]]] = [{}, {}]
    for row, places, found in ((rows[0], at, values), (rows[1], at_b, b)):
        for place, v in zip(places.tolist(), found.tolist(), strict=True):
            row.setdefault(tuple(place[:-1]), []).append(v)
    for place in np.ndindex(*dims):
        truth = rows[1].get(place, [])
        distance = float(_distance(rows[0].get(place, []), truth))
        if each and (truth or distance):
            distance = distance / len(truth) if truth else np.inf
        made[place] = distance
    return made


DISTANCE = Kind(
    "EditDistance",
    host=_distances,
    shape=lambda inputs, each: (
        None
        if inputs[2].dims is None or inputs[2].dims[0] is None
        else (static_dims(inputs[2]) or (None,) * inputs[2].dims[0])[:-1]
    ),
    dtype=float32,
    gradient=False,
)


@symbol("edit_distance")
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Levenshtein's distance of the rows of two SparseTensors, over the length of the truth.

    Raises:
        TypeError: they are not sparse.
    """
    parts = []
    for given, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not hasattr(given, "dense_shape"):
            raise TypeError(f"{what} must be a SparseTensor.")
        sp = SparseTensor.from_value(given)
        parts += [sp.indices, sp.values, sp.dense_shape]
    return DISTANCE(*parts, name=name, each=bool(normalize))
