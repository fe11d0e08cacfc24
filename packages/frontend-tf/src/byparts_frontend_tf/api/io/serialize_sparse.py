"""Sparse tensors as strings, as old programs put them into queues: `serialize_sparse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.sparse.dense import sparse
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, int64, string
from byparts_tf_files.messages.tensor import TensorProto
from byparts_tf_files.tensors import make_ndarray, make_tensor_proto


def _texts(*arrays: Any) -> Any:
    made = np.empty(3, object)
    made[:] = [make_tensor_proto(a).SerializeToString() for a in arrays]
    return made


def _texts_of_rows(indices: Any, values: Any, shape: Any) -> Any:
    rows = [indices[:, 0] == i for i in range(int(shape[0]))]
    made = [_texts(indices[here, 1:], values[here], shape[1:]) for here in rows]
    return np.stack(made) if made else np.empty((0, 3), object)


def _array(text: bytes) -> Any:
    return make_ndarray(TensorProto.FromString(text))


def _one(texts: Any, dtype: DType, rank: Any) -> Any:
    return tuple([_array(t) for t in np.reshape(texts, -1).tolist()])


def _many(texts: Any, dtype: DType, rank: Any) -> Any:
    rows = [[_array(t) for t in row] for row in texts.tolist()]
    if not rows:
        raise ValueError("deserialize_many_sparse: there is no serialized tensor")
    indices = [
        np.concatenate([np.full((len(at), 1), i, np.int64), at], 1)
        for i, (at, _, _) in enumerate(rows)
    ]
    size = np.max([shape for _, _, shape in rows], 0)
    values = np.concatenate([v for _, v, _ in rows])
    return np.concatenate(indices), values, np.array([len(rows), *size], np.int64)


_SERIALIZE = Kind(
    "SerializeSparse", host=_texts, shape=lambda i: (3,), dtype=string, gradient=False
)
_SERIALIZE_MANY = Kind(
    "SerializeManySparse",
    host=_texts_of_rows,
    shape=lambda i: (None, 3),
    dtype=string,
    gradient=False,
)


def _shapes(inputs: Sequence[Tensor], dtype: DType, rank: Optional[int]) -> list[Any]:
    return [(None, rank), (None,), (rank,)]


def _dtypes(inputs: Sequence[Tensor], dtype: DType, rank: Optional[int]) -> list[DType]:
    return [int64, dtype, int64]


_READ = Kind("DeserializeSparse", host=_one, shape=_shapes, dtype=_dtypes, gradient=False)
_READ_MANY = Kind("DeserializeManySparse", host=_many, shape=_shapes, dtype=_dtypes, gradient=False)


@symbol("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = string) -> Tensor:
    """A sparse tensor as three strings: indices, values, shape."""
    sp = sparse(sp_input)
    return _SERIALIZE(sp.indices, sp.values, sp.dense_shape, name=name)


@symbol("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(
    sp_input: Any, name: Optional[str] = None, out_type: Any = string
) -> Tensor:
    """The rows of a sparse tensor along its first axis, as strings [n, 3]."""
    sp = sparse(sp_input)
    return _SERIALIZE_MANY(sp.indices, sp.values, sp.dense_shape, name=name)


@symbol("deserialize_sparse")
def deserialize_sparse(
    serialized_sparse: TensorLike, dtype: Any, rank: Optional[int] = None, name: Any = None
) -> SparseTensor:
    """The sparse tensor that `serialize_sparse` made three strings of."""
    given = convert_to_tensor(serialized_sparse, string)
    return SparseTensor(*_READ.outputs(given, name=name, dtype=as_dtype(dtype), rank=rank))


@symbol("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: Any, rank: Optional[int] = None, name: Any = None
) -> SparseTensor:
    """A batch of sparse tensors, each three strings: one with another axis in front.

    Raises at run time:
        InvalidArgumentError: there is none, or their ranks differ.
    """
    given = convert_to_tensor(serialized_sparse, string)
    whole = None if rank is None else rank + 1
    return SparseTensor(*_READ_MANY.outputs(given, name=name, dtype=as_dtype(dtype), rank=whole))
