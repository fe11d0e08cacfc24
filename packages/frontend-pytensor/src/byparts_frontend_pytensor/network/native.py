"""An `Operation` written with NumPy as one op of a recorded graph.

Its meaning is the class's `forward`, its gradient the class's `backward`, run on tensors of their
own: a graph is pure, so both start from the inputs alone.  Parameters that the operation keeps as
attributes are inputs too.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from byparts_eager import Function
from byparts_frontend_pytensor.network.tensor import LongTensor, Tensor
from byparts_graph_ir import GraphError, Value


class Native(Function):
    """The function of arrays that an operation is: its inputs, its parameters, labels of a loss."""

    operation: Any
    inputs: Any  # which of a list of inputs are there; `None`: one tensor, no list
    parameters: tuple[str, ...]  # attributes
    is_loss: bool

    def forward(self, *arrays: Any) -> Any:
        """The value of the output, or the loss."""
        return self._run(arrays)[2]

    def backward(self, dy: Any, *arrays: Any) -> Any:
        """The gradients of the inputs, by the operation's `backward`."""
        operation, tensors, _ = self._run(arrays[:-1])
        if not self.is_loss:
            operation.output_tensor.grad = np.array(dy)
        operation.backward()
        scale = dy if self.is_loss else 1  # `backward` of a loss is for a gradient of 1
        return tuple([t.grad * scale if isinstance(t, Tensor) else t.value * 0 for t in tensors])

    def _run(self, arrays: Any) -> tuple[Any, list[Any], Any]:
        operation: Any = copy(self.operation)
        graph = copy(operation.graph)
        if graph is not None:
            graph.forward_ops = []  # a tape that nobody reads
        tensors = [Tensor.of(np.array(x)) if x.dtype.kind == "f" else LongTensor(x) for x in arrays]
        *inputs, target = tensors if self.is_loss else [*tensors, None]
        count = len(inputs) - len(self.parameters)
        kept = dict(zip(self.parameters, inputs[count:], strict=True))
        operation.__dict__.update(kept, graph=graph, _last_use=None, _waiting=(), _inside=False)
        present = iter(inputs[:count])
        given: Any = inputs[0]
        if self.inputs is not None:
            given = [next(present) if there else None for there in self.inputs]
        output = operation.forward(given)
        if not isinstance(output, Tensor):
            raise GraphError(
                f"{operation.name}: forward of {type(operation).__name__} gives a "
                f"{type(output).__name__}; an op of a recorded graph gives one Tensor"
            )
        operation.output_tensor = output
        value = operation.loss(target) if self.is_loss else output.value
        return operation, tensors, np.asarray(value)


def is_traced(tensors: Any) -> bool:
    """Whether a value among them is recorded rather than an array of a program."""
    return any([isinstance(t._value, Value) for t in _flat(tensors) if isinstance(t, Tensor)])


def run_native(operation: Any, tensors: Any, target: Any = None) -> Any:
    """The output of an operation for recorded inputs, or its loss, as one op.

    Raises:
        GraphError: `forward` gives several tensors.
    """
    flat = _flat(tensors)
    known = [] if operation.graph is None else operation.graph.parameter.tensor_dict.values()
    ours = {id(t) for t in known}
    kept = {k: t for k, t in operation.__dict__.items() if id(t) in ours}
    several = isinstance(tensors, (list, tuple))
    inputs = tuple([t is not None for t in tensors]) if several else None
    key = (inputs, tuple(kept), target is not None)
    natives = operation.__dict__.setdefault("_natives", {})
    if key not in natives:  # one for all uses, so that an op that was met before is known
        natives[key] = type(type(operation).__name__, (Native,), {})(
            operation=operation, inputs=inputs, parameters=tuple(kept), is_loss=target is not None
        )
    operation.input_tensors = tensors
    arrays = [*flat, *kept.values(), *([] if target is None else [target])]
    result = natives[key](*[t.value for t in arrays])
    return result if target is not None else Tensor.of(result, operation.xp)


def _flat(tensors: Any) -> list[Any]:
    several = isinstance(tensors, (list, tuple))
    return [t for t in tensors if t is not None] if several else [tensors]
