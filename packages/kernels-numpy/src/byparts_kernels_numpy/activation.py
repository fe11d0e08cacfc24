"""Activations in a few NumPy calls for each block, without the arrays between."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.blocks import in_wide_blocks
from byparts_kernels_numpy.error_function import erf_double, erf_single
from byparts_kernels_numpy.plain import wrapping
from byparts_kernels_numpy.select import between
from byparts_kernels_numpy.table import kernels
from byparts_opset.activation import (
    SELU_ALPHA,
    SELU_SCALE,
    Elu,
    LeakyRelu,
    Relu,
    Relu6,
    Selu,
    Sigmoid,
    Softplus,
    Softsign,
)
from byparts_opset.dtypes import Array
from byparts_opset.gelu import BEND, CUBIC, HALF_ROOT, Gelu, Silu

LOWEST = -88.0  # e^88 is finite in f32


@kernels.on(Relu)
def relu(op: Relu, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(np.maximum, x, np.zeros((), y.dtype), out=y, **wrapping(y))


@kernels.on(Relu6)
def relu6(op: Relu6, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x,), (y,) = inputs, outputs
    return between(x, np.zeros((), y.dtype), np.full((), 6, y.dtype), y)


@kernels.on(LeakyRelu, workspace=True)
def leaky_relu(
    op: LeakyRelu, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(partial(_leaky_relu, op.alpha), inputs, outputs[0], workspace, 1)


@kernels.on(Elu, workspace=True)
def elu(op: Elu, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return in_wide_blocks(partial(_elu, op.alpha), inputs, outputs[0], workspace, 1)


@kernels.on(Selu, workspace=True)
def selu(op: Selu, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return in_wide_blocks(_selu, inputs, outputs[0], workspace, 1)


@kernels.on(Sigmoid, workspace=True)
def sigmoid(
    op: Sigmoid, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(logistic, inputs, outputs[0], workspace, 1)


@kernels.on(Softplus, workspace=True)
def softplus(
    op: Softplus, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_softplus, inputs, outputs[0], workspace, 1)


@kernels.on(Softsign, workspace=True)
def softsign(
    op: Softsign, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_softsign, inputs, outputs[0], workspace, 1)


@kernels.on(Silu, workspace=True)
def silu(op: Silu, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return in_wide_blocks(_silu, inputs, outputs[0], workspace, 2)


@kernels.on(Gelu, workspace=True)
def gelu(op: Gelu, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    (y,) = outputs
    if op.approximate:
        return in_wide_blocks(_gelu_by_tanh, inputs, y, workspace, 1)
    if y.dtype == np.float64:
        return in_wide_blocks(_gelu_double, inputs, y, workspace, 6)
    return in_wide_blocks(_gelu_single, inputs, y, workspace, 3)


# In each step y may be x, and the other arrays are scratch.


def _leaky_relu(alpha: float, x: Array, y: Array, below: Array) -> None:
    if alpha == 0:
        np.maximum(x, 0.0, out=y)  # 0 * inf would be nan
        return
    np.multiply(x, alpha, below)
    (np.maximum if alpha <= 1 else np.minimum)(x, below, out=y)


def _elu(alpha: float, x: Array, y: Array, below: Array) -> None:
    np.minimum(x, 0.0, out=below)
    np.expm1(below, below)
    np.multiply(below, alpha, below)
    np.maximum(x, 0.0, out=y)
    np.add(y, below, y)


def _selu(x: Array, y: Array, below: Array) -> None:
    _elu(SELU_ALPHA, x, y, below)
    np.multiply(y, SELU_SCALE, y)


def logistic(x: Array, y: Array, tiny: Array) -> None:
    """Sigmoid; numbers whose e^-x is infinite are rare, so looked for, and are e^x."""
    rare = not x.min() >= LOWEST  # a block with NaN has no least number
    if rare:
        np.minimum(x, LOWEST, out=tiny)
        np.exp(tiny, tiny)
    np.negative(x, y)
    np.exp(y, y)
    np.add(y, 1.0, y)
    np.reciprocal(y, y)
    if rare:
        np.maximum(y, tiny, out=y)


def _softplus(x: Array, y: Array, rest: Array) -> None:
    np.absolute(x, rest)
    np.negative(rest, rest)
    np.exp(rest, rest)
    np.log1p(rest, rest)
    np.maximum(x, 0.0, out=y)
    np.add(y, rest, y)


def _softsign(x: Array, y: Array, below: Array) -> None:
    np.absolute(x, below)
    np.add(below, 1.0, below)
    np.divide(x, below, y)


def _silu(x: Array, y: Array, share: Array, tiny: Array) -> None:
    logistic(x, share, tiny)
    np.multiply(x, share, y)


def _gelu_by_tanh(x: Array, y: Array, share: Array) -> None:
    np.multiply(x, x, share)
    np.multiply(share, BEND * CUBIC, share)
    np.add(share, BEND, share)
    np.multiply(share, x, share)
    np.tanh(share, share)
    _weigh(x, y, share)


def _gelu_single(x: Array, y: Array, share: Array, *spare: Array) -> None:
    np.multiply(x, HALF_ROOT, share)
    erf_single(share, share, *spare)
    _weigh(x, y, share)


def _gelu_double(x: Array, y: Array, share: Array, *spare: Array) -> None:
    erf_double(False, np.multiply(x, HALF_ROOT, spare[0]), share, *spare[1:])
    _weigh(x, y, share)


def _weigh(x: Array, y: Array, share: Array) -> None:
    """y = x * (1 + share) / 2."""
    np.add(share, 1.0, share)
    np.multiply(share, x, share)
    np.multiply(share, 0.5, y)
