"""Products of layers, with what is known of the shapes of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.nn.conv import conv2d_transpose
from byparts_frontend_tf.api.nn.conv3d import conv3d_transpose
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.operation import Tensor


def along_last_axis(x: Tensor, w: Any) -> Tensor:
    """x [..., n] times w [n, m]: [..., m]."""
    if x.dims is not None and len(x.dims) == 2:
        return matmul(x, w)
    rows, columns = w.get_shape().as_list()
    made = matmul(reshape(x, [-1, rows]), w)
    made = reshape(made, concat([shape_of(x)[:-1], [columns]], 0))
    if x.dims is not None:
        made.set_shape([*x.dims[:-1], columns])
    return made


def enlarged(
    x: Tensor,
    kernel: Any,
    filters: int,
    strides: Sequence[int],
    padding: str,
    layout: str,
    extent: Callable[[Any, int], Any],
) -> Tensor:
    """The transposed convolution of images or volumes, as `layout` has 4 or 5 letters.

    Args:
        x: the images.
        kernel: [spatial..., filters, in].
        filters: channels of the result.
        strides: for each spatial axis.
        padding: "SAME" or "VALID".
        layout: as "NHWC".
        extent: (extent of x, which may be a tensor; number of the axis) -> that of the result.
    """
    rank, first = len(layout) - 2, layout[1] == "C"
    begin, sized = 2 if first else 1, shape_of(x)
    dims = [sized[a] if n is None else n for a, n in enumerate(x.dims or (None,) * (rank + 2))]
    inner = [extent(dims[begin + i], i) for i in range(rank)]
    shape = [dims[0], filters, *inner] if first else [dims[0], *inner, filters]
    steps = [1, 1, *strides] if first else [1, *strides, 1]
    convolve = conv2d_transpose if rank == 2 else conv3d_transpose
    made = convolve(x, kernel, shape, steps, padding, data_format=layout)
    made.set_shape([n if isinstance(n, int) else None for n in shape])
    return made
