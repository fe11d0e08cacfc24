"""Augmentation of pictures: functions (picture, random numbers) -> picture, for `Data.augment`.

A picture is an array whose last two axes are height and width.  The functions are classes, so that
they can be sent to processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from byparts_graph_ir import ShapeError
from byparts_nn.data.samples import Array

Numbers = Union[float, Sequence[float]]


@dataclass(frozen=True)
class flip:  # noqa: N801 - called as a function
    """Mirror left and right with a probability."""

    probability: float = 0.5

    def __call__(self, picture: Array, random: np.random.Generator) -> Array:
        return picture[..., ::-1] if random.random() < self.probability else picture


@dataclass(frozen=True)
class crop:  # noqa: N801 - likewise
    """Pad all sides by `pad` pixels of `fill`, and cut out a picture of the old size, or `size`."""

    pad: int
    size: tuple[int, int] | None = None
    fill: float = 0

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


@dataclass(frozen=True)
class cutout:  # noqa: N801 - likewise
    """Fill a square of `size` pixels, whose middle is anywhere in the picture."""

    size: int
    fill: float = 0

    def __call__(self, picture: Array, random: np.random.Generator) -> Array:
        top, left = (int(random.integers(n)) - self.size // 2 for n in picture.shape[-2:])
        cut: Array = picture.copy()
        cut[..., max(top, 0) : top + self.size, max(left, 0) : left + self.size] = self.fill
        return cut


@dataclass(frozen=True)
class normalise:  # noqa: N801 - likewise
    """(picture - mean) / deviation as f32; several numbers are those of the channels."""

    mean: Numbers
    deviation: Numbers

    def __call__(self, picture: Array, random: np.random.Generator | None = None) -> Array:
        mean, deviation = (np.asarray(x, np.float32) for x in (self.mean, self.deviation))
        mean, deviation = (x[:, None, None] if x.ndim else x for x in (mean, deviation))
        scaled: Array = (picture.astype(np.float32) - mean) / deviation
        return scaled
