"""Sequences, time first: recurrent layers in one op, and masks by length."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import byparts_opset as ops
from byparts_eager import scan, training
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.entry import Dims, op
from byparts_frontend_mxnet.stream import stream

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def _no_length(p: Any) -> tuple[str, ...]:
    return () if p["use_sequence_length"] else ("sequence_length",)


def _length(dims: Dims, p: Any) -> dict[str, Dims]:
    return {"sequence_length": dims[1:2]}


@op("SequenceMask", shapes=_length, absent=_no_length)
def sequence_mask(
    data: Any, sequence_length: Any = None, *, use_sequence_length: bool = False, value: float = 0.0
) -> Any:
    """data [time, n, ...] with `value` behind the end of each sequence."""
    if sequence_length is None:
        return data
    time, rest = data.type.dims[0], data.type.rank - 2
    steps = ops.expand_dims(ops.arange(0, time, 1, "i32"), 1)
    inside = ops.less(steps, ops.expand_dims(ops.cast(sequence_length, "i32"), 0))
    inside = ops.expand_dims(inside, tuple(range(2, 2 + rest))) if rest else inside
    return ops.where(inside, data, ops.fill_like(data, value))


def _at_times(data: Any, times: Any) -> Any:
    """The elements of data [time, n, ...] at times [k, n] -> [k, n, ...]."""
    time, n, *rest = data.type.dims
    places = times * n + ops.arange(0, n, 1, "i32")
    return ops.gather(ops.reshape(data, (time * n, *rest)), places)


@op("SequenceLast", shapes=_length, absent=_no_length)
def sequence_last(
    data: Any, sequence_length: Any = None, *, use_sequence_length: bool = False
) -> Any:
    """The last element of each sequence: [n, ...]."""
    if sequence_length is None:
        return data[-1]
    last = ops.cast(sequence_length, "i32") - 1
    return _at_times(data, ops.expand_dims(last, 0))[0]


@op("SequenceReverse", shapes=_length, absent=_no_length)
def sequence_reverse(
    data: Any, sequence_length: Any = None, *, use_sequence_length: bool = False
) -> Any:
    """Each sequence in reverse order; what is behind its end stays."""
    if sequence_length is None:
        return ops.reverse(data, 0)
    steps = ops.expand_dims(ops.arange(0, data.type.dims[0], 1, "i32"), 1)
    length = ops.expand_dims(ops.cast(sequence_length, "i32"), 0)
    back = length - 1 - steps
    return _at_times(data, ops.where(ops.greater_equal(back, 0), back, steps + length * 0))


def rnn_sizes(p: Any, width: int) -> list[tuple[Dims, Dims]]:
    """(i2h, h2h) shapes of the weights of each layer and direction, in the order of the vector."""
    rows, ways = GATES[p["mode"]] * p["state_size"], 2 if p["bidirectional"] else 1
    widths = [width] + [ways * p["state_size"]] * (p["num_layers"] - 1)
    return [((rows, w), (rows, p["state_size"])) for w in widths for _ in range(ways)]


def _rnn_shapes(dims: Dims, p: Any) -> dict[str, Dims]:
    sizes = rnn_sizes(p, dims[2])
    count = sum([a[0] * a[1] + b[0] * b[1] + 2 * a[0] for a, b in sizes])
    state = (len(sizes), dims[1], p["state_size"])
    return {"parameters": (count,), "state": state, "state_cell": state}


def _rnn_outputs(p: Any) -> tuple[str, ...]:
    states = ("state", "state_cell") if p["mode"] == "lstm" else ("state",)
    return ("output", *states) if p["state_outputs"] else ("output",)


@op("RNN", shapes=_rnn_shapes, outputs=_rnn_outputs,
    absent=lambda p: () if p["mode"] == "lstm" else ("state_cell",))  # fmt: skip
def rnn(
    data: Any, parameters: Any, state: Any, state_cell: Any = None, *, state_size: int,
    num_layers: int, mode: str, bidirectional: bool = False, p: float = 0.0,
    state_outputs: bool = False,
) -> Any:  # fmt: skip
    """Recurrent layers: data [time, n, width], states [layers * ways, n, state_size].

    `parameters` holds the weights i2h and h2h of each layer and direction, then their biases.
    """
    if mode not in GATES:
        raise MXNetError(f"RNN: mode={mode!r}; it is one of {', '.join(GATES)}")
    how = {"mode": mode, "state_size": state_size, "num_layers": num_layers,
           "bidirectional": bidirectional}  # fmt: skip
    shapes = rnn_sizes(how, data.type.dims[2])
    each = [a for pair in shapes for a in pair] + [(a[0],) for a, _ in shapes for _ in "ih"]
    counts = [a[0] * a[1] if len(a) == 2 else a[0] for a in each]
    parts = ops.split(parameters, counts, 0)
    full = (len(shapes), data.type.dims[1], state_size)
    state = ops.broadcast_to(state, full)  # of one row where a cell begins with zeros
    state_cell = None if state_cell is None else ops.broadcast_to(state_cell, full)
    blocks = [ops.reshape(v, s) for v, s in zip(parts, each, strict=True)]
    ways = 2 if bidirectional else 1
    x, hs, cs = data, [], []
    for layer in range(num_layers):
        outputs = []
        if layer and p and training():
            x = stream.dropout(x, p)
        for way in range(ways):
            i = layer * ways + way
            weights = blocks[2 * i : 2 * i + 2] + blocks[2 * len(shapes) + 2 * i :][:2]
            start = (state[i],) if state_cell is None else (state[i], state_cell[i])
            y, last = run_rnn(mode, x, weights, start, reverse=way == 1)
            outputs.append(y)
            hs.append(last[0])
            cs += last[1:]
        x = ops.concat(outputs, 2) if ways > 1 else outputs[0]
    if not state_outputs:
        return x
    return (x, ops.stack(hs, 0), ops.stack(cs, 0)) if cs else (x, ops.stack(hs, 0))


def run_rnn(mode: str, x: Any, weights: Any, start: Any, reverse: bool) -> tuple[Any, Any]:
    """One layer in one direction: outputs [time, n, size] and the last state."""
    i2h, h2h, i2h_bias, h2h_bias = weights
    inputs = ops.matmul(x, i2h, transpose_b=True) + i2h_bias

    def step(state: Any, x: Any) -> tuple[Any, Any]:
        hidden = ops.matmul(state[0], h2h, transpose_b=True) + h2h_bias
        new = tuple(rnn_step(_VALUES, mode, x, hidden, state))
        return new, new[0]

    last, outputs = scan(step, tuple(start), inputs, reverse=reverse)
    return outputs, last


def rnn_step(
    F: Any,  # noqa: N803  # MXNet's name
    mode: Any,
    x: Any,
    hidden: Any,
    state: Any,
    name: Any = None,
) -> list[Any]:
    """The next states, the output first, of products of the input and of the hidden state.

    Gates stand in cuDNN's order: in, forget, new, out (Hochreiter and Schmidhuber 1997, with forget
    gates); or reset, update, new (Cho et al. 2014, with the reset after the product).

    Args:
        F: the namespace of ops: `nd`, `sym`, or `_VALUES`.
        mode: "lstm", "gru", "rnn_" and an activation, or a function of x.
        x: [n, gates * size].
        hidden: likewise.
        state: the states before.
        name: of the output.
    """
    if mode == "lstm":
        take, forget, new, out = F.split(x + hidden, num_outputs=4, axis=1)
        c = F.sigmoid(forget) * state[1] + F.sigmoid(take) * F.tanh(new)
        return [F.elemwise_mul(F.sigmoid(out), F.tanh(c), name=name), c]
    if mode == "gru":
        xs, hs = (list(F.split(v, num_outputs=3, axis=1)) for v in (x, hidden))
        reset, update = F.sigmoid(xs[0] + hs[0]), F.sigmoid(xs[1] + hs[1])
        new = F.tanh(xs[2] + reset * hs[2])
        return [F.elemwise_add((1.0 - update) * new, update * state[0], name=name)]
    if callable(mode):
        return [mode(x + hidden, name=name)]
    return [F.Activation(x + hidden, act_type=mode.removeprefix("rnn_"), name=name)]


_VALUES = SimpleNamespace(
    split=lambda x, num_outputs, axis: ops.split(x, num_outputs, axis),
    sigmoid=ops.sigmoid,
    tanh=ops.tanh,
    elemwise_mul=lambda x, y, name: x * y,
    elemwise_add=lambda x, y, name: x + y,
    Activation=lambda x, act_type, name: {"relu": ops.relu, "tanh": ops.tanh}[act_type](x),
)
