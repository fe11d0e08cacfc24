"""RNN, GRU and LSTM as scans over time, with a length for each sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import counted
from byparts_frontend_onnx.standard.elementwise import scaled_elu, zero
from byparts_graph_ir import Value

_Function = Callable[[Value], Value]
_FUNCTIONS: Mapping[str, Callable[[Value, float, float], Value]] = {
    "sigmoid": lambda x, a, b: ops.sigmoid(x),
    "tanh": lambda x, a, b: ops.tanh(x),
    "relu": lambda x, a, b: ops.relu(x),
    "softsign": lambda x, a, b: ops.softsign(x),
    "softplus": lambda x, a, b: ops.softplus(x),
    "elu": lambda x, a, b: scaled_elu(x, a, 1.0),
    "leakyrelu": lambda x, a, b: ops.leaky_relu(x, a),
    "thresholdedrelu": lambda x, a, b: ops.where(x > a, x, zero(x)),
    "affine": lambda x, a, b: a * x + b,
    "scaledtanh": lambda x, a, b: a * ops.tanh(b * x),
    "hardsigmoid": lambda x, a, b: ops.clip(a * x + b, 0.0, 1.0),
}
_CONSTANTS = {
    **{"elu": (1.0, 0.0), "leakyrelu": (0.01, 0.0), "thresholdedrelu": (1.0, 0.0)},
    **{"affine": (1.0, 0.0), "scaledtanh": (1.0, 1.0), "hardsigmoid": (0.2, 0.5)},
}
_USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@dataclass(frozen=True)
class Cell:
    """A direction of a recurrent layer.

    Attributes:
        kind: "RNN", "GRU" or "LSTM".
        width: of the hidden state.
        functions: activations, in the order of ONNX.
        reset_after: whether a GRU multiplies by the reset gate after its product.
        coupled: whether an LSTM forgets exactly what it takes in.
        clip: bound of what goes into an activation, or `None`.
    """

    kind: str
    width: int
    functions: tuple[_Function, ...]
    reset_after: bool
    coupled: bool
    clip: float | None

    def step(
        self, states: Sequence[Value], x: Value, r: Value, bias: Value | None, peep: Value | None
    ) -> tuple[Value, ...]:
        """The new states from the old ones and the products of the input with all gates."""
        if self.kind == "GRU":
            return (self._gru(states[0], x, r, bias),)
        gates = x + ops.matmul(states[0], r, transpose_b=True)
        gates = gates if bias is None else gates + bias
        if self.kind == "RNN":
            return (self._f(0, gates),)
        return self._lstm(states[1], gates, peep)

    def _lstm(self, c: Value, gates: Value, peep: Value | None) -> tuple[Value, ...]:
        i, o, f, g = (self._part(gates, k) for k in range(4))
        if peep is not None:
            i, f = i + self._part(peep, 0) * c, f + self._part(peep, 2) * c
        i = self._f(0, i)
        f = 1.0 - i if self.coupled else self._f(0, f)
        new = f * c + i * self._f(1, g)
        if peep is not None:
            o = o + self._part(peep, 1) * new
        return self._f(0, o) * self._f(2, new), new

    def _gru(self, h: Value, x: Value, r: Value, bias: Value | None) -> Value:
        def product(h: Value, gate: int) -> Value:
            rows = ops.getitem(r, slice(gate * self.width, (gate + 1) * self.width))
            y = ops.matmul(h, rows, transpose_b=True)
            return y if bias is None else y + self._part(bias, gate)

        z = self._f(0, self._part(x, 0) + product(h, 0))
        reset = self._f(0, self._part(x, 1) + product(h, 1))
        inner = reset * product(h, 2) if self.reset_after else product(reset * h, 2)
        return (1.0 - z) * self._f(1, self._part(x, 2) + inner) + z * h

    def _part(self, x: Value, gate: int) -> Value:
        return ops.getitem(x, (Ellipsis, slice(gate * self.width, (gate + 1) * self.width)))

    def _f(self, i: int, x: Value) -> Value:
        return self.functions[i](x if self.clip is None else ops.clip(x, -self.clip, self.clip))


def _function(name: str, a: float | None, b: float | None) -> _Function:
    usual = _CONSTANTS.get(name, (0.0, 0.0))
    first, second = usual[0] if a is None else a, usual[1] if b is None else b
    return lambda x: _FUNCTIONS[name](x, first, second)


def _cells(node: OnnxNode, directions: int) -> list[Cell]:
    names = [n.lower() for n in node.get("activations") or _USUAL[node.op] * directions]
    unknown = [n for n in names if n not in _FUNCTIONS]
    if unknown:
        raise node.refuse(f"the activation {unknown[0]!r}")
    alphas, betas = (
        iter(node.get("activation_alpha") or ()),
        iter(node.get("activation_beta") or ()),
    )
    functions = [
        _function(n, next(alphas, None) if n in _CONSTANTS else None,
                  next(betas, None) if n in ("affine", "scaledtanh", "hardsigmoid") else None)
        for n in names
    ]  # fmt: skip
    each = len(names) // directions
    return [
        Cell(node.op, node.get("hidden_size"), tuple(functions[i * each : (i + 1) * each]),
             bool(node.get("linear_before_reset", 0)), bool(node.get("input_forget", 0)),
             node.get("clip"))
        for i in range(directions)
    ]  # fmt: skip


@rules.on("RNN", "GRU", "LSTM")
def recurrent(
    node: OnnxNode,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    lengths: Value | None = None,
    h: Value | None = None,
    c: Value | None = None,
    peep: Value | None = None,
) -> tuple[Value, ...]:
    """All hidden states, the last one, and for an LSTM the last cell state."""
    batch_first = bool(node.get("layout", 0))
    if batch_first:
        x = ops.transpose(x, (1, 0, 2))  # [time, batch, width]
        h, c = (None if s is None else ops.transpose(s, (1, 0, 2)) for s in (h, c))
    direction = node.get("direction")
    cells = _cells(node, 2 if direction == "bidirectional" else 1)
    rows, lasts = [], []
    for i, cell in enumerate(cells):
        weights = [None if v is None else _one(v, i) for v in (w, r, bias, peep)]
        starts = [_start(s, i, x, cell) for s in ((h, c) if node.op == "LSTM" else (h,))]
        backward = direction == "reverse" or i == 1
        *states, row = _scanned(cell, x, weights, starts, lengths, backward)
        rows.append(row)
        lasts.append(states)
    y = ops.stack(rows, 1)  # [time, direction, batch, width]
    ends = [ops.stack([states[k] for states in lasts], 0) for k in range(len(lasts[0]))]
    if batch_first:
        y = ops.transpose(y, (2, 0, 1, 3))
        ends = [ops.transpose(e, (1, 0, 2)) for e in ends]
    return (y, *ends)


def _one(x: Value, i: int) -> Value:
    return ops.squeeze(ops.getitem(x, slice(i, i + 1)), 0)


def _start(state: Value | None, i: int, x: Value, cell: Cell) -> Value:
    if state is not None:
        return _one(state, i)
    shape: Any = (shape_of(x)[1], cell.width)
    return ops.fill(0.0, x.type.dtype, shape)


def _scanned(
    cell: Cell,
    x: Value,
    weights: list[Value | None],
    starts: list[Value],
    lengths: Value | None,
    backward: bool,
) -> tuple[Value, ...]:
    """The last states, and the hidden states of all steps."""
    w, r, bias, peep = weights
    assert w is not None and r is not None, "inputs that no recurrent layer leaves out"
    half = _GATES[cell.kind] * cell.width
    x = ops.matmul(x, w, transpose_b=True)
    if bias is not None:
        x, bias = x + ops.getitem(bias, slice(0, half)), ops.getitem(bias, slice(half, 2 * half))
    optional = [v for v in (bias, peep) if v is not None]
    sequences, invariants, n = [x], [r, *optional], len(starts)
    if lengths is not None:
        steps = shape_of(x)[0]
        assert steps is not None, "a sequence has a size"
        sequences.append(counted(steps))
        invariants.append(ops.reshape(ops.cast(lengths, "i64"), (-1, 1)))

    def body(*values: Value) -> tuple[Value, ...]:
        states, (x, *rest) = values[:n], values[n:]
        step = rest.pop(0) if lengths is not None else None
        r, *rest = rest
        end = rest.pop() if lengths is not None else None
        own_bias = rest.pop(0) if bias is not None else None
        own_peep = rest.pop(0) if peep is not None else None
        new = cell.step(states, x, r, own_bias, own_peep)
        if step is None or end is None:
            return (*new, new[0])
        runs = ops.less(step, end)
        kept = [ops.where(runs, a, b) for a, b in zip(new, states, strict=True)]
        return (*kept, ops.where(runs, new[0], zero(new[0])))

    return ops.scan(body, starts, sequences, invariants, reverse=backward)
