"""Convolutions of `tf.contrib.layers`: of rows, images and volumes, and transposed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.layers.shaped_products import enlarged
from byparts_frontend_tf.api.nn.conv import (
    conv1d as conv1d_of,
    conv2d as conv2d_of,
)
from byparts_frontend_tf.api.nn.conv3d import conv3d as conv3d_of
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_contrib.layers.contrib_initializers import xavier_initializer
from byparts_tf_contrib.layers.contrib_layers import (
    channels_of,
    finished,
    made_weights,
    spread,
)


def _of_rank(name: str, convolve: Callable[..., Tensor], *layouts: str) -> Callable[..., Any]:
    def layer(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: Any = None,
        rate: Any = 1,
        activation_fn: Any = relu,
        normalizer_fn: Any = None,
        normalizer_params: Any = None,
        weights_initializer: Any = None,
        weights_regularizer: Any = None,
        biases_initializer: Any = Zeros(),  # noqa: B008  # it is never changed
        biases_regularizer: Any = None,
        reuse: Any = None,
        variables_collections: Any = None,
        outputs_collections: Any = None,
        trainable: bool = True,
        scope: Any = None,
    ) -> Any:
        settings = dict(locals())
        layout = data_format or layouts[0]
        if layout not in layouts:
            raise ValueError(f"{name}: data_format is {' or '.join(layouts)}, and not {layout}")
        with variable_scope(scope, "Conv", [inputs], reuse=reuse) as entered:
            x = convert_to_tensor(inputs)
            channels = channels_of(x, 1 if layout[1] == "C" else -1)
            size = [*sizes(kernel_size, len(layout) - 2, "kernel_size"), channels, num_outputs]
            w = made_weights("weights", size, weights_initializer or xavier_initializer(), settings)
            steps, gaps = spread(stride, layout), spread(rate, layout)
            y = convolve(x, w, steps, padding, data_format=layout, dilations=gaps)
            return finished(y, settings, num_outputs, layout, entered)

    layer.__name__, layer.__module__ = name, __name__
    layer.__doc__ = f"A convolution {layouts[0]}, normalized or with biases, and the activation."
    return add_arg_scope(layer)


conv1d = _of_rank("conv1d", conv1d_of, "NWC")
conv2d = _of_rank("conv2d", conv2d_of, "NHWC", "NCHW")
conv3d = _of_rank("conv3d", conv3d_of, "NDHWC")


@symbol("contrib.layers.conv2d_transpose", "contrib.slim.conv2d_transpose")
@symbol("contrib.layers.convolution2d_transpose", "contrib.slim.convolution2d_transpose")
@add_arg_scope
def conv2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = Zeros(),  # noqa: B008  # it is never changed
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The transpose of `conv2d`: images `stride` times as large."""
    settings = dict(locals())
    with variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        channels = channels_of(x, 1 if data_format == "NCHW" else -1)
        size, steps = sizes(kernel_size, 2, "kernel_size"), sizes(stride, 2, "stride")
        shape = [*size, num_outputs, channels]
        w = made_weights("weights", shape, weights_initializer or xavier_initializer(), settings)

        def extent(n: Any, axis: int) -> Any:
            more = max(size[axis] - steps[axis], 0) if padding.upper() == "VALID" else 0
            return n * steps[axis] + more

        y = enlarged(x, w, num_outputs, steps, padding, data_format, extent)
        return finished(y, settings, num_outputs, data_format, entered)


_NAMES = {
    "conv1d": ("conv1d", "convolution1d"),
    "conv2d": ("conv2d", "convolution2d", "convolution"),
    "conv3d": ("conv3d", "convolution3d"),
}
SYMBOLS = {
    f"contrib.{part}.{name}": function
    for part in ("layers", "slim")
    for function, names in _NAMES.items()
    for name in names
}
