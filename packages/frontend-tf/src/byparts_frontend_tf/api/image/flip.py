"""Images turned over and around: `tf.image.flip_*`, `rot90`, `transpose_image`; and by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.cond import case
from byparts_frontend_tf.api.image.crop import image_tensor
from byparts_frontend_tf.api.math.binary import equal_tensors, less
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.reverse import reverse
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol


def _axes(x: Tensor, *axes: int) -> list[int]:
    """Axes of an image, counted in the tensor; one of unknown rank is one image."""
    if x.dims is None:
        x.set_shape([None] * 3)
    assert x.dims is not None, "set above"
    if len(x.dims) not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return [a + len(x.dims) - 3 for a in axes]


def _flip(name: str, axis: int, doc: str) -> Callable[[TensorLike], Tensor]:
    def flip(image: TensorLike) -> Tensor:
        with name_scope(None, name, [image]):
            x = image_tensor(image)
            return reverse(x, _axes(x, axis))

    flip.__name__ = flip.__qualname__ = name
    flip.__doc__ = doc
    return flip


def _random_flip(name: str, axis: int, doc: str) -> Callable[..., Tensor]:
    def random_flip(image: TensorLike, seed: Optional[int] = None) -> Tensor:
        with name_scope(None, name, [image]) as scope:
            x = image_tensor(image)
            turned = reverse(x, _axes(x, axis))
            if x.dims is not None and len(x.dims) == 4:  # each image by its own draw
                chance = random_uniform(shape_of(x)[:1], 0, 1.0, seed=seed)
                chance = reshape(chance, [-1, 1, 1, 1])
            else:
                chance = random_uniform([], 0, 1.0, seed=seed)
            made = where_v2(less(chance, 0.5), turned, x, name=scope)
            made.set_shape(x.dims)
            return made

    random_flip.__name__ = random_flip.__qualname__ = name
    random_flip.__doc__ = doc
    return random_flip


flip_left_right = _flip("flip_left_right", 1, "Images with their columns in the opposite order.")
flip_up_down = _flip("flip_up_down", 0, "Images with their rows in the opposite order.")
random_flip_left_right = _random_flip(
    "random_flip_left_right", 1, "Images, half of them with columns in the opposite order."
)
random_flip_up_down = _random_flip(
    "random_flip_up_down", 0, "Images, half of them with rows in the opposite order."
)


@symbol("image.transpose_image", "image.transpose")
def transpose_image(image: TensorLike, name: Optional[str] = None) -> Tensor:
    """Images with rows as columns."""
    with name_scope(name, "transpose_image", [image]):
        x = image_tensor(image)
        down, across, depth = _axes(x, 0, 1, 2)
        return transpose(x, [*range(down), across, down, depth])


@symbol("image.rot90")
def rot90(image: TensorLike, k: Any = 1, name: Optional[str] = None) -> Tensor:
    """Images turned k times by 90 degrees, counter-clockwise."""
    with name_scope(name, "rot90", [image, k]):
        x, turns = image_tensor(image), convert_to_tensor(k, name="k")
        if turns.dims != ():
            raise ValueError(f"k must be a scalar, and is of shape {turns.shape}")
        known = static_value(turns)
        if known is not None:
            return _turned(x, int(known) % 4)
        cases = [(equal_tensors(turns % 4, n), lambda n=n: _turned(x, n)) for n in (1, 2, 3)]
        made: Tensor = case(cases, default=lambda: x, exclusive=True)
        made.set_shape(
            [None, None, None] if x.dims is None else [*x.dims[:-3], None, None, x.dims[-1]]
        )
        return made


def _turned(x: Tensor, times: int) -> Tensor:
    down, across, depth = _axes(x, 0, 1, 2)
    order = [*range(down), across, down, depth]
    if times == 1:
        return transpose(reverse(x, [across]), order)
    if times == 2:
        return reverse(x, [down, across])
    return reverse(transpose(x, order), [across]) if times == 3 else x


SYMBOLS = {
    f"image.{name}": name
    for name in (
        *("flip_left_right", "flip_up_down", "random_flip_left_right", "random_flip_up_down"),
    )
}
