"""Ops of one's own in Python: `CustomOp` with its `CustomOpProp`, and `autograd.Function`.

Both become `PythonCall`, an op of the graph: it runs at once, recorded and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from byparts_eager import Array, training
from byparts_eager.apply import record_node
from byparts_eager.kind import device_backend
from byparts_eager.state import state
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.nd.storage import outside
from byparts_frontend_mxnet.ops.entry import OpEntry
from byparts_graph_ir import Node, Op, TensorType, Types, Value
from byparts_runtime.arrays.dtypes import numpy_dtype, type_of


@dataclass
class _Calls:
    """Functions that a `PythonCall` calls, on handles; each gives a list of handles."""

    types: Callable[..., Types]
    forward: Callable[..., Sequence[NDArray]]
    backward: Callable[..., Sequence[NDArray]]  # of dys, xs, ys


_calls: dict[int, _Calls] = {}
_numbers = count()


class PythonCall(Op):
    """ys = forward(*xs), in Python, of this process."""

    number: int

    def infer(self, *types: TensorType) -> Types:
        return _calls[self.number].types(*types)

    def evaluate(self, *inputs: Any) -> tuple[Any, ...]:
        return _computed(_calls[self.number].forward, inputs, self.infer(*map(type_of, inputs)))

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        op = PythonGradient(self.number, len(node.inputs))
        return op.outputs_of(*dys, *node.inputs, *node.outputs)


class PythonGradient(Op):
    """dxs = backward(*dys, *xs, *ys), in Python, of this process."""

    number: int
    inputs: int

    def infer(self, *types: TensorType) -> Types:
        outputs = (len(types) - self.inputs) // 2
        return types[outputs : outputs + self.inputs]

    def evaluate(self, *given: Any) -> tuple[Any, ...]:
        return _computed(_calls[self.number].backward, given, self.infer(*map(type_of, given)))


def _computed(function: Any, arrays: Sequence[Any], types: Types) -> tuple[Any, ...]:
    with outside():
        results = [y.asnumpy() for y in function(*[NDArray(Array(x)) for x in arrays])]
    cast = [y.astype(numpy_dtype(t.dtype)) for y, t in zip(results, types, strict=True)]
    rows = zip(cast, types, strict=True)
    return tuple([np.ascontiguousarray(np.broadcast_to(y, t.dims)) for y, t in rows])


def _evaluated(op: Op, *inputs: Any) -> tuple[Any, ...]:
    return op.evaluate(*inputs)


for _op in (PythonCall, PythonGradient):
    device_backend("numpy").functions.on(_op)(_evaluated)


class Function:
    """A function with a gradient of its own: subclass with `forward` and `backward`."""

    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for `backward`, which finds them in `saved_tensors`."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """The outputs for these arrays."""
        raise NotImplementedError(f"{type(self).__name__} lacks forward(self, *inputs)")

    def backward(self, *output_grads: Any) -> Any:
        """The gradients by the inputs."""
        raise NotImplementedError(f"{type(self).__name__} lacks backward(self, *output_grads)")

    def __call__(self, *inputs: NDArray) -> Any:
        values = [x.read() for x in inputs]
        with outside():
            handles = [
                NDArray(Array(v.numpy()), x.context) for v, x in zip(values, inputs, strict=True)
            ]
            result = self.forward(*handles)
        ys = list(result) if isinstance(result, (list, tuple)) else [result]
        if state.recorders:
            number, outputs = next(_numbers), len(ys)
            types = tuple([y.type for y in ys])

            def pull(*given: NDArray) -> Any:
                dxs = self.backward(*given[:outputs])
                return list(dxs) if isinstance(dxs, (list, tuple)) else [dxs]

            _calls[number] = _Calls(lambda *_: types, self.forward, pull)
            made = record_node(PythonCall(number), tuple(values), [y.read() for y in ys])
            ys = [NDArray(y, inputs[0].context) for y in made]
        return ys if isinstance(result, (list, tuple)) else ys[0]


class CustomOp:
    """The computation of an op: subclass with `forward` and `backward`, which write arrays."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """Write out_data, by `assign`."""
        raise NotImplementedError(f"{type(self).__name__} lacks forward")

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        """Write in_grad, by `assign`."""
        raise NotImplementedError(f"{type(self).__name__} lacks backward")

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Write `src` into an array, or add it."""
        if req == "add":
            dst += src
        elif req != "null":
            dst[:] = src


class CustomOpProp:
    """Facts of an op before it runs: its arguments, outputs and shapes."""

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """The names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """The names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """The names of the auxiliary states."""
        return []

    def infer_shape(self, in_shape: Any) -> Any:
        """Shapes of (inputs, outputs, auxiliary states), each like the first input by default."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: Any) -> Any:
        """Types of (inputs, outputs, auxiliary states), each like the first input by default."""
        return in_type, [in_type[0]] * len(self.list_outputs()), []

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        """The computation for these shapes."""
        raise NotImplementedError(f"{type(self).__name__} lacks create_operator")


_properties: dict[str, type[CustomOpProp]] = {}


def register(reg_name: str) -> Callable[[type[CustomOpProp]], type[CustomOpProp]]:
    """A decorator: the class is the op `op_type=reg_name`."""

    def add(prop: type[CustomOpProp]) -> type[CustomOpProp]:
        _properties[reg_name] = prop
        return prop

    return add


def custom_entry(op_type: str, keywords: Mapping[str, Any]) -> OpEntry:
    """The entry of a registered op with these parameters, which it gets as text, as in MXNet.

    Raises:
        UnknownName: nothing is registered under `op_type`.
    """
    if op_type not in _properties:
        raise unknown("mx.operator.register: Custom", op_type, _properties)
    make: Any = _properties[op_type]
    prop = make(**{k: str(v) for k, v in keywords.items()})
    arguments, aux = list(prop.list_arguments()), list(prop.list_auxiliary_states())
    outputs = tuple(prop.list_outputs())

    def shapes(dims: Any, p: Any) -> dict[str, Any]:
        found = prop.infer_shape([list(dims)] * len(arguments))
        rows = list(found[0]) + list(found[2] if len(found) > 2 else [])
        return {n: tuple(s) for n, s in zip(arguments + aux, rows, strict=True)}

    def function(*values: Any) -> Any:
        results = _python_call(prop, len(aux)).outputs_of(*values)
        return results if len(results) > 1 else results[0]

    inputs = (*arguments, *aux)
    return OpEntry(
        op_type, function, inputs, {}, tuple(aux), shapes, lambda p: (), lambda p: outputs
    )


def _python_call(prop: CustomOpProp, aux_count: int) -> PythonCall:
    """A new op, whose computation is made when its inputs are known."""
    number, is_train = next(_numbers), training()
    made: list[CustomOp] = []
    outputs = len(prop.list_outputs())

    def types(*given: TensorType) -> Types:
        data = given[: len(given) - aux_count]
        shapes = prop.infer_shape([list(t.dims) for t in data])[1]
        dtypes = prop.infer_type([numpy_dtype(t.dtype).type for t in data])[1]
        named = [type_of(np.empty(0, d)).dtype for d in dtypes]
        ys = [TensorType(d, tuple(s)) for d, s in zip(named, shapes, strict=True)]
        return (*ys, *given[len(data) :])

    def operator(xs: Sequence[NDArray]) -> CustomOp:
        if not made:
            shapes, dtypes = [x.shape for x in xs], [x.dtype for x in xs]
            made.append(prop.create_operator(xs[0].context, shapes, dtypes))
        return made[0]

    def forward(*xs: NDArray) -> list[NDArray]:
        data, aux = xs[: len(xs) - aux_count], list(xs[len(xs) - aux_count :])
        ys = _empty(types(*[x.type for x in xs])[:outputs])
        operator(data).forward(is_train, ["write"] * outputs, list(data), ys, aux)
        return [*ys, *aux]

    def backward(*given: NDArray) -> list[NDArray]:
        n = (len(given) - 2 * (outputs + aux_count)) // 1
        dys, xs = given[:outputs], given[outputs + aux_count : outputs + aux_count + n]
        ys = given[outputs + aux_count + n :][:outputs]
        data, aux = list(xs[: n - aux_count]), list(xs[n - aux_count :])
        dxs = _empty([x.type for x in data])
        operator(data).backward(["write"] * len(data), list(dys), data, list(ys), dxs, aux)
        return [*dxs, *_empty([x.type for x in aux])]

    _calls[number] = _Calls(types, forward, backward)
    return PythonCall(number)


def _empty(types: Sequence[TensorType]) -> list[NDArray]:
    return [NDArray(Array(np.zeros(t.dims, numpy_dtype(t.dtype)))) for t in types]


__all__ = ["CustomOp", "CustomOpProp", "Function", "MXNetError", "custom_entry", "register"]
