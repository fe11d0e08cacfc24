"""`gluon.nn`: layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

from byparts_frontend_mxnet.gluon.block import Block as Block, HybridBlock as HybridBlock
from byparts_frontend_mxnet.ops.entry import pair


class _Row:
    """What `Sequential` and `HybridSequential` have in common: children in a row."""

    _children: list[Block]

    def add(self: Any, *blocks: Block) -> None:
        """Put blocks at the end."""
        for block in blocks:
            self.register_child(block)

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

    def forward(self, x: Any) -> Any:
        """The output of the last one."""
        for block in self._children:
            x = block(x)
        return x


class HybridSequential(_Row, HybridBlock):
    """Hybrid blocks one after the other."""

    def forward(self, x: Any) -> Any:
        """The output of the last one."""
        for block in self._children:
            x = block(x)
        return x


class Dense(HybridBlock):
    """x times weight [units, in_units] transposed, plus bias, then the activation."""

    def __init__(
        self, units: int, activation: Optional[str] = None, use_bias: bool = True,
        flatten: bool = True, weight_initializer: Any = None, bias_initializer: Any = "zeros",
        in_units: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self._units, self._flatten = units, flatten
        how = {"allow_deferred_init": True}
        self.weight = self.params.get(
            "weight", shape=(units, in_units), init=weight_initializer, **how
        )
        self.bias = (
            self.params.get("bias", shape=(units,), init=bias_initializer) if use_bias else None
        )
        self.act = None if activation is None else Activation(activation, prefix=f"{activation}_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """One op, then the activation."""
        how = {"num_hidden": self._units, "flatten": self._flatten, "no_bias": bias is None}
        y = F.FullyConnected(x, weight, *([] if bias is None else [bias]), name="fwd", **how)
        return y if self.act is None else self.act(y)

    def _line(self) -> str:
        return f"Dense({self.weight.shape[1] or None} -> {self._units}, linear)"


class Activation(HybridBlock):
    """relu, sigmoid, tanh, softrelu or softsign."""

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """One op."""
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def _line(self) -> str:
        return f"Activation({self._act_type})"


class Dropout(HybridBlock):
    """Elements set to 0 with probability `rate` while training."""

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate = rate

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """One op."""
        return F.Dropout(x, p=self._rate, name="fwd")


class BatchNorm(HybridBlock):
    """Mean 0 and variance 1 for each channel, then gamma and beta."""

    def __init__(
        self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
        scale: bool = True, use_global_stats: bool = False, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones", in_channels: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self._how = {"axis": axis, "eps": epsilon, "momentum": momentum, "fix_gamma": not scale,
                     "use_global_stats": use_global_stats}  # fmt: skip
        for name, init, trained in (
            ("gamma", gamma_initializer, scale),
            ("beta", beta_initializer, center),
            ("running_mean", running_mean_initializer, False),
            ("running_var", running_variance_initializer, False),
        ):
            req = "write" if trained else "null"
            how = {"shape": (in_channels,), "init": init, "allow_deferred_init": True}
            setattr(self, name, self.params.get(name, grad_req=req, **how))

    def hybrid_forward(self, F: Any, x: Any, **parameters: Any) -> Any:
        """One op, which writes the running statistics while training."""
        names = ("gamma", "beta", "running_mean", "running_var")
        return F.BatchNorm(x, *[parameters[n] for n in names], name="fwd", **self._how)


class LayerNorm(HybridBlock):
    """Mean 0 and variance 1 along an axis, then gamma and beta."""

    def __init__(
        self, axis: int = -1, epsilon: float = 1e-5, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._how = {"axis": axis, "eps": epsilon}
        how = {"shape": (in_channels,), "allow_deferred_init": True}
        self.gamma = self.params.get("gamma", init="ones", **how)
        self.beta = self.params.get("beta", init="zeros", **how)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """One op."""
        return F.LayerNorm(x, gamma, beta, name="fwd", **self._how)


class LeakyReLU(HybridBlock):
    """x, and alpha times x where x < 0."""

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """One op."""
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")


class Embedding(HybridBlock):
    """The rows of weight [input_dim, output_dim] that x names."""

    def __init__(
        self, input_dim: int, output_dim: int, dtype: Any = "float32",
        weight_initializer: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self._how = {"input_dim": input_dim, "output_dim": output_dim}
        shape = (input_dim, output_dim)
        self.weight = self.params.get("weight", shape=shape, init=weight_initializer, dtype=dtype)

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        """One op."""
        return F.Embedding(x, weight, name="fwd", **self._how)


class Flatten(HybridBlock):
    """[n, ...] -> [n, rest]."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """One op."""
        return F.Flatten(x)


class Lambda(Block):
    """A function of arrays, or the name of an op of nd, as a block."""

    def __init__(self, function: Any, prefix: Optional[str] = None) -> None:
        super().__init__(prefix=prefix)
        self._function = function

    def forward(self, *args: Any) -> Any:
        """Call it."""
        from byparts_frontend_mxnet import nd  # which needs no layers

        f = getattr(nd, self._function) if isinstance(self._function, str) else self._function
        return f(*args)


class HybridLambda(HybridBlock):
    """A function (F, x, ...), or the name of an op of F, as a block."""

    def __init__(self, function: Any, prefix: Optional[str] = None) -> None:
        super().__init__(prefix=prefix)
        self._function = function

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """Call it."""
        if isinstance(self._function, str):
            return getattr(F, self._function)(x, *args)
        return self._function(F, x, *args)


class _Conv(HybridBlock):
    """A convolution along `axes` axes, or its transpose."""

    axes, op = 2, "Convolution"

    def __init__(
        self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1, layout: Any = None,
        activation: Optional[str] = None, use_bias: bool = True, weight_initializer: Any = None,
        bias_initializer: Any = "zeros", in_channels: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        kernel = pair(kernel_size, self.axes)
        self._how = {"kernel": kernel, "num_filter": channels, "stride": pair(strides, self.axes),
                     "pad": pair(padding, self.axes), "dilate": pair(dilation, self.axes),
                     "num_group": groups, "no_bias": not use_bias}  # fmt: skip
        sizes = (channels, in_channels // groups)
        if self.op == "Deconvolution":
            sizes = (in_channels, channels // groups)
            self._how["adj"] = pair(output_padding, self.axes)
        how = {"allow_deferred_init": True}
        shape = (*sizes, *kernel)
        self.weight = self.params.get("weight", shape=shape, init=weight_initializer, **how)
        self.bias = None
        if use_bias:
            self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer)
        self.act = None if activation is None else Activation(activation, prefix=f"{activation}_")

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """One op, then the activation."""
        inputs = (x, weight) if bias is None else (x, weight, bias)
        y = getattr(F, self.op)(*inputs, name="fwd", **self._how)
        return y if self.act is None else self.act(y)

    def _line(self) -> str:
        how = self._how
        return f"{type(self).__name__}({how['num_filter']}, kernel_size={how['kernel']})"


class _Pool(HybridBlock):
    """The maximum or the mean of each window, or of each channel."""

    axes, pool_type, is_global = 2, "max", False

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: Any = None,
        ceil_mode: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        size = pair(pool_size, self.axes)
        step = size if strides is None else pair(strides, self.axes)
        self._how = {"kernel": size, "stride": step,
                     "pad": pair(padding, self.axes), "pool_type": self.pool_type,
                     "pooling_convention": "full" if ceil_mode else "valid",
                     "global_pool": self.is_global}  # fmt: skip

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """One op."""
        return F.Pooling(x, name="fwd", **self._how)


def _made(base: type, name: str, axes: int, **fields: Any) -> Callable[..., Any]:
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
