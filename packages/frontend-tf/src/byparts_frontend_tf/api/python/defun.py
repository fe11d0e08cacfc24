"""`function.Defun`: a function of tensors whose gradient a program may say.

Its operations are made where it is called; what TensorFlow keeps as one operation are many here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype


@symbol("python.framework.function.Defun")
class Defun:
    """Makes a function of tensors of a Python function.

    Args:
        input_types: the dtypes of its arguments; none: those of what it is called with.
        kwargs: `python_grad_func` takes the operation and the gradients of the results and gives
            those of `op.inputs`; `grad_func` takes the arguments and the gradients of the results;
            `func_name` is its name; others are accepted.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._types = [as_dtype(t) for t in input_types]
        self._name = kwargs.get("func_name")
        self._gradient = kwargs.get("python_grad_func")
        if self._gradient is None and kwargs.get("grad_func") is not None:
            of_arguments = kwargs["grad_func"]
            self._gradient = lambda op, *dys: of_arguments(*op.inputs, *dys)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        name = self._name or getattr(func, "__name__", "defun").strip("<>")

        @wraps(func)
        def defined(*args: Any, **kwargs: Any) -> Any:
            if self._types and len(args) != len(self._types):
                raise ValueError(f"Expected number of arguments: {len(self._types)}: {len(args)}")
            types: list[Any] = list(self._types) or [None] * len(args)
            with name_scope(kwargs.get("name"), name):
                inputs = [convert_to_tensor(a, t) for a, t in zip(args, types, strict=True)]
                return self._called(func, inputs)

        return defined

    def _called(self, func: Callable[..., Any], inputs: list[Any]) -> Any:
        made = func(*[identity(t) for t in inputs])
        gradient = self._gradient
        if gradient is None or made is None:
            return made
        leaves = [convert_to_tensor(t) for t in flatten(made)]

        def of_inputs(op: Operation, *dys: Any) -> Any:
            return gradient(SimpleNamespace(inputs=tuple(inputs), outputs=op.outputs), *dys)

        return pack_sequence_as(made, list(with_gradient(leaves, inputs, of_inputs)))
