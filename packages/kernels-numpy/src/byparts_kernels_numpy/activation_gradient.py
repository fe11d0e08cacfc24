"""Gradients of activations in a few NumPy calls for each block, without the arrays between."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.activation import logistic
from byparts_kernels_numpy.blocks import in_blocks, in_wide_blocks
from byparts_kernels_numpy.error_function import erf_double, erf_single
from byparts_kernels_numpy.select import BITS
from byparts_kernels_numpy.table import kernels
from byparts_opset.activation import ReluGradient, SigmoidGradient, TanhGradient
from byparts_opset.dtypes import Array
from byparts_opset.gelu import BEND, CUBIC, FLAT, HALF_ROOT, ROOT_PI, GeluGradient, SiluGradient


@kernels.on(ReluGradient, workspace=True)
def relu_gradient(
    op: ReluGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """By bits, as `select`: a masked copy branches at each element, and takes ten times as long."""
    (dy, y), (dx,) = inputs, outputs
    bits = BITS[dx.dtype.itemsize]
    step = partial(_relu, np.zeros((), y.dtype))
    return in_blocks(step, (dy.view(bits), y), dx.view(bits), workspace, (bool, bits))


@kernels.on(SigmoidGradient, workspace=True)
def sigmoid_gradient(
    op: SigmoidGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_sigmoid, inputs, outputs[0], workspace, 1)


@kernels.on(TanhGradient, workspace=True)
def tanh_gradient(
    op: TanhGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_tanh, inputs, outputs[0], workspace, 1)


@kernels.on(SiluGradient, workspace=True)
def silu_gradient(
    op: SiluGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_silu, inputs, outputs[0], workspace, 2)


@kernels.on(GeluGradient, workspace=True)
def gelu_gradient(
    op: GeluGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (dx,) = outputs
    if op.approximate:
        return in_wide_blocks(_gelu_by_tanh, inputs, dx, workspace, 3)
    if dx.dtype == np.float64:
        return in_wide_blocks(_gelu_double, inputs, dx, workspace, 6)
    return in_wide_blocks(_gelu_single, inputs, dx, workspace, 3)


# In each step dx may be dy, so it is written last; the other arrays are scratch.


def _relu(zero: Array, dy: Array, y: Array, dx: Array, below: Array, mask: Array) -> None:
    np.less_equal(y, zero, below)
    np.copyto(mask, below)
    np.subtract(mask, 1, mask)  # 0 below, all ones above
    np.bitwise_and(dy, mask, dx)


def _sigmoid(dy: Array, y: Array, dx: Array, slope: Array) -> None:
    np.subtract(1.0, y, slope)
    np.multiply(slope, y, slope)
    np.multiply(dy, slope, dx)


def _tanh(dy: Array, y: Array, dx: Array, slope: Array) -> None:
    np.multiply(y, y, slope)
    np.subtract(1.0, slope, slope)
    np.multiply(dy, slope, dx)


def _silu(dy: Array, x: Array, dx: Array, share: Array, slope: Array) -> None:
    logistic(x, share, slope)
    np.subtract(1.0, share, slope)
    np.multiply(slope, x, slope)
    np.add(slope, 1.0, slope)
    np.multiply(slope, share, slope)
    np.multiply(dy, slope, dx)


def _gelu_by_tanh(dy: Array, x: Array, dx: Array, bend: Array, steep: Array, square: Array) -> None:
    np.minimum(x, FLAT, out=steep)
    np.maximum(steep, -FLAT, out=steep)
    np.multiply(steep, steep, square)
    np.multiply(square, BEND * CUBIC, bend)
    np.add(bend, BEND, bend)
    np.multiply(bend, steep, bend)
    np.tanh(bend, bend)
    np.multiply(square, 3 * BEND * CUBIC, square)
    np.add(square, BEND, square)
    np.multiply(steep, square, steep)
    np.multiply(bend, bend, square)
    np.subtract(1.0, square, square)
    np.multiply(steep, square, steep)
    np.add(bend, steep, bend)
    np.add(bend, 1.0, bend)
    np.multiply(bend, 0.5, bend)
    np.multiply(dy, bend, dx)


def _gelu_single(dy: Array, x: Array, dx: Array, share: Array, *spare: Array) -> None:
    np.multiply(x, HALF_ROOT, share)
    erf_single(share, share, *spare)
    _weigh(dy, x, dx, share, spare[0])


def _gelu_double(dy: Array, x: Array, dx: Array, share: Array, *spare: Array) -> None:
    erf_double(False, np.multiply(x, HALF_ROOT, spare[0]), share, *spare[1:])
    _weigh(dy, x, dx, share, spare[0])


def _weigh(dy: Array, x: Array, dx: Array, share: Array, rest: Array) -> None:
    """dx = dy * ((1 + share) / 2 + x * density(x))."""
    np.multiply(x, x, rest)
    np.multiply(rest, -0.5, rest)
    np.exp(rest, rest)
    np.multiply(rest, x, rest)
    np.multiply(rest, 2 * HALF_ROOT / ROOT_PI, rest)
    np.add(share, rest, share)
    np.add(share, 1.0, share)
    np.multiply(share, 0.5, share)
    np.multiply(dy, share, dx)
