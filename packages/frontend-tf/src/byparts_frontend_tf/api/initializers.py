"""First values of variables, by shape and dtype."""

from __future__ import annotations

from math import sqrt
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.constant import constant, eye, ones, zeros
from byparts_frontend_tf.api.random.random import (
    random_normal,
    random_uniform,
    truncated_normal,
)
from byparts_frontend_tf.graph.convert import constant_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.arrays import as_array
from byparts_tf_files.dtypes import DType, as_dtype, float32


class Initializer:
    """Makes first values: called with a shape and a dtype."""

    dtype: DType = float32

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """A tensor of this shape."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        config = {k.lstrip("_"): v for k, v in vars(self).items()}
        config["dtype"] = self.dtype.name
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Build an initializer with the arguments in `config`."""
        return cls(**config)

    def _dtype(self, dtype: Any) -> DType:
        return self.dtype if dtype is None else as_dtype(dtype).base_dtype


@symbol("zeros_initializer", "initializers.zeros")
class Zeros(Initializer):
    """Zeros."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return zeros(shape, self._dtype(dtype))


@symbol("ones_initializer", "initializers.ones")
class Ones(Initializer):
    """Ones."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return ones(shape, self._dtype(dtype))


@symbol("constant_initializer", "initializers.constant")
class Constant(Initializer):
    """Initializer with one number, or with numbers of which the last fills up the shape."""

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)}.")
        self.value, self.dtype, self._verify_shape = value, as_dtype(dtype), verify_shape

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Any = None
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        kind = self._dtype(dtype)
        value = np.asarray(self.value)
        if value.dtype.kind in "fiub" and kind.own:
            value = value.astype(kind.as_numpy_dtype)
            return constant(value, kind, shape, verify_shape=verify)
        return constant(self.value, kind, shape, verify_shape=verify)


@symbol("random_uniform_initializer", "initializers.random_uniform")
class RandomUniform(Initializer):
    """Numbers of [minval, maxval)."""

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: Optional[int] = None, dtype: Any = float32
    ) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_uniform(shape, self.minval, self.maxval, self._dtype(dtype), self.seed)


@symbol("random_normal_initializer", "initializers.random_normal")
class RandomNormal(Initializer):
    """Normal numbers."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Optional[int] = None, dtype: Any = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, self._dtype(dtype), self.seed)


@symbol("truncated_normal_initializer", "initializers.truncated_normal")
class TruncatedNormal(Initializer):
    """Normal numbers less than two standard deviations from the mean."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Optional[int] = None, dtype: Any = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return truncated_normal(shape, self.mean, self.stddev, self._dtype(dtype), self.seed)


@symbol("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of a product's input."""

    def __init__(
        self, factor: float = 1.0, seed: Optional[int] = None, dtype: Any = float32
    ) -> None:
        self.factor, self.seed, self.dtype = factor, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        inputs = float(np.prod([int(d) for d in shape][:-1]))
        limit = sqrt(3 / max(1.0, inputs)) * self.factor
        return random_uniform(shape, -limit, limit, self._dtype(dtype), self.seed)


@symbol("variance_scaling_initializer", "initializers.variance_scaling")
class VarianceScaling(Initializer):
    """Numbers whose variance is scale / n, for n inputs, outputs or their mean.

    Raises:
        ValueError: an argument is none of those there are.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Optional[int] = None,
        dtype: Any = float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}")
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {distribution}")
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed, self.dtype = seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        inputs, outputs = fans(shape)
        n = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        scale, kind = self.scale / max(1.0, n), self._dtype(dtype)
        if self.distribution in ("normal", "truncated_normal"):
            stddev = sqrt(scale) / 0.87962566103423978  # that of a normal cut off at 2
            return truncated_normal(shape, 0.0, stddev, kind, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, sqrt(scale), kind, self.seed)
        limit = sqrt(3.0 * scale)
        return random_uniform(shape, -limit, limit, kind, self.seed)


def fans(shape: Any) -> tuple[float, float]:
    """Numbers of inputs and outputs of a weight of this shape (fan-in, fan-out)."""
    dims = [int(d) for d in shape]
    if len(dims) < 2:
        only = float(dims[0]) if dims else 1.0
        return only, only
    field = float(np.prod(dims[:-2]))
    return dims[-2] * field, dims[-1] * field


class _Scaling(VarianceScaling):
    """Variance scaling with two of its arguments fixed."""

    fixed: tuple[float, str, str] = (1.0, "fan_in", "uniform")

    def __init__(self, seed: Optional[int] = None, dtype: Any = float32) -> None:
        super().__init__(*self.fixed, seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {"seed": self.seed, "dtype": self.dtype.name}


@symbol("glorot_uniform_initializer", "initializers.glorot_uniform")
class GlorotUniform(_Scaling):
    """Uniform by Glorot and Bengio 2010."""

    fixed = (1.0, "fan_avg", "uniform")


@symbol("glorot_normal_initializer", "initializers.glorot_normal")
class GlorotNormal(_Scaling):
    """Normal by Glorot and Bengio 2010."""

    fixed = (1.0, "fan_avg", "truncated_normal")


@symbol("initializers.he_normal")
class HeNormal(_Scaling):
    """Normal by He and others 2015."""

    fixed = (2.0, "fan_in", "truncated_normal")


@symbol("initializers.he_uniform")
class HeUniform(_Scaling):
    """Uniform by He and others 2015."""

    fixed = (2.0, "fan_in", "uniform")


@symbol("initializers.lecun_normal")
class LecunNormal(_Scaling):
    """Normal by LeCun and others 1998."""

    fixed = (1.0, "fan_in", "truncated_normal")


@symbol("initializers.lecun_uniform")
class LecunUniform(_Scaling):
    """Uniform by LeCun and others 1998."""

    fixed = (1.0, "fan_in", "uniform")


def _orthonormal(x: Any, gain: float, shape: tuple[int, ...]) -> Any:
    q, r = np.linalg.qr(x.astype(np.float64))
    q *= np.sign(np.diag(r))
    q = q.T if q.shape[0] < q.shape[1] or (shape[-1] > q.shape[1]) else q
    return (gain * q.reshape(shape)).astype(x.dtype)


_ORTHOGONAL = Kind(
    "Orthogonal",
    host=_orthonormal,
    shape=lambda inputs, gain, shape: shape,
    gradient=False,
)


@symbol("orthogonal_initializer", "initializers.orthogonal")
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, by Saxe and others 2013.

    Raises:
        ValueError: the shape has fewer than two axes.
    """

    def __init__(self, gain: float = 1.0, seed: Optional[int] = None, dtype: Any = float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = tuple([int(d) for d in shape])
        if len(dims) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = int(np.prod(dims[:-1])), dims[-1]
        flat = (max(rows, columns), min(rows, columns))
        normal = random_normal(flat, dtype=self._dtype(dtype), seed=self.seed)
        return _ORTHOGONAL(normal, name="Orthogonal", gain=self.gain, shape=dims)


@symbol("initializers.identity")
class Identity(Initializer):
    """The identity matrix, times a number."""

    def __init__(self, gain: float = 1.0, dtype: Any = float32) -> None:
        self.gain, self.dtype = gain, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        rows, columns = [int(d) for d in shape]
        kind = self._dtype(dtype)
        scale = constant_of(as_array(self.gain, kind))
        return eye(rows, columns, dtype=kind) * scale
