"""Parts of images, and images with zeros around: `tf.image.crop_*`, `pad_*`, `central_crop`.

Sizes and offsets may be tensors.
"""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.debugging.asserts import assert_greater_equal, assert_positive
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import maximum, minimum
from byparts_frontend_tf.api.pad import pad
from byparts_frontend_tf.api.reshape import expand_dims, reshape, squeeze
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.api.strided_slice import slice_
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float64, int32

Size = Any  # a number, or a tensor of one


def image_tensor(image: TensorLike, at_least: int = 3) -> Tensor:
    """An image [height, width, channels] or a batch of them, as a tensor.

    Raises:
        ValueError: it is known to be of another rank, or to have an axis of 0.
    """
    x = convert_to_tensor(image, name="image")
    if x.dims is None:
        return x
    if len(x.dims) < at_least or (at_least == 3 and len(x.dims) not in (3, 4)):
        what = "must be at least three-dimensional" if at_least == 3 else "is of another rank"
        raise ValueError(f"'image' (shape {x.shape}) {what}.")
    if any(d == 0 for d in x.dims[-3:]):
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {x.shape}")
    return x


def as_batch(x: Tensor) -> tuple[Tensor, bool]:
    """Images as a batch, and whether they were one; of unknown rank it is one image.

    Raises:
        ValueError: the rank is neither 3 nor 4.
    """
    if x.dims is None:
        x.set_shape([None] * 3)
    assert x.dims is not None, "set above"
    if len(x.dims) == 4:
        return x, True
    if len(x.dims) != 3:
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return expand_dims(x, 0), False


def unbatched(x: Tensor, was_batch: bool) -> Tensor:
    """The image of a batch of one, unless it was a batch."""
    return x if was_batch else squeeze(x, axis=[0])


def sizes_of(x: Tensor) -> list[Size]:
    """Size of each axis: a number where it is known, else a tensor."""
    assert x.dims is not None, "asked for before"
    late = shape_of(x) if None in x.dims else None
    return [late[i] if d is None else d for i, d in enumerate(x.dims)]  # type: ignore[index]


def _plain(given: Any) -> Size:
    if isinstance(given, Tensor) or hasattr(given, "_as_tensor"):
        known = static_value(convert_to_tensor(given))
        return given if known is None else int(known)
    return int(getattr(given, "value", given))


def _checked(x: Tensor, conditions: list[tuple[Size, int, str]]) -> Tensor:
    """The tensor, when each number is at least its limit.

    Raises:
        ValueError: one is known not to be.
    """
    checks = []
    for number, limit, message in conditions:
        if isinstance(number, Tensor):
            made = assert_positive(number) if limit else assert_greater_equal(number, 0)
            checks.append(made)
        elif number < limit:
            raise ValueError(message)
    if not checks:
        return x
    with control_dependencies(checks):
        return identity(x)  # type: ignore[no-any-return]  # a tensor


def _known(*sizes: Size) -> list[Any]:
    return [None if isinstance(s, Tensor) else s for s in sizes]


@symbol("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """The part of images of a size, from an offset on.

    Raises:
        ValueError: it is not inside.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        x, was_batch = as_batch(image_tensor(image))
        batch, height, width, depth = sizes_of(x)
        above, left = _plain(offset_height), _plain(offset_width)
        high, wide = _plain(target_height), _plain(target_width)
        x = _checked(
            x,
            [
                (left, 0, "offset_width must be >= 0."),
                (above, 0, "offset_height must be >= 0."),
                (wide, 1, "target_width must be > 0."),
                (high, 1, "target_height must be > 0."),
                (width - (wide + left), 0, "width must be >= target + offset."),
                (height - (high + above), 0, "height must be >= target + offset."),
            ],
        )
        part = slice_(x, stack([0, above, left, 0]), stack([-1, high, wide, -1]))
        part.set_shape(_known(batch, high, wide, depth))
        return unbatched(part, was_batch)


@symbol("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """Images at an offset in zeros of a size.

    Raises:
        ValueError: they do not fit.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        x, was_batch = as_batch(image_tensor(image))
        batch, height, width, depth = sizes_of(x)
        above, left = _plain(offset_height), _plain(offset_width)
        high, wide = _plain(target_height), _plain(target_width)
        below, right = high - above - height, wide - left - width
        x = _checked(
            x,
            [
                (above, 0, "offset_height must be >= 0"),
                (left, 0, "offset_width must be >= 0"),
                (right, 0, "width must be <= target - offset"),
                (below, 0, "height must be <= target - offset"),
            ],
        )
        paddings = reshape(stack([0, 0, above, below, left, right, 0, 0]), [4, 2])
        padded = pad(x, paddings)
        padded.set_shape(_known(batch, high, wide, depth))
        return unbatched(padded, was_batch)


@symbol("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
def resize_image_with_crop_or_pad(
    image: TensorLike, target_height: Size, target_width: Size
) -> Tensor:
    """Images cropped, or with zeros around, about their centre.

    Raises:
        ValueError: a target is not positive.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        x, was_batch = as_batch(image_tensor(image))
        _, height, width, _ = sizes_of(x)
        high, wide = _plain(target_height), _plain(target_width)
        x = _checked(
            x,
            [
                (wide, 1, "target_width must be > 0."),
                (high, 1, "target_height must be > 0."),
            ],
        )
        more_high, more_wide = high - height, wide - width
        cropped = crop_to_bounding_box(
            x,
            _largest(-more_high // 2, 0),
            _largest(-more_wide // 2, 0),
            _least(high, height),
            _least(wide, width),
        )
        made = pad_to_bounding_box(
            cropped, _largest(more_high // 2, 0), _largest(more_wide // 2, 0), high, wide
        )
        return unbatched(made, was_batch)


def _largest(a: Size, b: Size) -> Size:
    return maximum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else max(a, b)


def _least(a: Size, b: Size) -> Size:
    return minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


@symbol("image.central_crop")
def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle of images: this fraction of each of height and width.

    Raises:
        ValueError: a fraction that is not in (0, 1].
    """
    with name_scope(None, "central_crop", [image]):
        x = image_tensor(image)
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return x
        if x.dims is None:
            raise ValueError("central_crop: the rank of the image has to be known")
        first = len(x.dims) - 3
        sizes = sizes_of(x)
        starts: list[Size] = [0] * first
        counts: list[Size] = [-1] * first
        for size in sizes[first : first + 2]:
            start = _margin(size, central_fraction)
            starts.append(start)
            counts.append(size - start * 2)
        part: Tensor = slice_(x, stack([*starts, 0]), stack([*counts, -1]))
        part.set_shape([*x.dims[:first], *_known(*counts[first:]), x.dims[-1]])
        return part


def _margin(size: Size, fraction: float) -> Size:
    if isinstance(size, Tensor):
        wide = cast(size, float64)
        return cast((wide - wide * fraction) / 2.0, int32)
    return int((float(size) - float(size) * fraction) / 2)
