"""Initializers of Keras: `api/layers/initializers.py` with Keras's defaults, and their names."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api import initializers as own
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32
from byparts_tf_keras.objects import finder, serialize as _serialize


@symbol("keras.initializers.RandomUniform", "keras.initializers.uniform")
@symbol("keras.initializers.random_uniform", "python.keras.initializers.RandomUniform")
class RandomUniform(own.RandomUniform):
    """Numbers of [-0.05, 0.05)."""

    def __init__(
        self,
        minval: Any = -0.05,
        maxval: Any = 0.05,
        seed: Optional[int] = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


@symbol("keras.initializers.RandomNormal", "keras.initializers.normal")
@symbol("keras.initializers.random_normal")
class RandomNormal(own.RandomNormal):
    """Normal numbers with a deviation of 0.05."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 0.05,
        seed: Optional[int] = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


@symbol("keras.initializers.TruncatedNormal", "keras.initializers.truncated_normal")
class TruncatedNormal(own.TruncatedNormal):
    """Normal numbers with a deviation of 0.05, cut off at two deviations."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 0.05,
        seed: Optional[int] = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


_CLASSES: dict[str, Any] = {
    "Zeros": own.Zeros,
    "Ones": own.Ones,
    "Constant": own.Constant,
    "RandomUniform": RandomUniform,
    "RandomNormal": RandomNormal,
    "TruncatedNormal": TruncatedNormal,
    "VarianceScaling": own.VarianceScaling,
    "Orthogonal": own.Orthogonal,
    "Identity": own.Identity,
    "GlorotUniform": own.GlorotUniform,
    "GlorotNormal": own.GlorotNormal,
    "HeNormal": own.HeNormal,
    "HeUniform": own.HeUniform,
    "LecunNormal": own.LecunNormal,
    "LecunUniform": own.LecunUniform,
}
_ALIASES = {
    **{"zero": "Zeros", "zeros": "Zeros", "one": "Ones", "ones": "Ones", "constant": "Constant"},
    **{"uniform": "RandomUniform", "random_uniform": "RandomUniform", "normal": "RandomNormal"},
    **{"random_normal": "RandomNormal", "truncated_normal": "TruncatedNormal"},
    **{"orthogonal": "Orthogonal", "identity": "Identity", "glorot_uniform": "GlorotUniform"},
    **{"glorot_normal": "GlorotNormal", "he_normal": "HeNormal", "he_uniform": "HeUniform"},
    **{"lecun_normal": "LecunNormal", "lecun_uniform": "LecunUniform"},
    **{"variance_scaling": "VarianceScaling", "random_uniform_initializer": "RandomUniform"},
}
_NAMED = {**_CLASSES, **{alias: _CLASSES[name] for alias, name in _ALIASES.items()}}
_find = finder(lambda: _NAMED, "initializer")


@symbol("keras.initializers.get")
def get(identifier: Any) -> Any:
    """The initializer of this name or configuration, or itself."""
    return _find(identifier)


@symbol("keras.initializers.serialize")
def serialize(initializer: Any) -> Any:
    """Class and arguments of an initializer, as data."""
    return _serialize(initializer)


@symbol("keras.initializers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The initializer of this name or configuration."""
    return _find(config, custom_objects)


_HERE = "byparts_frontend_tf.api.initializers:"
SYMBOLS = {
    **{
        f"keras.initializers.{name}": _HERE + name
        for name in ("Initializer", "VarianceScaling", "Zeros", "Ones", "Constant", "Orthogonal")
    },
    "keras.initializers.Identity": _HERE + "Identity",
    "keras.initializers.he_normal": _HERE + "HeNormal",
    "keras.initializers.he_uniform": _HERE + "HeUniform",
    "keras.initializers.glorot_uniform": _HERE + "GlorotUniform",
    "keras.initializers.glorot_normal": _HERE + "GlorotNormal",
    "keras.initializers.lecun_normal": _HERE + "LecunNormal",
    "keras.initializers.lecun_uniform": _HERE + "LecunUniform",
    "keras.initializers.zeros": _HERE + "Zeros",
    "keras.initializers.ones": _HERE + "Ones",
    "keras.initializers.constant": _HERE + "Constant",
    "keras.initializers.orthogonal": _HERE + "Orthogonal",
    "keras.initializers.identity": _HERE + "Identity",
}
