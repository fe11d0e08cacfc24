"""Regularizers and constraints of Keras, and their names."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.objects import finder, serialize as _serialize
from byparts_tf_keras.state import epsilon


class _Configured:
    """A thing that its attributes say."""

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make an object of this class with these arguments."""
        return cls(**config)


@symbol("keras.regularizers.Regularizer")
class Regularizer(_Configured):
    """A penalty on a tensor."""

    def __call__(self, x: Any) -> Any:
        """The penalty."""
        return 0.0


@symbol("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """l1 sum |x| + l2 sum x^2."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = float(l1), float(l2)

    def __call__(self, x: Any) -> Any:
        """The penalty."""
        if not self.l1 and not self.l2:
            return tf.constant(0.0)
        total: Any = 0.0
        if self.l1:
            total += self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total += self.l2 * tf.reduce_sum(tf.square(x))
        return total


@symbol("keras.regularizers.l1")
def l1(l: float = 0.01) -> L1L2:  # noqa: E741  # Keras's name
    """l sum |x|."""
    return L1L2(l1=l)


@symbol("keras.regularizers.l2")
def l2(l: float = 0.01) -> L1L2:  # noqa: E741  # Keras's name
    """l sum x^2."""
    return L1L2(l2=l)


@symbol("keras.regularizers.l1_l2")
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """l1 sum |x| + l2 sum x^2."""
    return L1L2(l1, l2)


_REGULARIZERS: dict[str, Any] = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}
_REGULARIZERS["L1"] = lambda l1=0.01: L1L2(l1=l1)  # names in files of later versions
_REGULARIZERS["L2"] = lambda l2=0.01: L1L2(l2=l2)
_find_regularizer = finder(lambda: _REGULARIZERS, "regularizer")


@symbol("keras.regularizers.get", "keras.regularizers.deserialize")
def regularizer_of(identifier: Any, custom_objects: Any = None) -> Any:
    """The regularizer of this name or configuration, or itself."""
    if isinstance(identifier, str) and identifier in ("l1", "l2", "l1_l2"):
        return _REGULARIZERS[identifier]()
    return _find_regularizer(identifier, custom_objects)


@symbol("keras.regularizers.serialize", "keras.constraints.serialize")
def serialize(thing: Any) -> Any:
    """Class and arguments of an object, as data."""
    return _serialize(thing)


@symbol("keras.constraints.Constraint")
class Constraint(_Configured):
    """A change of weights after each update."""

    def __call__(self, w: Any) -> Any:
        """The weights as they are to be."""
        return w


def _norm(w: Any, axis: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))


@symbol("keras.constraints.MaxNorm", "keras.constraints.max_norm")
class MaxNorm(Constraint):
    """Norms along an axis are at most `max_value`."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """The weights as they are to be."""
        norms = _norm(w, self.axis)
        return w * (tf.clip_by_value(norms, 0, self.max_value) / (epsilon() + norms))


@symbol("keras.constraints.NonNeg", "keras.constraints.non_neg")
class NonNeg(Constraint):
    """Weights are not below 0."""

    def __call__(self, w: Any) -> Any:
        """The weights as they are to be."""
        return w * tf.cast(tf.greater_equal(w, 0.0), w.dtype.base_dtype)


@symbol("keras.constraints.UnitNorm", "keras.constraints.unit_norm")
class UnitNorm(Constraint):
    """Norms along an axis are 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The weights as they are to be."""
        return w / (epsilon() + _norm(w, self.axis))


@symbol("keras.constraints.MinMaxNorm", "keras.constraints.min_max_norm")
class MinMaxNorm(Constraint):
    """Norms along an axis are moved between two values."""

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """The weights as they are to be."""
        norms = _norm(w, self.axis)
        kept = tf.clip_by_value(norms, self.min_value, self.max_value)
        desired = self.rate * kept + (1 - self.rate) * norms
        return w * (desired / (epsilon() + norms))


_CONSTRAINTS: dict[str, Any] = {
    **{"MaxNorm": MaxNorm, "max_norm": MaxNorm, "NonNeg": NonNeg, "non_neg": NonNeg},
    **{"UnitNorm": UnitNorm, "unit_norm": UnitNorm, "MinMaxNorm": MinMaxNorm},
    **{"min_max_norm": MinMaxNorm, "maxnorm": MaxNorm, "nonneg": NonNeg, "unitnorm": UnitNorm},
}
_find_constraint = finder(lambda: _CONSTRAINTS, "constraint")


@symbol("keras.constraints.get", "keras.constraints.deserialize")
def constraint_of(identifier: Any, custom_objects: Any = None) -> Any:
    """The constraint of this name or configuration, or itself."""
    return _find_constraint(identifier, custom_objects)
