"""Cells: one step of a recurrence as symbols; `unroll` repeats it, sharing the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Optional

from byparts_frontend_mxnet import initializer as init, nd, symbol as sym
from byparts_frontend_mxnet.ops.sequence import rnn_step
from byparts_graph_ir import ArgumentError

Arrays = dict[str, Any]
Info = dict[str, Any]


class RNNParams:
    """Variables of a cell by name, each made once: cells that are given one share weights."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix, self._params = prefix, {}  # type: ignore[var-annotated]

    def get(self, name: str, **keywords: Any) -> Any:
        """The variable `prefix + name`."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.Variable(name, **keywords)
        return self._params[name]


class BaseRNNCell:
    """A cell: `output, states = cell(inputs, states)`.

    Args:
        prefix: of the names of variables and steps.
        params: variables of another cell, to share them.
    """

    gates: ClassVar[tuple[str, ...]] = ()

    def __init__(self, prefix: str = "", params: Optional[RNNParams] = None) -> None:
        self._prefix, self._own_params = prefix, params is None
        self._params = params or RNNParams(prefix)
        self.reset()

    def reset(self) -> None:
        """Begin a new sequence: names count from 0 again."""
        self._init_counter = self._counter = -1
        for cell in self.cells():
            cell.reset()

    def cells(self) -> Iterator[BaseRNNCell]:
        """The cells inside this one."""
        return iter(())

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        """The output and the states after one step."""
        raise NotImplementedError(f"{type(self).__name__} lacks __call__(inputs, states)")

    @property
    def params(self) -> RNNParams:
        """The variables; a cell that shows them lets others share them."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state; 0 stands for the batch."""
        raise NotImplementedError(f"{type(self).__name__} lacks state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """Shapes of the states; 0 stands for the batch."""
        return [info["shape"] for info in self.state_info]

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **keywords: Any) -> list[Any]:
        """The states before the first step.

        Args:
            func: `zeros`, whose one row is broadcast over the batch, `ones`, or `Variable`.
            keywords: of `func`.
        """
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            given = {**info, **keywords}
            if func is not sym.Variable:
                given.pop("__layout__")
                given["shape"] = tuple(n or 1 for n in given["shape"])
            states.append(func(name=name, **given))
        return states

    def unroll(
        self, length: int, inputs: Any, begin_state: Optional[Sequence[Any]] = None,
        layout: str = "NTC", merge_outputs: Optional[bool] = None,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """The outputs of `length` steps, and the states after them.

        Args:
            length: number of steps.
            inputs: a symbol of this layout, or a list of one symbol [batch, width] a step.
            begin_state: states before the first step; zeros by default.
            layout: "NTC" or "TNC": the order of batch, time and width.
            merge_outputs: whether the outputs are one symbol, of this layout; else a list.
        """
        self.reset()
        states = self.begin_state() if begin_state is None else list(begin_state)
        outputs, states = self._unrolled(length, inputs, states, layout)
        is_one = isinstance(outputs, sym.Symbol)
        if merge_outputs is True and not is_one:
            outputs = merged(outputs, layout)
        elif merge_outputs is False and is_one:
            outputs = split_steps(length, outputs, layout)
        return outputs, states

    def _unrolled(
        self, length: int, inputs: Any, states: list[Any], layout: str
    ) -> tuple[Any, list[Any]]:
        """The outputs, as a list or in one symbol, and the states after them."""
        outputs = []
        for x in split_steps(length, inputs, layout):
            y, states = self(x, states)
            outputs.append(y)
        return outputs, states

    def unpack_weights(self, args: Arrays) -> Arrays:
        """The arrays, with those of the gates of this cell apart."""
        args = dict(args)
        for name in self._stacked(args):
            stacked, (stem, kind) = args.pop(name), name.rsplit("_", 1)
            rows = stacked.shape[0] // len(self.gates)
            for i, gate in enumerate(self.gates):
                args[f"{stem}{gate}_{kind}"] = stacked[i * rows : (i + 1) * rows].copy()
        for cell in self.cells():
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """The arrays, with those of the gates of this cell joined: the inverse of the above."""
        args = dict(args)
        for stem in (f"{self._prefix}i2h", f"{self._prefix}h2h") if self.gates else ():
            for kind in ("weight", "bias"):
                parts = [f"{stem}{gate}_{kind}" for gate in self.gates]
                if self.gates != ("",) and parts[0] in args:
                    args[f"{stem}_{kind}"] = nd.concat(*[args.pop(p) for p in parts], dim=0)
        for cell in self.cells():
            args = cell.pack_weights(args)
        return args

    def _stacked(self, args: Arrays) -> list[str]:
        names = [f"{self._prefix}{s}_{k}" for s in ("i2h", "h2h") for k in ("weight", "bias")]
        return [n for n in names if n in args] if len(self.gates) > 1 else []


class _Gated(BaseRNNCell):
    """A cell that multiplies input and state by weights of `gates` blocks of rows."""

    mode: Any = "rnn_tanh"
    states: ClassVar[int] = 1

    def __init__(
        self, num_hidden: int, prefix: str, params: Optional[RNNParams], bias: Any = None
    ) -> None:
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        starts = {"i2h_bias": {"init": bias}} if bias is not None else {}
        names = [f"{s}_{k}" for s in ("i2h", "h2h") for k in ("weight", "bias")]
        self._weights = {n: self._params.get(n, **starts.get(n, {})) for n in names}

    @property
    def state_info(self) -> list[Info]:
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}] * self.states

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        self._counter += 1
        step, width = f"{self._prefix}t{self._counter}_", self._num_hidden * len(self.gates)
        i2h, h2h = [
            sym.FullyConnected(
                x, self._weights[f"{s}_weight"], self._weights[f"{s}_bias"], num_hidden=width,
                name=step + s,
            )
            for x, s in ((inputs, "i2h"), (states[0], "h2h"))
        ]  # fmt: skip
        new = rnn_step(sym, self.mode, i2h, h2h, states, f"{step}out")
        return new[0], new


class RNNCell(_Gated):
    """h = f(W x + b + R h + c)."""

    gates = ("",)

    def __init__(
        self, num_hidden: int, activation: Any = "tanh", prefix: str = "rnn_", params: Any = None
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self.mode = activation


class LSTMCell(_Gated):
    """Hochreiter and Schmidhuber 1997, with forget gates; gates in the order i, f, c, o."""

    gates, states, mode = ("_i", "_f", "_c", "_o"), 2, "lstm"

    def __init__(
        self, num_hidden: int, prefix: str = "lstm_", params: Any = None, forget_bias: float = 1.0
    ) -> None:
        super().__init__(num_hidden, prefix, params, init.LSTMBias(forget_bias=forget_bias))


class GRUCell(_Gated):
    """Cho et al. 2014 as cuDNN has it: reset after the product; gates in the order r, z, o."""

    gates, mode = ("_r", "_z", "_o"), "gru"

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: Any = None) -> None:
        super().__init__(num_hidden, prefix, params)


def split_steps(length: int, inputs: Any, layout: str) -> list[Any]:
    """A symbol [batch, width] for each step, from a symbol of this layout or a list.

    Raises:
        ArgumentError: the layout has no time, or the list another length.
    """
    if layout not in ("NTC", "TNC"):
        raise ArgumentError(f"unroll: layout={layout!r}; it is NTC or TNC")
    if isinstance(inputs, sym.Symbol) and len(inputs) == 1:
        if length == 1:
            return [sym.reshape(inputs, shape=(0, -1) if layout == "NTC" else (-3, 0))]
        parts = sym.SliceChannel(
            inputs, axis=layout.index("T"), num_outputs=length, squeeze_axis=True
        )
        return [parts[i] for i in range(length)]
    if len(inputs) != length:
        raise ArgumentError(f"unroll: {len(inputs)} inputs for {length} steps")
    return list(inputs)


def merged(steps: Any, layout: str) -> Any:
    """A symbol of this layout, from one [batch, width] for each step."""
    axis = layout.index("T")
    return sym.concat(*[sym.expand_dims(y, axis=axis) for y in steps], dim=axis)


__all__ = ["BaseRNNCell", "GRUCell", "LSTMCell", "RNNCell", "RNNParams"]
