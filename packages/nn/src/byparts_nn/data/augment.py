"""Augmentation of pictures: functions (picture, random numbers) -> picture, for `Data.augment`.

A picture is an array whose last two axes are height and width: [height, width] or [channels,
height, width].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Union

import numpy as np

from byparts_graph_ir import ShapeError
from byparts_nn.data.samples import Array

Augmentation = Callable[[Array, np.random.Generator], Array]
Numbers = Union[float, Sequence[float]]


class flip:  # noqa: N801 - called as a function; a class can be sent to processes
    """Mirror left and right with a probability."""

    def __init__(self, probability: float = 0.5) -> None:
        self.probability = probability

    def __call__(self, picture: Array, random: np.random.Generator) -> Array:
        return picture[..., ::-1] if random.random() < self.probability else picture


class crop:  # noqa: N801 - likewise
    """Pad all sides by `pad` pixels of `fill`, and cut out a picture of the old size, or `size`."""

    def __init__(self, pad: int, size: tuple[int, int] | None = None, fill: float = 0) -> None:
        self.pad, self.size, self.fill = pad, size, fill

    def __call__(self, picture: Array, random: np.random.Generator) -> Array:
        height, width = self.size or picture.shape[-2:]
        border = [(0, 0)] * (picture.ndim - 2) + [(self.pad, self.pad)] * 2
        padded = np.pad(picture, border, constant_values=self.fill)
        spare = padded.shape[-2] - height, padded.shape[-1] - width
        if min(spare) < 0:
            old = "x".join(map(str, picture.shape[-2:]))
            what = f"crop: no {height}x{width} in a picture of {old} padded by {self.pad}"
            raise ShapeError(f"{what}; give a larger pad")
        top, left = (int(random.integers(n + 1)) for n in spare)
        cut: Array = padded[..., top : top + height, left : left + width]
        return cut


class cutout:  # noqa: N801 - likewise
    """Fill a square of `size` pixels, whose middle is anywhere in the picture."""

    def __init__(self, size: int, fill: float = 0) -> None:
        self.size, self.fill = size, fill

    def __call__(self, picture: Array, random: np.random.Generator) -> Array:
        top, left = (int(random.integers(n)) - self.size // 2 for n in picture.shape[-2:])
        cut: Array = picture.copy()
        cut[..., max(top, 0) : top + self.size, max(left, 0) : left + self.size] = self.fill
        return cut


class normalise:  # noqa: N801 - likewise
    """(picture - mean) / deviation as f32; several numbers are those of the channels."""

    def __init__(self, mean: Numbers, deviation: Numbers) -> None:
        self.mean, self.deviation = (_of_channels(x) for x in (mean, deviation))

    def __call__(self, picture: Array, random: np.random.Generator | None = None) -> Array:
        scaled: Array = (picture.astype(np.float32) - self.mean) / self.deviation
        return scaled


def _of_channels(numbers: Numbers) -> Array:
    array = np.asarray(numbers, np.float32)
    return array.reshape(-1, 1, 1) if array.ndim else array
