"""A window that slides over an image: layouts, padding and extents, for convolution and pooling.

Along one axis the window touches `kernel` elements, `dilation` apart, so it spans
`(kernel - 1) * dilation + 1`; it moves by `stride` over an image that is padded by `lower` in front
and `upper` behind:

    extent of y = (lower + extent of x + upper - span) // stride + 1

`"VALID"` pads nothing.  `"SAME"` is TensorFlow's: y has ceil(extent / stride) elements, and the
padding that this takes is split evenly, the odd one behind.  Anything else is said in numbers,
`((top, bottom), (left, right))`.

Sources: the rules and their names are TensorFlow's (https://www.tensorflow.org/api_docs/python/tf/nn);
`ceil_mode` is Caffe's, with Torch's correction that no window starts behind the image.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, Union

import numpy as np

from byparts_graph_ir import Dimension, Op, ShapeError, TensorType, dimension
from byparts_opset.dtypes import Array

Kind = TypeVar("Kind", bound=Op)
Pair = tuple[int, int]
Padding = Union[str, tuple[Pair, Pair]]
Side = Union[str, Pair]  # the padding along one axis
Dims = tuple[Dimension, Dimension, Dimension, Dimension]

TO_NCHW = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2)}
FROM_NCHW = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 2, 3, 1)}
UNKNOWN: Dims = (None, None, None, None)


def nchw_dims(name: str, what: str, x: TensorType, layout: str) -> Dims:
    """Batch, channels, height and width of images.

    Raises:
        ShapeError: the rank is not 4.
    """
    if x.shape is None:
        return UNKNOWN
    if len(x.shape) != 4:
        raise ShapeError(f"{name}: {what} is {x} of rank {len(x.shape)}; {layout} has 4 axes")
    n, c, h, w = (x.shape[axis] for axis in TO_NCHW[layout])
    return (n, c, h, w)


def from_nchw(dtype: str, dims: Dims, layout: str) -> TensorType:
    """The type of images in a layout."""
    return TensorType(dtype, tuple(dims[axis] for axis in FROM_NCHW[layout]))


def span(kernel: Dimension, dilation: int) -> int | None:
    """The number of elements from the first to the last under a window, or `None`."""
    return (kernel - 1) * dilation + 1 if isinstance(kernel, int) else None


def side(padding: Padding, axis: int) -> Side:
    """The padding along height (0) or width (1)."""
    return padding if isinstance(padding, str) else padding[axis]


def pads(around: Side, extent: int, reach: int, stride: int) -> Pair:
    """The padding before and after the image along one axis, in numbers."""
    if around == "VALID":
        return (0, 0)
    if around == "SAME":
        total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
        return (total // 2, total - total // 2)
    assert not isinstance(around, str), "checked when the op was made"
    return around


def extent_of(
    name: str, extent: Dimension, reach: int | None, stride: int, around: Side, ceil: bool = False
) -> Dimension:
    """Number of windows that fit along one axis, as far as known.

    Raises:
        ShapeError: not even one does.
    """
    if around == "SAME":
        if isinstance(extent, int):  # numbers are most: no text is parsed for them
            return -(-extent // stride)
        return dimension("(extent+stride-1)//stride", {"extent": extent, "stride": stride})
    if reach is None:
        return None
    lower, upper = pads(around, 0, reach, stride)
    if not isinstance(extent, int):
        if ceil and stride != 1:
            return None
        terms = {"extent": extent, "more": lower + upper - reach, "stride": stride}
        return dimension("(extent+more)//stride+1", terms)
    room = extent + lower + upper - reach
    if room < 0:
        raise ShapeError(
            f"{name}: a window that spans {reach} does not fit into {extent} elements "
            f"with padding {(lower, upper)}; try padding='SAME'"
        )
    if not ceil:
        return room // stride + 1
    last = -(-room // stride)
    return last + 1 if last * stride < extent + lower else last


def check_fields(name: str, padding: Padding, layout: str, **positive: tuple[int, ...]) -> None:
    """Check the fields of an op with a window.

    Raises:
        ShapeError: naming the attribute, its value, and what it may be.
    """
    if layout not in TO_NCHW:
        raise ShapeError(f"{name}: layout {layout!r} is neither 'NCHW' nor 'NHWC'")
    for what, values in positive.items():
        if len(values) != 2 or not all(isinstance(v, int) and v > 0 for v in values):
            raise ShapeError(f"{name}: {what} {values!r} is no (height, width), both from 1")
    if padding not in ("SAME", "VALID") and not _is_pair_of_pairs(padding):
        raise ShapeError(
            f"{name}: padding {padding!r} is neither 'SAME' nor 'VALID' "
            "nor ((top, bottom), (left, right))"
        )


def remade(kind: type[Kind], op: Op, **changes: Any) -> Kind:
    """An op of `kind` with the fields of `op`, but for `changes`."""
    names: tuple[str, ...] = kind.__match_args__
    return kind(**{name: getattr(op, name) for name in names} | changes)


def pair(x: int | tuple[int, ...]) -> Pair:
    """`(height, width)`; a number stands for both."""
    values = (x, x) if isinstance(x, int) else tuple(x) if hasattr(x, "__iter__") else ()
    if len(values) != 2:
        raise ShapeError(f"{x!r} is neither a number nor a pair (height, width)")
    return (values[0], values[1])


def padding_of(x: Any) -> Padding:
    """Convert an argument to a `Padding`: a name in any case, one number, or one for each axis."""
    if isinstance(x, str):
        return x.upper()
    sides = (x, x) if isinstance(x, int) else tuple(x) if hasattr(x, "__iter__") else ()
    if len(sides) != 2:
        raise ShapeError(
            f"padding {x!r:.60} is neither 'SAME' nor 'VALID' nor a number nor one for each axis"
        )
    return (pair(sides[0]), pair(sides[1]))


def offsets(
    kernel: Pair, counts: Pair, strides: Pair, dilations: Pair = (1, 1)
) -> Iterator[tuple[int, int, slice, slice]]:
    """For each element (i, j) of the window, row by row, the slices of the image under it."""
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows = _strided(i * dilations[0], counts[0], strides[0])
            yield i, j, rows, _strided(j * dilations[1], counts[1], strides[1])


def padded(x: Array, around: tuple[Pair, Pair], value: Any = 0) -> Array:
    """Pad images [..., h, w] with `value`; negative padding crops."""
    (top, bottom), (left, right) = around
    h, w = x.shape[-2:]
    framed = np.full(
        (*x.shape[:-2], h + _added(top, bottom), w + _added(left, right)), value, x.dtype
    )
    rows, columns = slice(max(0, top), max(0, top) + h), slice(max(0, left), max(0, left) + w)
    framed[..., rows, columns] = x  # `np.pad` takes ten times as long for small images
    height, width = framed.shape[-2:]
    return framed[..., _cut(top, bottom, height), _cut(left, right, width)]


def _strided(start: int, count: int, stride: int) -> slice:
    return slice(start, start + (count - 1) * stride + 1 if count else start, stride)


def _added(lower: int, upper: int) -> int:
    return max(0, lower) + max(0, upper)


def _cut(lower: int, upper: int, extent: int) -> slice:
    return slice(max(0, -lower), extent - max(0, -upper))


def _is_pair_of_pairs(padding: object) -> bool:
    return (
        isinstance(padding, tuple)
        and len(padding) == 2
        and all(isinstance(p, tuple) and len(p) == 2 for p in padding)
        and all(isinstance(v, int) for p in padding for v in p)
    )
