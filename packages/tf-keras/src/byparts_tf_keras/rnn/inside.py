"""Names inside TensorFlow's `rnn_cell_impl` that programs take: `_linear`, checks of cells."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.initializers import Constant
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, is_nested
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.rnn.cells import zero_state

_PLACES = (
    "python.ops.rnn_cell_impl",
    "contrib.rnn.python.ops.core_rnn_cell",
    "contrib.rnn.python.ops.core_rnn_cell_impl",
)


@symbol("nn.rnn_cell._linear", *[f"{place}._linear" for place in _PLACES])
def linear(
    args: Any,
    output_size: int,
    bias: Any = True,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
    scope: Any = None,
) -> Tensor:
    """The inputs [batch, n], side by side, times a variable `kernel`, and a variable `bias`.

    Raises:
        ValueError: there is no input, or one is no matrix of known width.
    """
    if args is None or (is_nested(args) and not args):
        raise ValueError("`args` must be specified")
    inputs = [convert_to_tensor(a) for a in (args if is_nested(args) else [args])]
    width = 0
    for shape in [x.get_shape() for x in inputs]:
        if shape.ndims != 2 or shape[1].value is None:
            raise ValueError(f"linear is expecting 2D arguments of known width: {shape}")
        width += shape[1].value
    dtype = inputs[0].dtype.base_dtype
    with variable_scope(get_variable_scope() if scope is None else scope):
        kernel = get_variable("kernel", [width, output_size], dtype, kernel_initializer)
        product = matmul(inputs[0] if len(inputs) == 1 else concat(inputs, 1), kernel)
        if not bias:
            return product
        start = Constant(0.0, dtype=dtype) if bias_initializer is None else bias_initializer
        return product + get_variable("bias", [output_size], dtype, start)  # type: ignore[no-any-return]  # a tensor


@symbol(*[f"{place}._Linear" for place in _PLACES])
class Linear:
    """A layer that computes `linear`; the variables are made with the first inputs."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        self._scope = get_variable_scope()
        self._how = (output_size, build_bias, bias_initializer, kernel_initializer)
        self._made = False
        with variable_scope(self._scope):
            linear(args, *self._how)

    def __call__(self, args: Any) -> Tensor:
        """The product."""
        with variable_scope(self._scope, reuse=True):
            return linear(args, *self._how)


@symbol("python.ops.rnn_cell_impl._zero_state_tensors")
def zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros of [batch_size, size], in the structure of sizes."""
    return zero_state(state_size, batch_size, dtype)


@symbol("python.ops.rnn_cell_impl._like_rnncell", "python.ops.rnn._like_rnncell")
def like_rnncell(cell: Any) -> bool:
    """Whether an object has what a cell has."""
    parts = ("output_size", "state_size", "zero_state")
    return all(hasattr(cell, part) for part in parts) and callable(cell)


@symbol("python.ops.rnn_cell_impl.assert_like_rnncell")
def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Check that an object has what a cell has.

    Raises:
        TypeError: it has not.
    """
    missing = [
        f"{name!r} property is missing"
        for name in ("output_size", "state_size")
        if not hasattr(cell, name)
    ]
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        missing.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}."
        )


@symbol("python.ops.rnn_cell_impl._concat")
def concat_sizes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """The numbers of two shapes, one behind the other: a tensor, or with `static` a list."""
    parts = [_numbers(prefix, static), _numbers(suffix, static)]
    return [*parts[0], *parts[1]] if static else concat(parts, 0)


def _numbers(value: Any, static: bool) -> Any:
    if isinstance(value, Tensor) and not static:
        return value if value.dims else convert_to_tensor([value])
    numbers: Optional[list[Any]] = getattr(value, "as_list", lambda: flatten(value))()
    return numbers if static else convert_to_tensor(numbers)
