"""Operations that write variables.

    ASSIGN_ADD = update("AssignAdd", lambda old, value: old + value)
    new = ASSIGN_ADD(variable._ref(), value)       # a tensor of the variable's new value

A write starts from the latest value that the run has for the variable, so writes of one run that
nothing orders are done one after the other; reads see those that are ordered before them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims


class Update(Kind):
    """A kind that writes variables.

    Args:
        type: TensorFlow's name.
        meaning: takes the old values of the first `references` inputs and the values of the others;
            gives the new values of those, a single one or a tuple.
        references: how many of the inputs are variables.
        old: whether the old values are read.
        values: positions of inputs that come as numbers.
    """

    __slots__ = ("_new", "_old", "_references")

    def __init__(
        self,
        type: str,
        meaning: Callable[..., Any],
        references: int = 1,
        old: bool = True,
        values: Sequence[int] = (),
        shape: Optional[Callable[..., Any]] = None,
    ) -> None:
        super().__init__(
            type,
            special=self._write,
            values=values,
            shape=shape or _like_variable,
            dtype=lambda inputs, **_: inputs[0].dtype,
            gradient=False,
        )
        self._new, self._references, self._old = meaning, references, old

    def operation(
        self, inputs: Sequence[Tensor], name: Optional[str] = None, **attributes: Any
    ) -> Operation:
        """Make an operation as `Kind.operation`; its output is the memory of the first variable."""
        op = super().operation(inputs, name, **attributes)
        op.outputs[0].variable = inputs[0].variable
        return op

    def _write(self, lowering: Any, op: Operation) -> None:
        if not op.inputs[0].dtype.base_dtype.own:
            _write_object(lowering, op)
            return
        variables = [t.variable for t in op.inputs[: self._references]]
        old = [lowering.variables.latest(v) for v in variables] if self._old else []
        numbers = self.numbers(len(op.inputs))
        given = [
            lowering.number(t, op) if i in numbers else lowering.value(t, op)
            for i, t in enumerate(op.inputs)
            if i >= self._references
        ]
        new = self._new(*old, *given, **op.attributes)
        for variable, value in zip(
            variables, (new,) if isinstance(new, Value) else new, strict=True
        ):
            lowering.variables.write(op, variable, value)


def _write_object(lowering: Any, op: Operation) -> None:
    """Assign a value that lives on the host: strings."""
    if op.type != "Assign" or lowering.outer is not None:
        raise TypeError(f"{op.type} of a variable of dtype {op.inputs[0].dtype.base_dtype.name}")
    variables, variable = lowering.run.session.variables, op.inputs[0].variable

    def write(value: Any) -> Any:
        variables.write_object(variable, value)
        return value

    lowering.call(op, write, [op.inputs[1]], [object])


def _like_variable(inputs: Sequence[Tensor], **_: Any) -> Dims:
    return inputs[0].dims


update = Update


def reference(variable: Any) -> Tensor:
    """The memory that an operation writes: of a variable, or of what an assignment gave.

    Raises:
        TypeError, ValueError: it is none.
    """
    if hasattr(variable, "_ref"):
        return variable._ref()  # type: ignore[no-any-return]  # a tensor
    if isinstance(variable, Tensor) and variable.variable is not None:
        return variable
    raise TypeError(f"a variable is expected, not {variable!r}: only variables can be assigned")
