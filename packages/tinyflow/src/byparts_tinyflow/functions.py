"""The functions of `tf.*`: TensorFlow's, but for what TinyFlow does differently.

Comparisons and argmax give floats, padding names one axis, draws repeat from program to program,
and a gradient that cannot be is an error.  Whole reductions give 0-d values, which in TinyFlow had
shape (1,) and could not be printed with `%g`.
"""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tensorflow
import byparts_opset as ops
from byparts_autodiff import GradientError
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32
from byparts_tf_files.errors import raises_graph_errors
from byparts_tinyflow.state import next_number

zeros, ones = map(raises_graph_errors, (tensorflow.zeros, tensorflow.ones))
zeros_like, ones_like = map(raises_graph_errors, (tensorflow.zeros_like, tensorflow.ones_like))
mul, div = map(raises_graph_errors, (tensorflow.multiply, tensorflow.div))
pow, sqrt = map(raises_graph_errors, (tensorflow.pow, tensorflow.sqrt))
exp, log = map(raises_graph_errors, (tensorflow.exp, tensorflow.log))
tanh, relu = map(raises_graph_errors, (tensorflow.tanh, tensorflow.nn.relu))
softmax, matmul = map(raises_graph_errors, (tensorflow.nn.softmax, tensorflow.matmul))
reduce_sum, reduce_mean = map(raises_graph_errors, (tensorflow.reduce_sum, tensorflow.reduce_mean))
set_random_seed = raises_graph_errors(tensorflow.set_random_seed)


@raises_graph_errors
def equal(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Tensor:
    """1.0 where x == y, and 0.0 elsewhere."""
    made: Tensor = tensorflow.cast(tensorflow.equal(x, y), float32, name)
    return made


@raises_graph_errors
def argmax(x: TensorLike, axis: int, name: Optional[str] = None) -> Tensor:
    """The place of the largest along an axis, as a float."""
    made: Tensor = tensorflow.cast(tensorflow.argmax(x, axis), float32, name)
    return made


@raises_graph_errors
def normal(shape: TensorLike, stdev: float = 1.0, name: Optional[str] = None) -> Tensor:
    """Normal numbers of mean 0, new ones in each run; the same in each process."""
    made: Tensor = tensorflow.random_normal(shape, 0.0, stdev, seed=next_number("draw"), name=name)
    return made


def _pad(x: Value, axis: int, around: tuple[int, int]) -> Value:
    widths = [(0, 0)] * len(x.type.dims)
    widths[axis_of(axis, len(widths))] = around
    return ops.pad(x, tuple(widths))


_PAD = Kind("PadAxis", _pad)


@raises_graph_errors
def pad(x: TensorLike, dim: int = 0, pad: int = 0, name: Optional[str] = None) -> Tensor:
    """Zeros along one axis: |pad| of them, before where it is negative, else behind."""
    around = max(0, -int(pad)), max(0, int(pad))
    return _PAD(convert_to_tensor(x), name=name, axis=int(dim), around=around)


@raises_graph_errors
def gradients(ys: Any, xs: Any, grad_ys: Any = None) -> list[Tensor]:
    """The gradient of the sum of `ys` (weighted by `grad_ys`) for each of `xs`, always a list.

    Raises:
        GradientError: none gets from `ys` to an x.
    """
    listed = xs if isinstance(xs, (list, tuple)) else [xs]
    found: list[Any] = tensorflow.gradients(ys, listed, grad_ys)
    for x, dx in zip(listed, found, strict=True):
        if dx is None:
            raise GradientError(f"gradients: none gets to {x.name!r}, made at {x.op.where}")
    return found
