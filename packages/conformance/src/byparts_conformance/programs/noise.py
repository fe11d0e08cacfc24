"""Evaluates a program with noise, from which the bounds of its errors come (`bounds.py`).

Monte Carlo arithmetic (Parker 1997; Verificarlo, Denis and others 2016): the program is evaluated
several times, and each time every node that rounds, in bodies too, gets noise of a few units in the
last place of its dtype on its results, and, where it adds many terms, on its inputs too (whose
order of addition a backend may choose).  How far the results spread says how far correct results
may be apart: much where a difference cancels, nothing where elements are only moved.  An output
whose discrete value (an index, a condition) differs between two evaluations is not determined, and
not compared.
O(samples * cost of `evaluate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_conformance.programs.effects import as_array, recorded
from byparts_conformance.programs.not_finite import open_results
from byparts_conformance.programs.program import Program
from byparts_graph_ir import FLOATS, Graph, Node, Op, TensorType, Types, Value
from byparts_graph_ir.model.bodies import map_bodies
from byparts_opset.dtypes import dtype_name, numpy_dtype, wide
from byparts_opset.evaluate import evaluate

Array = NDArray[Any]

_UNITS, _UNITS_OF_SUMS = 4.0, 16.0  # of noise; a function is right to 4 units, a row's sum to more
# The distance from 1 to the next number, and the smallest positive number.
_EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
_LEAST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 5e-324}
_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
# Results that may be 0 where they are less than the smallest normal number: in 1 / (1 + e^-x),
# as torch and others have it, e^-x is infinite before the quotient is 0; its log(1 + e^x) is made
# of an e^x that is normal or 0.
_UNDERFLOWS: tuple[type[Op], ...] = (ops.Sigmoid, ops.Silu, ops.Softplus)
# Sums of two computed numbers may be 0 for one backend where they are the last digit for another.
_DIFFERENCES: tuple[type[Op], ...] = (ops.Add, ops.Sub)
# Ops that give exactly one of the numbers they were given, a comparison of them, or a constant.
_EXACT: tuple[type[Op], ...] = (
    *(ops.Neg, ops.Abs, ops.Sign, ops.Floor, ops.Ceil, ops.Round, ops.Trunc, ops.Identity),
    *(ops.Maximum, ops.Minimum, ops.Relu, ops.Relu6, ops.ReluGradient, ops.Select, ops.Clip),
    *(ops.Max, ops.Min, ops.ArgMax, ops.ArgMin, ops.TopK, ops.MaxPool, ops.Cast, ops.Gather),
    *(ops.Scatter, ops.OneHot, ops.Pad, ops.Fill, ops.Constant, ops.Eye, ops.Range),
    *(ops.StopGradient, ops.SliceGradient, ops.MaxPoolGradientGradient, ops.Concat),
    *(ops.IsNan, ops.IsInf, ops.IsFinite, ops.BroadcastLike, ops.Print),
    *(ops.Sort, ops.CopySign, ops.SignBit),
)
# Ops that compute what the nodes of their bodies do.
_BODIES: tuple[type[Op], ...] = (ops.Call, ops.If, ops.While, ops.Scan)
# Ops that choose among zeros of either sign, beside those of elements (`Op.zero_sign`).
_CHOOSING: tuple[type[Op], ...] = (ops.Max, ops.Min, ops.MaxPool)
# Ops that subtract a mean: its error is the same in all results that it is subtracted from.
_CENTRED: tuple[type[Op], ...] = (
    *(ops.BatchNorm, ops.BatchNormGradient, ops.LayerNorm, ops.LayerNormGradient),
)


def evaluated(program: Program, noise: Noise | None) -> tuple[Array, ...]:
    """The outputs, with noise where one is given; and last what was printed, as bytes."""
    with recorded() as text:
        outputs = _run(program.graph, program.arrays, noise)
    return (*outputs, as_array(text.getvalue()))


def _run(graph: Graph, arrays: Sequence[Array], noise: Noise | None) -> tuple[Array, ...]:
    if noise is None:
        with np.errstate(all="ignore"):
            return evaluate(graph, *arrays)
    if noise.flushes:
        arrays = [noise.flushed(x) for x in arrays]
    with np.errstate(all="ignore"):
        return evaluate(_noisy(graph, noise, noise.exact_ops(graph)), *arrays)


class _Noisy(Op):
    """A node whose results have noise; `evaluate` of a graph, and of bodies, then has it too."""

    node: Any
    noise: Any
    exact: Any

    def infer(self, *types: TensorType) -> Types:
        """Give the types of the node, which its own op has inferred."""
        return tuple([v.type for v in self.node.outputs])

    def evaluate(self, *given: Array) -> tuple[Array, ...]:
        """The results with noise."""
        return _with_noise(self.node, given, self.noise, type(self.node.op) in self.exact)


def _noisy(graph: Graph, noise: Noise, exact: set[type[Op]]) -> Graph:
    """The graph with noise on its nodes and on those of its bodies."""
    new: dict[Value, Value] = {v: v for v in graph.inputs}
    nodes = []
    for node in graph.nodes:
        op = map_bodies(node.op, lambda body: _noisy(body, noise, exact))
        inner = node if op is node.op else Node(op, node.inputs, node.where)
        copy = Node(_Noisy(inner, noise, exact), tuple([new[v] for v in node.inputs]), node.where)
        new.update(zip(node.outputs, copy.outputs, strict=True))
        nodes.append(copy)
    return Graph(graph.inputs, tuple(nodes), tuple([new[v] for v in graph.outputs]))


def _with_noise(
    node: Node, arrays: Sequence[Array], noise: Noise, exact: bool
) -> tuple[Array, ...]:
    """Evaluate a node on these arrays, with noise on its results, and where it adds on them."""
    units = 0.0 if exact else _units(node)
    given = [noise.on(x, units) for x in arrays] if units > _UNITS else arrays
    made = node.op.evaluate(*given)
    if units:
        least = _NORMAL if isinstance(node.op, _UNDERFLOWS) else _LEAST
        lost = _lost(node, given)
        made = tuple([noise.on(y, units, _terms(node.op, given, y), least, lost) for y in made])
        if isinstance(node.op, _CENTRED):
            plain = node.op.evaluate(*arrays)
            made = tuple([noise.shared(y, z) for y, z in zip(made, plain, strict=True)])
    elif not node.op.zero_sign or isinstance(node.op, _CHOOSING):
        made = tuple([noise.with_signs(y) for y in made])
    if not isinstance(node.op, _BODIES):
        opened = open_results(node, given, made)
        made = tuple([noise.opened(y, o) for y, o in zip(made, opened, strict=True)])
    if noise.flushes:
        made = tuple([noise.flushed(y) for y in made])
    return made


def _units(node: Node) -> float:
    """Units in the last place by which results of the node may be off; 0: it is exact."""
    op = node.op
    if isinstance(op, _BODIES):
        return 0.0  # their nodes have noise of their own
    if isinstance(op, _EXACT) or op.pattern in ("injective", "broadcast"):
        return _UNITS if isinstance(op, (ops.Dropout, ops.BatchNormInference)) else 0.0
    if isinstance(op, (ops.Attention, ops.AttentionGradient)):
        return 8 * _UNITS_OF_SUMS  # a weight is exp(score - logsumexp): off by the size of scores
    return _UNITS if op.pattern == "elementwise" else _UNITS_OF_SUMS


def _terms(op: Op, given: Sequence[Array], y: Array) -> Array | float:
    """The size of the terms that may have cancelled in y, where it is more than that of y.

    For an elementwise op that cancels the product of its inputs, 1 at least, as the kit takes it;
    for products a part of the largest result; for rows, losses and the like a part of what they
    are given too, since a loss near 0 is the difference of large logits.
    """
    if op.pattern == "elementwise":
        sizes = [_sizes(x) for x in given if dtype_name(x.dtype) in FLOATS]
        return reduce(np.multiply, [np.maximum(size, 1) for size in sizes]) if op.cancels else 0.0
    if op.pattern == "reduction":
        return 0.0
    if isinstance(op, (ops.BatchNorm, ops.BatchNormInference)) and y.shape == given[0].shape:
        return _scaled(op, *given)
    floats = [x for x in given if dtype_name(x.dtype) in FLOATS] if op.pattern == "opaque" else []
    return max([float(np.max(_sizes(x), initial=0.0)) for x in (y, *floats)]) / 8


def _scaled(op: Any, x: Array, gamma: Array, *rest: Array) -> Array:
    """The size of x * scale, by channel: a batch norm may be x * scale + (beta - mean * scale)."""
    axes = tuple([axis for axis in range(x.ndim) if axis != op.axis % x.ndim])
    size = _sizes(x)
    if not size.size:
        return size
    variance = np.var(size, axes) if isinstance(op, ops.BatchNorm) else _sizes(rest[2])
    scale = _sizes(gamma) / np.sqrt(variance + op.epsilon)
    largest = np.max(size, axes, initial=0.0) * scale
    return np.broadcast_to(np.expand_dims(largest, axes), x.shape) / 8


def _lost(node: Node, given: Sequence[Array]) -> Array | float:
    """The size of computed numbers whose digits a sum of two may lose; 0 of another op."""
    if not isinstance(node.op, _DIFFERENCES) or all(v.node is None for v in node.inputs):
        return 0.0
    return reduce(np.maximum, map(_sizes, given))


def _sizes(x: Array) -> Array:
    """Absolute values, 0 of what is not finite."""
    size = np.abs(wide(x).astype(np.float64))
    return np.where(np.isfinite(size), size, 0.0)


@dataclass(frozen=True)
class Noise:
    """Noise on floats, drawn anew at each use.

    Attributes:
        numbers: where it is drawn from.
        strength: multiplies it.
        zeros: share of the results that are 0 where the noise is larger than the number: numbers
            near 0 that are rounded often are 0.
        exact: share of the kinds of ops that an evaluation leaves without noise: a backend may
            compute a mod, say, exactly, and then others follow than after any error.
        flushes: whether half of the numbers below the smallest normal one become 0.
        open_as: what results of no meaning are, drawn for each.
        signs: of zeros that may have either, drawn for each.
    """

    numbers: np.random.Generator
    strength: float = 1.0
    zeros: float = 0.0
    exact: float = 0.0
    flushes: bool = False
    open_as: tuple[float, ...] = ()
    signs: tuple[float, ...] = (1.0, -1.0)

    def exact_ops(self, graph: Graph) -> set[type[Op]]:
        """Kinds of ops without noise, drawn for one evaluation."""
        kinds = dict.fromkeys(type(node.op) for node in graph.nodes)
        return {kind for kind in kinds if self.numbers.uniform() < self.exact}

    def on(
        self,
        x: Array,
        units: float,
        terms: Array | float = 0.0,
        least: dict[str, float] = _LEAST,
        lost: Array | float = 0.0,
    ) -> Array:
        """Floats with noise of at most so many units in the last place; zeros of either sign.

        The units are those of x, or of the larger terms that cancelled in it.  A share of the
        numbers that are less than their noise, or than that of `lost`, become 0.
        """
        name = dtype_name(x.dtype)
        if name not in FLOATS:
            return x
        y = wide(x).astype(np.float64)
        size = np.maximum(_sizes(y), terms) * (units * self.strength * _EPSILON[name])
        exact_zero = (y == 0) & (size == 0)
        size = np.maximum(size, units * self.strength * least[name])
        made = y + size * self.numbers.uniform(-1, 1, x.shape)
        unsure = np.maximum(size, np.asarray(lost) * (units * self.strength * _EPSILON[name]))
        cancelled = (unsure > np.abs(y)) & (self.numbers.uniform(0, 1, x.shape) < self.zeros)
        zeros = 0.0 * self.numbers.choice(self.signs, x.shape)
        return np.asarray(np.where(exact_zero | cancelled, zeros, made)).astype(numpy_dtype(name))

    def opened(self, x: Array, where: Array | bool) -> Array:
        """The array with something else where the result is open (`not_finite.open_results`)."""
        if not np.any(where):
            return x
        others = self.numbers.choice(self.open_as, x.shape)
        with np.errstate(all="ignore"):
            if dtype_name(x.dtype) not in FLOATS:
                others = np.nan_to_num(others, nan=1, posinf=0, neginf=1)
            return np.where(where, others.astype(x.dtype), x)

    def flushed(self, x: Array) -> Array:
        """Floats of which half of those below the smallest normal number are 0."""
        name = dtype_name(x.dtype)
        if name not in FLOATS:
            return x
        small = (_sizes(x) < _NORMAL[name]) & (x != 0)
        if not np.any(small):
            return x
        return np.where(small & (self.numbers.uniform(0, 1, x.shape) < 0.5), x.dtype.type(0), x)

    def with_signs(self, x: Array) -> Array:
        """Floats whose zeros have either sign."""
        zeros = x == 0
        if dtype_name(x.dtype) not in FLOATS or not np.any(zeros):
            return x
        signs = self.numbers.choice(self.signs, x.shape)
        return np.asarray(np.where(zeros, 0.0 * signs, x.astype(signs.dtype))).astype(x.dtype)

    def shared(self, x: Array, plain: Array) -> Array:
        """Floats moved in one direction along some axes, by as much as `x` differs from `plain`."""
        if dtype_name(x.dtype) not in FLOATS:
            return x
        y = wide(x).astype(np.float64)
        size = _sizes(y - wide(plain).astype(np.float64))
        together = [n if self.numbers.uniform() < 0.5 else 1 for n in x.shape]
        return np.asarray(y + size * self.numbers.uniform(-1, 1, together)).astype(x.dtype)
