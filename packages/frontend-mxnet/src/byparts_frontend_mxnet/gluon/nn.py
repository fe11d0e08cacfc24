"""`gluon.nn`: layers.  Most are one op with parameters and an activation: `_OneOp`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

from byparts_frontend_mxnet.gluon.block import Block as Block, HybridBlock as HybridBlock
from byparts_frontend_mxnet.ops.entry import pair


class _Row:
    """Children in a row: the common part of `Sequential` and `HybridSequential`."""

    _children: list[Block]

    def add(self: Any, *blocks: Block) -> None:
        for block in blocks:
            self.register_child(block)

    def forward(self, x: Any) -> Any:
        for block in self._children:
            x = block(x)
        return x

    def __len__(self) -> int:
        return len(self._children)

    def __getitem__(self: Any, i: Any) -> Any:
        if not isinstance(i, slice):
            return self._children[i]
        part = type(self)(prefix=self._prefix)
        part.add(*self._children[i])
        return part

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children)


class Sequential(_Row, Block):
    """Blocks one after the other."""


class HybridSequential(_Row, HybridBlock):
    """Hybrid blocks one after the other."""


class _OneOp(HybridBlock):
    """One op of x and of the parameters in their order, then an activation."""

    op = ""
    alias = ""  # its name in prefixes
    act: Any = None
    weight: Any
    bias: Any

    def __init__(
        self, how: dict[str, Any], activation: Optional[str] = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._how = how
        if activation is not None:
            self.act = Activation(activation, prefix=f"{activation}_")

    def _alias(self) -> str:
        return self.alias or super()._alias()

    def _parameter(self, name: str, shape: Any, init: Any, **how: Any) -> None:
        how = {"shape": shape, "init": init, "allow_deferred_init": True, **how}
        setattr(self, name, self.params.get(name, **how))

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **parameters: Any) -> Any:
        inputs = [p for p in parameters.values() if p is not None]
        y = getattr(F, self.op)(x, *inputs, name="fwd", **self._how)
        return y if self.act is None else self.act(y)

    def _line(self) -> str:
        how = ", ".join(f"{k}={v}" for k, v in self._how.items())
        return f"{type(self).__name__}({how})"


class Dense(_OneOp):
    """x times weight [units, in_units] transposed, plus bias, then the activation."""

    op = "FullyConnected"

    def __init__(
        self, units: int, activation: Optional[str] = None, use_bias: bool = True,
        flatten: bool = True, weight_initializer: Any = None, bias_initializer: Any = "zeros",
        in_units: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        how = {"num_hidden": units, "flatten": flatten, "no_bias": not use_bias}
        super().__init__(how, activation, **kwargs)
        self._units, self._in_units = units, in_units  # which subclasses of 2017 read
        self._parameter("weight", (units, in_units), weight_initializer)
        self.bias = None
        if use_bias:
            self._parameter("bias", (units,), bias_initializer)

    def _line(self) -> str:
        units, width = self.weight.shape
        return f"Dense({width or None} -> {units}, linear)"


class Activation(_OneOp):
    """relu, sigmoid, tanh, softrelu or softsign."""

    op = "Activation"

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self.alias = activation
        super().__init__({"act_type": activation}, **kwargs)


class BatchNorm(_OneOp):
    """Mean 0 and variance 1 for each channel, then gamma and beta."""

    op = "BatchNorm"

    def __init__(
        self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
        scale: bool = True, use_global_stats: bool = False, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones", in_channels: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        how = {"axis": axis, "eps": epsilon, "momentum": momentum, "fix_gamma": not scale,
               "use_global_stats": use_global_stats}  # fmt: skip
        super().__init__(how, **kwargs)
        for name, init, trained in (
            ("gamma", gamma_initializer, scale),
            ("beta", beta_initializer, center),
            ("running_mean", running_mean_initializer, False),
            ("running_var", running_variance_initializer, False),
        ):
            self._parameter(name, (in_channels,), init, differentiable=trained)


class Embedding(_OneOp):
    """The rows of weight [input_dim, output_dim] that x names."""

    op = "Embedding"

    def __init__(
        self, input_dim: int, output_dim: int, dtype: Any = "float32",
        weight_initializer: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__({"input_dim": input_dim, "output_dim": output_dim}, **kwargs)
        self._parameter("weight", (input_dim, output_dim), weight_initializer, dtype=dtype)


def _plain(op: str, doc: str, how: Callable[..., dict[str, Any]]) -> Any:
    """A layer of an op without weights; `how` makes the op's parameters of the arguments."""

    def start(self: Any, *args: Any, prefix: Any = None, params: Any = None, **own: Any) -> None:
        _OneOp.__init__(self, how(*args, **own), prefix=prefix, params=params)

    return type(op, (_OneOp,), {"op": op, "__init__": start, "__doc__": doc})


Flatten = _plain("Flatten", "[n, ...] -> [n, rest].", dict)
Dropout = _plain(
    "Dropout", "Elements set to 0 with probability `rate` while training.", lambda rate: {"p": rate}
)
LeakyReLU = _plain(
    "LeakyReLU", "x, and alpha times x where x < 0.",
    lambda alpha: {"act_type": "leaky", "slope": alpha},
)  # fmt: skip


class _Conv(_OneOp):
    """A convolution along `axes` axes, or its transpose."""

    axes, op, alias = 2, "Convolution", "conv"

    def __init__(
        self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1, layout: Any = None,
        activation: Optional[str] = None, use_bias: bool = True, weight_initializer: Any = None,
        bias_initializer: Any = "zeros", in_channels: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        named = {"kernel": kernel_size, "stride": strides, "pad": padding, "dilate": dilation}
        sizes = (channels, in_channels // groups)
        if self.op == "Deconvolution":
            named["adj"], sizes = output_padding, (in_channels, channels // groups)
        how: dict[str, Any] = {name: pair(size, self.axes) for name, size in named.items()}
        how |= {"num_filter": channels, "num_group": groups, "no_bias": not use_bias}
        super().__init__(how, activation, **kwargs)
        self._parameter("weight", (*sizes, *how["kernel"]), weight_initializer)
        self.bias = None
        if use_bias:
            self._parameter("bias", (channels,), bias_initializer)


class _Pool(_OneOp):
    """The maximum or the mean of each window, or of each channel."""

    axes, op, alias, pool_type, is_global = 2, "Pooling", "pool", "max", False

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: Any = None,
        ceil_mode: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        size = pair(pool_size, self.axes)
        how = {"kernel": size, "stride": size if strides is None else pair(strides, self.axes),
               "pad": pair(padding, self.axes), "pool_type": self.pool_type,
               "pooling_convention": "full" if ceil_mode else "valid",
               "global_pool": self.is_global}  # fmt: skip
        super().__init__(how, **kwargs)


def _made(base: type, name: str, axes: int, **fields: Any) -> Any:
    """A class for this number of axes."""
    return type(name, (base,), {"axes": axes, "__doc__": base.__doc__, **fields})


Conv1D, Conv2D, Conv3D = [_made(_Conv, f"Conv{n}D", n) for n in (1, 2, 3)]
Conv1DTranspose, Conv2DTranspose, Conv3DTranspose = [
    _made(_Conv, f"Conv{n}DTranspose", n, op="Deconvolution") for n in (1, 2, 3)
]
MaxPool1D, MaxPool2D = [_made(_Pool, f"MaxPool{n}D", n) for n in (1, 2)]
AvgPool1D, AvgPool2D = [_made(_Pool, f"AvgPool{n}D", n, pool_type="avg") for n in (1, 2)]
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = [
    _made(_Pool, f"GlobalMaxPool{n}D", n, is_global=True) for n in (1, 2, 3)
]
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = [
    _made(_Pool, f"GlobalAvgPool{n}D", n, is_global=True, pool_type="avg") for n in (1, 2, 3)
]
