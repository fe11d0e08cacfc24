"""Layers of several inputs: sums, products, concatenations."""

from __future__ import annotations

from functools import reduce
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.backend_math import batch_dot
from byparts_tf_keras.layer import Layer


class _Merge(Layer):
    """Takes a list of tensors."""

    least = 2

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) < self.least:
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got "
                f"{input_shape} inputs."
            )
        self._check([s.as_list() if s.ndims is not None else None for s in input_shape])
        self.built = True

    def _check(self, shapes: list[Any]) -> None:
        known = [s[1:][::-1] for s in shapes if s is not None]
        for extents in zip(*known, strict=False):
            if len({n for n in extents if n not in (None, 1)}) > 1:
                raise ValueError(f"Operands could not be broadcast together with shapes {shapes}")

    def call(self, inputs: Any) -> Any:
        """Merge the inputs, brought to one rank, into a tensor."""
        rank = max(t.get_shape().ndims or 0 for t in inputs)
        same = []
        for t in inputs:
            for _ in range(rank - (t.get_shape().ndims or rank)):
                t = tf.expand_dims(t, 1)
            same.append(t)
        return self._merge(same)

    def _merge(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The places where all masks hold."""
        masks = [m for m in mask or () if m is not None]
        return reduce(tf.logical_and, masks) if masks else None


@symbol("keras.layers.Add")
class Add(_Merge):
    """The sum."""

    def _merge(self, inputs: list[Any]) -> Any:
        return reduce(lambda a, b: a + b, inputs)


@symbol("keras.layers.Subtract")
class Subtract(_Merge):
    """The first less the second."""

    def _merge(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


@symbol("keras.layers.Multiply")
class Multiply(_Merge):
    """The product of elements."""

    def _merge(self, inputs: list[Any]) -> Any:
        return reduce(lambda a, b: a * b, inputs)


@symbol("keras.layers.Average")
class Average(_Merge):
    """The mean."""

    def _merge(self, inputs: list[Any]) -> Any:
        return reduce(lambda a, b: a + b, inputs) / len(inputs)


@symbol("keras.layers.Maximum")
class Maximum(_Merge):
    """The largest."""

    def _merge(self, inputs: list[Any]) -> Any:
        return reduce(tf.maximum, inputs)


@symbol("keras.layers.Minimum")
class Minimum(_Merge):
    """The smallest."""

    def _merge(self, inputs: list[Any]) -> Any:
        return reduce(tf.minimum, inputs)


@symbol("keras.layers.Concatenate")
class Concatenate(_Merge):
    """Joins tensors one after the other, along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def _check(self, shapes: list[Any]) -> None:
        known = [s for s in shapes if s is not None]
        rests = [[n for i, n in enumerate(s) if i != self.axis % len(s)] for s in known]
        for extents in zip(*rests, strict=False):
            if len({n for n in extents if n is not None}) > 1:
                raise ValueError(
                    "A `Concatenate` layer requires inputs with matching shapes except for the "
                    f"concat axis. Got inputs shapes: {[tuple(s) for s in known]}"
                )

    def call(self, inputs: Any) -> Any:
        """Join the inputs to a tensor."""
        return tf.concat(list(inputs), self.axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks, one after the other."""
        if mask is None or all(m is None for m in mask):
            return None
        parts = []
        for t, m in zip(inputs, mask, strict=True):
            full = tf.ones_like(t, tf.bool)
            if m is not None:
                for _ in range(t.get_shape().ndims - m.get_shape().ndims):
                    m = tf.expand_dims(m, -1)
                full = tf.logical_and(full, m)
            parts.append(full)
        return tf.reduce_all(tf.concat(parts, self.axis), axis=-1)


@symbol("keras.layers.Dot")
class Dot(_Merge):
    """Products along axes of two batches; of unit vectors if `normalize`."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize

    def _check(self, shapes: list[Any]) -> None:
        """The product says it."""

    def call(self, inputs: Any) -> Any:
        """Multiply the two inputs, along their axes."""
        a, b = inputs
        axes = [self.axes] * 2 if isinstance(self.axes, int) else list(self.axes)
        ranks = [t.get_shape().ndims for t in inputs]
        axes = [x % r for x, r in zip(axes, ranks, strict=True)]
        if self.normalize:
            a, b = tf.nn.l2_normalize(a, axes[0]), tf.nn.l2_normalize(b, axes[1])
        return batch_dot(a, b, axes)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None."""
        return None


@symbol("keras.layers.add")
def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum."""
    return Add(**kwargs)(inputs)


@symbol("keras.layers.subtract")
def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The first less the second."""
    return Subtract(**kwargs)(inputs)


@symbol("keras.layers.multiply")
def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of elements."""
    return Multiply(**kwargs)(inputs)


@symbol("keras.layers.average")
def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean."""
    return Average(**kwargs)(inputs)


@symbol("keras.layers.maximum")
def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The largest."""
    return Maximum(**kwargs)(inputs)


@symbol("keras.layers.minimum")
def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smallest."""
    return Minimum(**kwargs)(inputs)


@symbol("keras.layers.concatenate")
def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """Join tensors one after the other, along an axis."""
    return Concatenate(axis, **kwargs)(inputs)


@symbol("keras.layers.dot")
def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Products along axes of two batches."""
    return Dot(axes, normalize, **kwargs)(inputs)
