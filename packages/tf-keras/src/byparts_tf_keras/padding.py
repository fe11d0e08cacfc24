"""Zero padding and cropping, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.state import layout


def _pairs(padding: Any, rank: int, what: str) -> tuple[tuple[int, int], ...]:
    """Counts before and after, for each axis, of a number, one for each axis, or pairs.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    if rank == 1 and len(padding) == 2 and all(isinstance(n, int) for n in padding):
        return ((int(padding[0]), int(padding[1])),)
    if len(padding) != rank:
        raise ValueError(f"`{what}` should have {rank} elements. Found: {padding}")
    pairs = [(n, n) if isinstance(n, int) else tuple(n) for n in padding]
    return tuple([(int(a), int(b)) for a, b in pairs])


class _Padding(Layer):
    """Zeros around `rank` axes."""

    rank = 2

    def __init__(self, padding: Any = 1, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._pairs = _pairs(padding, self.rank, "padding")
        self.padding = self._pairs if self.rank > 1 else self._pairs[0]
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """The inputs with zeros around them."""
        none = [0, 0]
        inner = [list(p) for p in self._pairs]
        first = self.data_format == "channels_first" and self.rank > 1
        return tf.pad(inputs, [none, none, *inner] if first else [none, *inner, none])


@symbol("keras.layers.ZeroPadding1D")
class ZeroPadding1D(_Padding):
    """Zeros before and after rows."""

    rank = 1


@symbol("keras.layers.ZeroPadding2D")
class ZeroPadding2D(_Padding):
    """Zeros around images."""


@symbol("keras.layers.ZeroPadding3D")
class ZeroPadding3D(_Padding):
    """Zeros around volumes."""

    rank = 3


class _Cropping(Layer):
    """Without what is at the ends of `rank` axes."""

    rank = 2

    def __init__(self, cropping: Any = None, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        usual = 1 if self.rank != 2 else 0
        self._pairs = _pairs(usual if cropping is None else cropping, self.rank, "cropping")
        self.cropping = self._pairs if self.rank > 1 else self._pairs[0]
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """The middle of the inputs."""
        inner = [slice(a, -b if b else None) for a, b in self._pairs]
        first = self.data_format == "channels_first" and self.rank > 1
        return inputs[tuple([slice(None)] * (2 if first else 1) + inner)]


@symbol("keras.layers.Cropping1D")
class Cropping1D(_Cropping):
    """Rows without their ends."""

    rank = 1


@symbol("keras.layers.Cropping2D")
class Cropping2D(_Cropping):
    """Images without their borders."""


@symbol("keras.layers.Cropping3D")
class Cropping3D(_Cropping):
    """Volumes without their borders."""

    rank = 3
