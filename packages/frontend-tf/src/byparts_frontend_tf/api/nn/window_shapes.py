"""Static shapes of convolutions and pooling, for `Kind(shape=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_tf_files.shape import Dims, shown

Pair = tuple[int, int]


def windows(d: Optional[int], size: Optional[int], stride: int, padding: Any, axis: int) -> Any:
    """Number of windows along an axis; `None` where that is not known.

    Raises:
        ValueError: there is none.
    """
    if d is None or (size is None and padding != "SAME"):
        return None
    if padding == "SAME":
        return -(-d // stride)
    assert size is not None, "asked for above"
    whole = d + (0 if padding == "VALID" else sum(padding[axis]))
    if whole < size:
        raise ValueError(f"Negative dimension size caused by subtracting {size} from {whole}")
    return (whole - size) // stride + 1


def image_dims(dims: Dims, layout: str) -> tuple[Any, Any, Any, Any]:
    """Images, height, width, channels.

    Raises:
        ValueError: there are more or fewer axes.
    """
    if dims is None:
        return None, None, None, None
    if len(dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(dims)}: {shown(dims)}")
    n, a, b, c = dims
    return (n, b, c, a) if layout == "NCHW" else (n, a, b, c)


def images(n: Any, h: Any, w: Any, c: Any, layout: str) -> Dims:
    """The shape of images."""
    return (n, c, h, w) if layout == "NCHW" else (n, h, w, c)


def _convolved(
    inputs: Sequence[Tensor], strides: Pair, padding: Any, dilations: Pair, layout: str
) -> tuple[Any, Any, Any, Any, Any]:
    n, h, w, c = image_dims(inputs[0].dims, layout)
    kernel: Any = inputs[1].dims or (None,) * 4
    if len(kernel) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(kernel)} for a filter")
    spans = [
        None if k is None else (k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=False)
    ]
    rows = windows(h, spans[0], strides[0], padding, 0)
    columns = windows(w, spans[1], strides[1], padding, 1)
    return n, rows, columns, c, kernel


def conv_shape(
    inputs: Sequence[Tensor], *, strides: Pair, padding: Any, dilations: Pair, layout: str
) -> Dims:
    """Shape of a convolution by filters [h, w, in, out]."""
    n, h, w, _, kernel = _convolved(inputs, strides, padding, dilations, layout)
    return images(n, h, w, kernel[3], layout)


def depthwise_shape(
    inputs: Sequence[Tensor], *, strides: Pair, padding: Any, dilations: Pair, layout: str
) -> Dims:
    """Shape of a convolution by filters [h, w, in, times], each channel by its own."""
    n, h, w, c, kernel = _convolved(inputs, strides, padding, dilations, layout)
    c = kernel[2] if c is None else c
    return images(n, h, w, None if c is None or kernel[3] is None else c * kernel[3], layout)


def transposed_shape(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """Shape of the transpose of a convolution, which its third input names."""
    known = static_dims(inputs[2])
    return (None,) * 4 if known is None else known


def pool_shape(
    inputs: Sequence[Tensor], *, ksize: Pair, strides: Pair, padding: Any, layout: str
) -> Dims:
    """Shape of a pooling."""
    n, h, w, c = image_dims(inputs[0].dims, layout)
    rows = windows(h, ksize[0], strides[0], padding, 0)
    columns = windows(w, ksize[1], strides[1], padding, 1)
    return images(n, rows, columns, c, layout)
