"""Objects made of several tensors: `IndexedSlices` and `SparseTensor`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_tf_files.dtypes import DType, int64
from byparts_tf_files.shape import TensorShape

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere: row `indices[i]` is `values[i]`; equal ones add up.

    Attributes:
        values: [n, ...].
        indices: [n], integers.
        dense_shape: the shape of the tensor, or `None`.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values = convert_to_tensor(values)
        self.indices = convert_to_tensor(indices)
        self.dense_shape = None if dense_shape is None else convert_to_tensor(dense_shape)

    @property
    def name(self) -> str:
        """The name of the values."""
        return self.values.name

    @property
    def op(self) -> Operation:
        """The operation of the values."""
        return self.values.op

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def graph(self) -> Any:
        """The graph they are of."""
        return self.values.graph

    @property
    def device(self) -> str:
        """The device of the values."""
        return self.values.device

    @property
    def shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return TensorShape(None if self.dense_shape is None else static_dims(self.dense_shape))

    def get_shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return self.shape

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None) -> Tensor:
        dense: Tensor = upper.functions.densify(self, name)
        return dense

    def _map_values(self, function: Callable[[Tensor], Any]) -> IndexedSlices:
        return IndexedSlices(function(self.values), self.indices, self.dense_shape)

    def _fetched_as(self) -> tuple[Any, tuple[Any, ...]]:
        return IndexedSlicesValue, (self.values, self.indices, self.dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self._map_values(lambda values: -values)

    def __str__(self) -> str:
        return f"IndexedSlices(indices={self.indices}, values={self.values})"


class SparseTensor:
    """A tensor by its elements that are not zero.

    Attributes:
        indices: [n, rank], int64.
        values: [n].
        dense_shape: [rank], int64.

    Raises:
        ValueError: the shapes do not fit.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor"):
            self.indices = convert_to_tensor(indices, int64, "indices")
            self.values = convert_to_tensor(values, name="values")
            self.dense_shape = convert_to_tensor(dense_shape, int64, "dense_shape")
        for t, rank in ((self.indices, 2), (self.values, 1), (self.dense_shape, 1)):
            t.shape.with_rank(rank)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def op(self) -> Operation:
        """The operation of the values."""
        return self.values.op

    @property
    def graph(self) -> Any:
        """The graph it is of."""
        return self.values.graph

    @property
    def name(self) -> str:
        """The name of the values."""
        return self.values.name

    @property
    def shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return TensorShape(static_dims(self.dense_shape))

    def get_shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return self.shape

    @classmethod
    def from_value(cls, value: Any) -> SparseTensor:
        """Convert a `SparseTensorValue`; a SparseTensor stays as it is."""
        if isinstance(value, SparseTensor):
            return value
        return cls(value.indices, value.values, value.dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The tensor's value in a session."""
        run_in = upper.functions.session_for(self.graph, session, "evaluate tensor")
        return run_in.run(self, feed_dict)

    def __mul__(self, dense: Any) -> SparseTensor:
        return upper.functions.sparse_math.multiplied(self, dense)  # type: ignore[no-any-return]

    __rmul__ = __mul__

    def __truediv__(self, dense: Any) -> SparseTensor:
        return upper.functions.sparse_math.divided(self, dense)  # type: ignore[no-any-return]

    def __div__(self, dense: Any) -> SparseTensor:
        return upper.functions.sparse_math.divided_as_before(self, dense)  # type: ignore[no-any-return]

    def consumers(self) -> list[Operation]:
        """The operations that read a part of it."""
        return [op for t in (self.indices, self.values, self.dense_shape) for op in t.consumers()]

    def _map_values(self, function: Callable[[Tensor], Any]) -> SparseTensor:
        return SparseTensor(self.indices, function(self.values), self.dense_shape)

    def _fetched_as(self) -> tuple[Any, tuple[Any, ...]]:
        return SparseTensorValue, (self.indices, self.values, self.dense_shape)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices}, values={self.values}, "
            f"dense_shape={self.dense_shape})"
        )
