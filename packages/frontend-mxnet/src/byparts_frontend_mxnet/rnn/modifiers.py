"""Cells made of cells: stacked, both ways, with dropout, zoneout or a residual sum; and fused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, Optional

from byparts_frontend_mxnet import initializer as init, nd, symbol as sym
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.sequence import GATES, rnn_sizes
from byparts_frontend_mxnet.rnn.cells import (
    Arrays,
    BaseRNNCell,
    GRUCell,
    Info,
    LSTMCell,
    RNNCell,
    RNNParams,
    merged,
    split_steps,
)


class _Several(BaseRNNCell):
    """A cell of others, whose states stand one after the other."""

    def __init__(self, cells: Sequence[BaseRNNCell], prefix: str, params: Any) -> None:
        self._cells = list(cells)
        super().__init__(prefix, params)

    def cells(self) -> Iterator[BaseRNNCell]:
        return iter(self._cells)

    @property
    def state_info(self) -> list[Info]:
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **keywords: Any) -> list[Any]:
        return [s for cell in self._cells for s in cell.begin_state(func, **keywords)]

    def _parts(self, states: Sequence[Any]) -> list[list[Any]]:
        """The states of each cell."""
        left = list(states)
        return [[left.pop(0) for _ in cell.state_info] for cell in self._cells]


class SequentialRNNCell(_Several):
    """Cells one after the other."""

    def __init__(self, params: Optional[RNNParams] = None) -> None:
        super().__init__([], "", params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell behind the last one."""
        self._cells.append(cell)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        new = []
        for cell, part in zip(self._cells, self._parts(states), strict=True):
            inputs, after = cell(inputs, part)
            new += after
        return inputs, new

    def _unrolled(
        self, length: int, inputs: Any, states: list[Any], layout: str
    ) -> tuple[Any, list[Any]]:
        new = []
        for cell, part in zip(self._cells, self._parts(states), strict=True):
            inputs, after = cell.unroll(length, inputs, part, layout)
            new += after
        return inputs, new


class BidirectionalCell(_Several):
    """A cell from the first step on and one from the last, their outputs side by side."""

    def __init__(
        self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: Optional[RNNParams] = None,
        output_prefix: str = "bi_",
    ) -> None:  # fmt: skip
        super().__init__([l_cell, r_cell], "", params)
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        raise MXNetError("a BidirectionalCell needs the whole sequence: call unroll")

    def _unrolled(
        self, length: int, inputs: Any, states: list[Any], layout: str
    ) -> tuple[Any, list[Any]]:
        steps = split_steps(length, inputs, layout)
        first, second = self._parts(states)
        there, a = self._cells[0].unroll(length, steps, first, layout, False)
        back, b = self._cells[1].unroll(length, steps[::-1], second, layout, False)
        pairs = zip(there, back[::-1], strict=True)
        outputs = [
            sym.concat(x, y, dim=1, name=f"{self._output_prefix}t{i}")
            for i, (x, y) in enumerate(pairs)
        ]
        return outputs, a + b


class DropoutCell(BaseRNNCell):
    """Dropout of the inputs, with no state."""

    def __init__(self, dropout: float, prefix: str = "dropout_", params: Any = None) -> None:
        super().__init__(prefix, params)
        self.dropout = dropout

    @property
    def state_info(self) -> list[Info]:
        return []

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        return sym.Dropout(inputs, p=self.dropout) if self.dropout else inputs, states


class _Modified(_Several):
    """A cell whose outputs are changed."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__([base_cell], "", base_cell.params)
        self.base_cell = base_cell


class ZoneoutCell(_Modified):
    """Outputs and states that stay at random as they were a step before."""

    def __init__(
        self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        super().__init__(base_cell)
        self._rates = zoneout_outputs, zoneout_states

    def reset(self) -> None:
        super().reset()
        self._before: Any = None

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        y, new = self.base_cell(inputs, states)
        before = sym.zeros_like(y) if self._before is None else self._before
        self._before = y = _kept(self._rates[0], y, before)
        return y, [_kept(self._rates[1], a, b) for a, b in zip(new, states, strict=True)]


class ResidualCell(_Modified):
    """The outputs plus the inputs."""

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        y, new = self.base_cell(inputs, states)
        return y + inputs, new


def _kept(rate: float, new: Any, old: Any) -> Any:
    """The new value, or where dropout (of rate `rate`) gives 0 the old one."""
    return sym.where(sym.Dropout(sym.ones_like(new), p=rate), new, old + new * 0) if rate else new


@init.register
class FusedRNN(init.Initializer):
    """First values of the vector of a `FusedRNNCell`: each weight as `init` draws it, or else the
    initializer of the whole network; biases 0, and `forget_bias` for forget gates.
    """  # noqa: D205  # one sentence

    def __init__(
        self, init: Any, num_hidden: int, num_layers: int, mode: str, bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:  # fmt: skip
        how: Info = {"num_hidden": num_hidden, "num_layers": num_layers, "mode": mode}
        how |= {"bidirectional": bidirectional, "forget_bias": forget_bias}
        super().__init__(init=init.dumps() if hasattr(init, "dumps") else init, **how)
        self._cell = FusedRNNCell(**how, prefix="")

    def _init_weight(self, name: str, arr: Any) -> None:
        own = self._kwargs["init"]
        fill = init.create(own) if own else getattr(name, "global_init", None) or init.Uniform()
        parts = {}
        for stem, kind, shape in self._cell.blocks(arr.size):
            part = parts[f"{stem}_{kind}"] = nd.zeros(shape)
            lstm = self._kwargs["mode"] == "lstm" and stem.endswith("i2h")
            if kind == "weight":
                fill(init.InitDesc(f"{stem}_weight"), part)
            elif lstm:
                init.LSTMBias(self._kwargs["forget_bias"])(init.InitDesc("weight"), part)
        arr[:] = nd.concat(*[nd.reshape(p, shape=(-1,)) for p in parts.values()], dim=0)

    _init_default = _init_weight


class FusedRNNCell(BaseRNNCell):
    """Layers of cells as one op, with all weights in one vector `parameters`.

    Args:
        num_hidden: width of the outputs of each direction.
        num_layers: one on the other.
        mode: "rnn_relu", "rnn_tanh", "lstm" or "gru".
        bidirectional: whether each layer runs both ways.
        dropout: between layers.
        get_next_state: whether `unroll` gives the states after the last step.
        forget_bias: first value of the bias of forget gates.
        prefix: of names; the mode by default.
        params: variables to share.
    """

    def __init__(
        self, num_hidden: int, num_layers: int = 1, mode: str = "lstm", bidirectional: bool = False,
        dropout: float = 0.0, get_next_state: bool = False, forget_bias: float = 1.0,
        prefix: Optional[str] = None, params: Optional[RNNParams] = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{mode}_" if prefix is None else prefix, params)
        self._how: Info = {"state_size": num_hidden, "num_layers": num_layers, "mode": mode}
        self._how["bidirectional"] = bidirectional
        self._dropout, self._next, self._forget_bias = dropout, get_next_state, forget_bias
        how = {"num_hidden": num_hidden, "num_layers": num_layers, "mode": mode}
        how |= {"bidirectional": bidirectional, "forget_bias": forget_bias, "init": None}
        text = json.dumps(["fusedrnn", how])
        self._parameter = self._params.get("parameters", init=text)

    @property
    def state_info(self) -> list[Info]:
        shape = (len(rnn_sizes(self._how, 0)), 0, self._how["state_size"])
        return [{"shape": shape, "__layout__": "LNC"}] * (1 + (self._how["mode"] == "lstm"))

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        raise MXNetError("a FusedRNNCell computes whole sequences: call unroll, or unfuse() it")

    def _unrolled(
        self, length: int, inputs: Any, states: list[Any], layout: str
    ) -> tuple[Any, list[Any]]:
        if not isinstance(inputs, sym.Symbol):
            inputs = merged(inputs, layout)
        x = sym.swapaxes(inputs, dim1=0, dim2=1) if layout == "NTC" else inputs
        result = sym.RNN(
            x, self._parameter, *states, **self._how, p=self._dropout, state_outputs=self._next,
            name=f"{self._prefix}rnn",
        )  # fmt: skip
        y = sym.swapaxes(result[0], dim1=0, dim2=1) if layout == "NTC" else result[0]
        return y, [result[i] for i in range(1, len(result))]

    def unfuse(self) -> SequentialRNNCell:
        """The same layers as cells, whose weights `unpack_weights` gives."""
        mode, stack = self._how["mode"], SequentialRNNCell()
        for layer in range(self._how["num_layers"]):
            cells = [self._cell(f"{self._prefix}{way}{layer}_") for way in self._ways()]
            output = f"{self._prefix}bi_l{layer}_"
            both = BidirectionalCell(cells[0], cells[-1], output_prefix=output)
            stack.add(both if cells[1:] else cells[0])
            if self._dropout and layer < self._how["num_layers"] - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        assert mode in GATES, "the op refuses others"
        return stack

    def _ways(self) -> str:
        return "lr" if self._how["bidirectional"] else "l"

    def _cell(self, prefix: str) -> BaseRNNCell:
        size, mode = self._how["state_size"], self._how["mode"]
        if mode == "lstm":
            return LSTMCell(size, prefix, forget_bias=self._forget_bias)
        return GRUCell(size, prefix) if mode == "gru" else RNNCell(size, mode[4:], prefix)

    def blocks(self, size: int) -> list[tuple[str, str, tuple[int, ...]]]:
        """Stem, kind and shape of each weight, then of each bias, in a vector of `size` numbers."""
        ways, rows = len(self._ways()), GATES[self._how["mode"]] * self._how["state_size"]
        rest = sum([a[0] * a[1] + b[0] * b[1] + 2 * a[0] for a, b in rnn_sizes(self._how, 0)])
        sizes = rnn_sizes(self._how, (size - rest) // (rows * ways))
        layers = range(self._how["num_layers"])
        stems = [f"{self._prefix}{way}{i}_" for i in layers for way in self._ways()]
        pairs = [
            (f"{stem}{s}", two[k])
            for stem, two in zip(stems, sizes, strict=True)
            for k, s in enumerate(("i2h", "h2h"))
        ]
        return [(n, "weight", s) for n, s in pairs] + [(n, "bias", s[:1]) for n, s in pairs]

    def unpack_weights(self, args: Arrays) -> Arrays:
        args = dict(args)
        vector, at = args.pop(f"{self._prefix}parameters").asnumpy(), 0
        for stem, kind, shape in self.blocks(vector.size):
            args[f"{stem}_{kind}"] = nd.array(vector[at : at + prod(shape)].reshape(shape))
            at += prod(shape)
        return self.unfuse().unpack_weights(args)

    def pack_weights(self, args: Arrays) -> Arrays:
        args = self.unfuse().pack_weights(args)
        names = [f"{stem}_{kind}" for stem, kind, _ in self.blocks(0)]
        flat = [nd.reshape(args.pop(n), shape=(-1,)) for n in names]
        return {**args, f"{self._prefix}parameters": nd.concat(*flat, dim=0)}
