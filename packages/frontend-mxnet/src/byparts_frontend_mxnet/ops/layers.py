"""Layers: ops with weights that symbols make automatically, and what stands between them."""

from __future__ import annotations

from math import prod
from typing import Any

import byparts_opset as ops
from byparts_eager import training
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.entry import REQUIRED, Dims, op, pair
from byparts_frontend_mxnet.stream import stream
from byparts_nn.convolve import convolve, convolve_transposed


def _dense_shapes(dims: Dims, p: Any) -> dict[str, Dims]:
    width = prod(dims[1:]) if p["flatten"] else dims[-1]
    return {"weight": (p["num_hidden"], width), "bias": (p["num_hidden"],)}


@op("FullyConnected", shapes=_dense_shapes)
def fully_connected(
    data: Any, weight: Any, bias: Any = None, *, num_hidden: int, no_bias: bool = False,
    flatten: bool = True,
) -> Any:  # fmt: skip
    """data [n, ...] times weight [num_hidden, width] transposed, plus bias."""
    x = ops.reshape(data, (data.type.dims[0], -1)) if flatten and data.type.rank != 2 else data
    if x.type.dims[-1] != weight.type.dims[1]:
        raise MXNetError(
            f"FullyConnected: data is {data.type} and weight {weight.type}, so {x.type.dims[-1]} "
            f"features meet {weight.type.dims[1]}"
        )
    y = ops.matmul(x, weight, transpose_b=True)
    return y if bias is None else y + bias


def _filter_shapes(dims: Dims, p: Any) -> dict[str, Dims]:
    kernel = pair(p["kernel"], len(dims) - 2)
    count, groups = p["num_filter"], p["num_group"]
    ends = (dims[1], count // groups) if "adj" in p else (count, dims[1] // groups)
    return {"weight": (*ends, *kernel), "bias": (count,)}


def _windows(axes: int, stride: Any, pad: Any, dilate: Any, groups: int) -> tuple[Any, ...]:
    sides = tuple([(p, p) for p in pair(pad, axes)])
    return pair(stride, axes, 1), sides, pair(dilate, axes, 1), groups


@op("Convolution", "Convolution_v1", shapes=_filter_shapes)
def convolution(
    data: Any, weight: Any, bias: Any = None, *, kernel: Any, num_filter: int, stride: Any = (),
    dilate: Any = (), pad: Any = (), num_group: int = 1, no_bias: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """data [n, c, *extents] and weight [num_filter, c / groups, *kernel], along 1 to 3 axes."""
    how = _windows(data.type.rank - 2, stride, pad, dilate, num_group)
    return _with_bias(convolve(data, weight, *how), bias)


@op("Deconvolution", shapes=_filter_shapes)
def deconvolution(
    data: Any, weight: Any, bias: Any = None, *, kernel: Any, num_filter: int, stride: Any = (),
    dilate: Any = (), pad: Any = (), adj: Any = (), num_group: int = 1, no_bias: bool = True,
    layout: Any = None,
) -> Any:  # fmt: skip
    """The gradient of a convolution by its data: data [n, c, ...], weight [c, num_filter, ...]."""
    axes = data.type.rank - 2
    how = (*_windows(axes, stride, pad, dilate, num_group), pair(adj, axes))
    return _with_bias(convolve_transposed(data, weight, *how), bias)


def _with_bias(y: Any, bias: Any) -> Any:
    if bias is None:
        return y
    return y + ops.expand_dims(bias, tuple(range(1, y.type.rank - 1)))


@op("Pooling", "Pooling_v1")
def pooling(
    data: Any, *, kernel: Any = (), pool_type: str = "max", global_pool: bool = False,
    pooling_convention: str = "valid", stride: Any = (), pad: Any = (),
) -> Any:  # fmt: skip
    """The maximum, mean or sum of each window; a mean counts the padding."""
    axes = data.type.rank - 2
    if global_pool:
        reduce = {"max": ops.max, "avg": ops.mean, "sum": ops.sum}[pool_type]
        return reduce(data, tuple(range(2, axes + 2)), keepdims=True)
    if axes not in (1, 2) or pool_type not in ("max", "avg", "sum"):
        raise MXNetError(f"Pooling: pool_type={pool_type!r} of {data.type}; 1 or 2 axes are pooled")
    window, step, around = pair(kernel, axes), pair(stride, axes, 1), pair(pad, axes)
    x = ops.expand_dims(data, 2) if axes == 1 else data
    sides = ((0, 0),) * (2 - axes) + tuple([(p, p) for p in around])
    ones = (1,) * (2 - axes)
    sizes: Any = (ones + window, ones + step)
    full = pooling_convention == "full"
    if pool_type == "max":
        y = ops.max_pool(x, sizes[0], sizes[1], sides, ceil_mode=full)
    else:
        how = {"ceil_mode": full, "count_include_pad": True}
        y = ops.average_pool(x, sizes[0], sizes[1], sides, **how)  # type: ignore[arg-type]  # bools
        y = y * prod(window) if pool_type == "sum" else y
    return ops.squeeze(y, 2) if axes == 1 else y


def _channels(dims: Dims, p: Any) -> dict[str, Dims]:
    count = (dims[p.get("axis", 1)],)
    return dict.fromkeys(("gamma", "beta", "moving_mean", "moving_var"), count)


@op("BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", aux=("moving_mean", "moving_var"),
    shapes=_channels)  # fmt: skip
def batch_norm(
    data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, *, eps: float = 1e-3,
    momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
    output_mean_var: bool = False, axis: int = 1,
) -> Any:  # fmt: skip
    """Mean 0 and variance 1 for each channel, by the batch while training, then gamma and beta.

    The running variance follows that of the batch, over n as MXNet has it, not n - 1.
    """
    gamma = ops.ones_like(gamma) if fix_gamma else gamma
    if use_global_stats or not training():
        how = (data, gamma, beta, moving_mean, moving_var)
        return ops.batch_norm_inference(*how, axis=axis, epsilon=eps), moving_mean, moving_var
    y, mean, variance = ops.batch_norm(data, gamma, beta, axis=axis, epsilon=eps)
    news = [
        ops.moving_average(old, ops.stop_gradient(new), momentum)
        for old, new in ((moving_mean, mean), (moving_var, variance))
    ]
    return (y, *news)


@op("Activation")
def activation(data: Any, *, act_type: str = "relu") -> Any:
    """relu, sigmoid, tanh, softrelu or softsign."""
    functions = {"relu": ops.relu, "sigmoid": ops.sigmoid, "tanh": ops.tanh,
                 "softrelu": ops.softplus, "softsign": ops.softsign}  # fmt: skip
    if act_type not in functions:
        raise MXNetError(f"Activation: act_type={act_type!r}; it is one of {', '.join(functions)}")
    return functions[act_type](data)


@op("LeakyReLU", shapes=lambda dims, p: {"gamma": dims[1:2]},
    absent=lambda p: () if p["act_type"] == "prelu" else ("gamma",))  # fmt: skip
def leaky_relu(
    data: Any, gamma: Any = None, *, act_type: str = "leaky", slope: float = 0.25,
    lower_bound: float = 0.125, upper_bound: float = 0.334,
) -> Any:  # fmt: skip
    """leaky (slope), elu (slope), prelu (gamma for each channel), rrelu (a random slope)."""
    if act_type == "elu":
        return ops.elu(data, slope)
    if act_type == "prelu":
        if data.type.rank > 2 and gamma.type.size > 1:
            gamma = ops.expand_dims(gamma, tuple(range(1, data.type.rank - 1)))
        return ops.relu(data) + gamma * ops.minimum(data, 0)
    if act_type == "rrelu" and training():
        slopes = stream.uniform(data.type.dims, lower_bound, upper_bound)
        return ops.relu(data) + slopes * ops.minimum(data, 0)
    return ops.leaky_relu(data, (lower_bound + upper_bound) / 2 if act_type == "rrelu" else slope)


@op("Dropout")
def dropout(data: Any, *, p: float = 0.5, mode: str = "training", axes: Any = ()) -> Any:
    """Elements set to 0 with probability p while training, the others divided by 1 - p."""
    return stream.dropout(data, p) if p and (training() or mode == "always") else data


@op("Embedding", shapes=lambda dims, p: {"weight": (p["input_dim"], p["output_dim"])})
def embedding(
    data: Any, weight: Any, *, input_dim: int = REQUIRED, output_dim: int = REQUIRED,
    dtype: Any = "float32",
) -> Any:  # fmt: skip
    """The rows of weight that data names."""
    return ops.gather(weight, ops.cast(data, "i32"))


@op("LRN")
def lrn(
    data: Any, *, nsize: int, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0
) -> Any:
    """data / (knorm + alpha / nsize * the sum of squares of nsize channels around it) ** beta."""
    half, channels = nsize // 2, data.type.dims[1]
    squares = ops.pad(ops.square(data), ((0, 0), (half, half), *[(0, 0)] * (data.type.rank - 2)))
    total = ops.add_n([squares[:, i : i + channels] for i in range(nsize)])
    return data / ops.exp(ops.log(total * (alpha / nsize) + knorm) * beta)


@op("L2Normalization")
def l2_normalization(data: Any, *, eps: float = 1e-10, mode: str = "instance") -> Any:
    """Data over its Euclidean length: of each example, channel ("channel") or place ("spatial")."""
    rank = data.type.rank
    axes = {"instance": tuple(range(1, rank)), "channel": (1,), "spatial": tuple(range(2, rank))}
    return data / ops.sqrt(ops.sum(ops.square(data), axes[mode], keepdims=True) + eps)


@op("InstanceNorm", shapes=_channels)
def instance_norm(data: Any, gamma: Any, beta: Any, *, eps: float = 1e-3) -> Any:
    """Mean 0 and variance 1 for each channel of each example, then gamma and beta."""
    axes = tuple(range(2, data.type.rank))
    middle = data - ops.mean(data, axes, keepdims=True)
    y = middle * ops.rsqrt(ops.mean(ops.square(middle), axes, keepdims=True) + eps)
    gamma, beta = (ops.expand_dims(v, tuple(range(1, len(axes) + 1))) for v in (gamma, beta))
    return y * gamma + beta


@op("UpSampling")
def up_sampling(*args: Any, scale: int, sample_type: str = "nearest", num_filter: int = 0) -> Any:
    """Each pixel `scale` times along both axes of images."""
    if sample_type != "nearest":
        raise MXNetError(f"UpSampling: sample_type={sample_type!r}; use 'nearest' or Deconvolution")
    ys = [ops.repeat(ops.repeat(x, scale, 2), scale, 3) for x in args]
    return ops.concat(ys, 1) if len(ys) > 1 else ys[0]
