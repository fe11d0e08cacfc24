"""`tf.TensorArray`: rows that are written and read one by one, mostly in loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.identity import identity, no_op
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.running.arrays import LoopRows, Rows
from byparts_frontend_tf.running.host_arrays import HOST_MEANINGS
from byparts_frontend_tf.running.signals import OnHost
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32, int32
from byparts_tf_files.shape import Dims, TensorShape, as_dims, merged


def _kind(type: str, meaning: Any, dtype: Any, shape: Any = None) -> Kind:
    """An operation on an array: on rows of graph-ir, or on a list where the host runs a loop."""

    def special(lowering: Any, op: Operation) -> Any:
        if op.kind is not ARRAY and lowering.on_host_array(op.inputs[0]):
            return lowering.call_on_array(op, HOST_MEANINGS[type])
        return meaning(lowering, op)

    return Kind(type, special=special, dtype=dtype, shape=shape or (lambda inputs, **_: None))


def _array(lowering: Any, op: Operation) -> Any:
    in_host_loop = op.body is not None and lowering.run.body is not None
    of_host = not op.attributes["dtype"].own or (op.attributes["dynamic"] and in_host_loop)
    if of_host and lowering.outer is None:
        return lowering.call_on_array(op, HOST_MEANINGS["TensorArrayV3"])
    size = int(lowering.number(op.inputs[0], op))
    element = op.attributes["element"]
    known = None if element is None or None in element else element
    own = op.attributes["dtype"].own
    return Rows(own, size, op.attributes["dynamic"], element=known)


def _rows(lowering: Any, op: Operation) -> Any:
    found = lowering.array_of(op.inputs[0])
    if found is None:
        raise OnHost(op, f"{op.inputs[0].name} is an array of the host")
    return found


def _place(lowering: Any, op: Operation, position: int) -> Any:
    """The place as a number, where it is known without asking for more; else as a value."""
    value = lowering.value(op.inputs[position], op)
    return int(lowering.number(value)) if lowering.is_constant(value) else value


def _read(lowering: Any, op: Operation) -> Value:
    rows, place = _rows(lowering, op), _place(lowering, op, 1)
    if isinstance(rows, LoopRows) or isinstance(place, Value):
        return rows.read_at(_as_value(place))  # type: ignore[no-any-return]  # a value
    return rows.read(place)  # type: ignore[no-any-return]  # a value


def _write(lowering: Any, op: Operation) -> Any:
    rows, place = _rows(lowering, op), _place(lowering, op, 1)
    row = lowering.value(op.inputs[2], op)
    if isinstance(rows, LoopRows) or isinstance(place, Value):
        return rows.write_at(_as_value(place), row)
    return rows.write(place, row)


def _as_value(place: Any) -> Value:
    return place if isinstance(place, Value) else ops.fill(place, "i32")


def _stack(lowering: Any, op: Operation) -> Value:
    return ops.identity(_rows(lowering, op).stacked())


def _gather(lowering: Any, op: Operation) -> Value:
    rows, places = _rows(lowering, op), lowering.value(op.inputs[1], op)
    if lowering.is_constant(places):
        return rows.taken(lowering.number(places))  # type: ignore[no-any-return]  # a value
    return ops.gather(rows.stacked(), places)


def _concat(lowering: Any, op: Operation) -> Value:
    rows = _rows(lowering, op)
    if rows.parts and rows.buffer is None:
        return ops.concat([rows.read(i) for i in range(rows.size)], 0)
    whole = rows.stacked()
    dims = whole.type.dims
    return ops.reshape(whole, [dims[0] * dims[1], *dims[2:]])


def _unstack(lowering: Any, op: Operation) -> Any:
    rows, value = _rows(lowering, op), lowering.value(op.inputs[1], op)
    if isinstance(rows, LoopRows):
        rows = rows.rows
    return Rows(rows.dtype, value.type.dims[0], rows.dynamic, value)


def _scatter(lowering: Any, op: Operation) -> Any:
    rows, places = _rows(lowering, op), lowering.number(op.inputs[1], op)
    return rows.with_rows(places.reshape(-1).tolist(), lowering.value(op.inputs[2], op))


def _split(lowering: Any, op: Operation) -> Any:
    rows, value = _rows(lowering, op), lowering.value(op.inputs[1], op)
    lengths = [int(n) for n in lowering.number(op.inputs[2], op).reshape(-1)]
    stops = np.cumsum(lengths).tolist()
    for i, (stop, n) in enumerate(zip(stops, lengths, strict=True)):
        rows = rows.write(i, ops.getitem(value, slice(stop - n, stop)))
    return rows


def _size(lowering: Any, op: Operation) -> Value:
    rows = _rows(lowering, op)
    return ops.fill((rows.rows if isinstance(rows, LoopRows) else rows).size, "i32")


def _row_dtype(inputs: Sequence[Tensor], dtype: DType, element: Dims) -> DType:
    return dtype


def _row_shape(inputs: Sequence[Tensor], dtype: DType, element: Dims) -> Dims:
    return element


def _stacked_shape(inputs: Sequence[Tensor], dtype: DType, element: Dims) -> Dims:
    return None if element is None else (None, *element)


def _joined_shape(inputs: Sequence[Tensor], dtype: DType, element: Dims) -> Dims:
    return None if not element else (None, *element[1:])


ARRAY = _kind("TensorArrayV3", _array, float32)
READ = _kind("TensorArrayReadV3", _read, _row_dtype, _row_shape)
WRITE = _kind("TensorArrayWriteV3", _write, float32)
STACK = _kind("TensorArrayStack", _stack, _row_dtype, _stacked_shape)
GATHER = _kind("TensorArrayGatherV3", _gather, _row_dtype, _stacked_shape)
CONCAT = _kind("TensorArrayConcatV3", _concat, _row_dtype, _joined_shape)
UNSTACK = _kind("TensorArrayUnstack", _unstack, float32)
SCATTER = _kind("TensorArrayScatterV3", _scatter, float32)
SPLIT = _kind("TensorArraySplitV3", _split, float32)
SIZE = _kind("TensorArraySizeV3", _size, int32, scalar)


@symbol("TensorArray")
class TensorArray:
    """Rows by their places.

    Args:
        dtype: of the elements.
        size: how many places there are.
        dynamic_size: whether a write beyond makes more.
        element_shape: of the rows, where it is known.
        infer_shape: whether all rows have one shape.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: Optional[bool] = None,
        clear_after_read: Optional[bool] = None,
        tensor_array_name: Optional[str] = None,
        handle: Any = None,
        flow: Optional[Tensor] = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: Optional[str] = None,
    ) -> None:
        self.dtype, self._infer = as_dtype(dtype).base_dtype, infer_shape
        self._element_dims: Dims = as_dims(element_shape)
        self._dynamic = bool(dynamic_size)
        if flow is not None:
            self.flow = flow
            return
        with name_scope(name, "TensorArray", [size] if isinstance(size, Tensor) else []) as scope:
            count = convert_to_tensor(0 if size is None else size, int32, "size")
            self.flow = ARRAY(
                count,
                name=scope,
                dtype=self.dtype,
                dynamic=self._dynamic,
                element=self._element_dims,
            )

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for the array in the graph."""
        return self.flow

    @property
    def graph(self) -> Any:
        """The graph it is of."""
        return self.flow.graph

    @property
    def op(self) -> Operation:
        """The operation of its flow."""
        return self.flow.op

    @property
    def element_shape(self) -> Any:
        """Static shape of the rows."""
        return TensorShape(self._element_dims)

    def _array_flow(self) -> Tensor:
        return self.flow

    def _with_flow(self, flow: Tensor) -> TensorArray:
        made = TensorArray(
            self.dtype, dynamic_size=self._dynamic, flow=flow, infer_shape=self._infer
        )
        made._element_dims = self._element_dims
        return made

    def _learn(self, dims: Dims) -> None:
        if self._infer:
            self._element_dims = merged(self._element_dims, dims)

    def identity(self) -> TensorArray:
        """The same rows."""
        return self._with_flow(identity(self.flow))

    def grad(self, source: str, flow: Any = None, name: Optional[str] = None) -> TensorArray:
        """Refused: gradients pass through arrays by themselves.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "tf.gradients passes through a TensorArray; it has no other array"
        )

    def read(self, index: TensorLike, name: Optional[str] = None) -> Tensor:
        """The row at a place."""
        place = convert_to_tensor(index, name="index")
        return READ(self.flow, place, name=name, dtype=self.dtype, element=self._element_dims)

    def write(
        self, index: TensorLike, value: TensorLike, name: Optional[str] = None
    ) -> TensorArray:
        """With a row at a place.

        Raises:
            ValueError: the row is of another shape than others.
        """
        row = convert_to_tensor(value, self.dtype, "value")
        flow = WRITE(self.flow, convert_to_tensor(index, name="index"), row, name=name)
        made = self._with_flow(flow)
        made._learn(row.dims)
        self._learn(row.dims)
        return made

    def stack(self, name: Optional[str] = None) -> Tensor:
        """All rows, along a new axis 0."""
        return STACK(self.flow, name=name, dtype=self.dtype, element=self._element_dims)

    def gather(self, indices: TensorLike, name: Optional[str] = None) -> Tensor:
        """Rows at places, along a new axis 0."""
        places = convert_to_tensor(indices, int32)
        return GATHER(self.flow, places, name=name, dtype=self.dtype, element=self._element_dims)

    def concat(self, name: Optional[str] = None) -> Tensor:
        """All rows, one after the other along axis 0."""
        return CONCAT(self.flow, name=name, dtype=self.dtype, element=self._element_dims)

    def unstack(self, value: TensorLike, name: Optional[str] = None) -> TensorArray:
        """With what stands along axis 0 as rows."""
        x = convert_to_tensor(value, self.dtype, "value")
        made = self._with_flow(UNSTACK(self.flow, x, name=name))
        made._learn(None if x.dims is None else x.dims[1:])
        return made

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: Optional[str] = None
    ) -> TensorArray:
        """With what stands along axis 0 as rows at places."""
        x = convert_to_tensor(value, self.dtype, "value")
        places = convert_to_tensor(indices, int32, "indices")
        made = self._with_flow(SCATTER(self.flow, places, x, name=name))
        made._learn(None if x.dims is None else x.dims[1:])
        return made

    def split(
        self, value: TensorLike, lengths: TensorLike, name: Optional[str] = None
    ) -> TensorArray:
        """With pieces along axis 0, of these lengths, as rows."""
        x = convert_to_tensor(value, self.dtype, "value")
        return self._with_flow(SPLIT(self.flow, x, convert_to_tensor(lengths), name=name))

    def size(self, name: Optional[str] = None) -> Tensor:
        """Number of places in the array."""
        return SIZE(self.flow, name=name)

    def close(self, name: Optional[str] = None) -> Operation:
        """Nothing: its memory is planned."""
        return no_op(name)

    def __repr__(self) -> str:
        return f"<tf.TensorArray of {self.dtype.name}>"
