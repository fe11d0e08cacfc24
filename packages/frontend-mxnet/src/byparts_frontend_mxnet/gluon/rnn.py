"""`gluon.rnn`: recurrent cells, one step at a time, and layers over whole sequences."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.gluon.block import Block, HybridBlock
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.ops.sequence import GATES, rnn_step

_INITS = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")


def _api(x: Any) -> Any:
    """The namespace of ops for arrays, or for symbols."""
    if isinstance(x, NDArray):
        return nd
    from byparts_frontend_mxnet import symbol  # which not every program needs

    return symbol


class RecurrentCell(HybridBlock):
    """A step: subclass with `hybrid_forward(F, x, states, ...)` -> (output, states)."""

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        raise NotImplementedError(f"{type(self).__name__} lacks state_info")

    def reset(self) -> None:
        for cell in self._children:
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def begin_state(self, batch_size: int = 0, func: Any = nd.zeros, **kwargs: Any) -> list[Any]:
        return [func(shape=s["shape"], **kwargs) for s in self.state_info(batch_size)]

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """The outputs of `length` steps, a list or one array, and the last states."""
        self.reset()
        axis, is_list = layout.find("T"), isinstance(inputs, (list, tuple))
        F = _api(inputs[0] if is_list else inputs)  # noqa: N806  # MXNet's name
        steps = list(inputs) if is_list else _steps(F, inputs, length, axis)
        if begin_state is None:
            begin_state = self.begin_state(steps[0].shape[layout.replace("T", "").find("N")])
        outputs, states = self._unrolled(F, steps[:length], begin_state, layout)
        if merge_outputs or (merge_outputs is None and not is_list):
            return F.stack(*outputs, axis=axis), states
        return outputs, states

    def _unrolled(self, F: Any, steps: list[Any], states: Any, layout: str) -> Any:
        """The outputs, a list, and the states after them."""
        outputs = []
        for x in steps:
            y, states = self(x, states)
            outputs.append(y)
        return outputs, states

    def forward(self, x: Any, states: Any) -> Any:
        return super().forward(x, states)


HybridRecurrentCell = RecurrentCell


def _steps(F: Any, x: Any, length: int, axis: int) -> list[Any]:
    parts = F.split(x, num_outputs=length, axis=axis, squeeze_axis=True)
    return list(parts) if length > 1 else [parts]


def _initializers(keywords: dict[str, Any]) -> dict[str, Any]:
    """The initializers of the four parameters, taken out of keywords."""
    defaults = {n: "zeros" if n.endswith("bias") else None for n in _INITS}
    return {n: keywords.pop(f"{n}_initializer", d) for n, d in defaults.items()}


def _weights(block: HybridBlock, prefix: str, rows: int, width: int, inits: Any) -> list[Any]:
    """Give a block of `_hidden_size` the four parameters of a cell whose inputs have this width."""
    shapes = ((rows, width), (rows, block._hidden_size), (rows,), (rows,))  # type: ignore[attr-defined]
    for name, shape in zip(_INITS, shapes, strict=True):
        how = {"shape": shape, "init": inits[name], "allow_deferred_init": True}
        setattr(block, prefix + name, block.params.get(prefix + name, **how))
    return [getattr(block, prefix + name) for name in _INITS]


class _Cell(RecurrentCell):
    """A cell of two products: of the input and of the hidden state."""

    mode, states = "rnn_tanh", 1

    def __init__(self, hidden_size: int, *, input_size: int = 0, **kwargs: Any) -> None:
        inits = _initializers(kwargs)
        super().__init__(**kwargs)
        self._hidden_size, self._rows = hidden_size, GATES.get(self.mode, 1) * hidden_size
        _weights(self, "", self._rows, input_size, inits)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        shape = (batch_size, self._hidden_size)
        return [{"shape": shape, "__layout__": "NC"}] * self.states

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **p: Any) -> Any:
        (states,), how = args, {"num_hidden": self._rows}
        of_x = F.FullyConnected(x, p["i2h_weight"], p["i2h_bias"], **how)
        of_h = F.FullyConnected(states[0], p["h2h_weight"], p["h2h_bias"], **how)
        new = rnn_step(F, self.mode, of_x, of_h, states)
        return new[0], new


class RNNCell(_Cell):
    """h' = activation(of_x + of_h)."""

    def __init__(self, hidden_size: int, activation: str = "tanh", **kwargs: Any) -> None:
        self.mode = f"rnn_{activation}"
        super().__init__(hidden_size, **kwargs)


class LSTMCell(_Cell):
    """Long short-term memory; gates: in, forget, new, out."""

    mode, states = "lstm", 2


class GRUCell(_Cell):
    """Gated recurrent unit; gates: reset, update, new."""

    mode = "gru"


class SequentialRNNCell(RecurrentCell):
    """Cells one above the other."""

    def add(self, cell: RecurrentCell) -> None:
        self.register_child(cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [s for cell in self._children for s in cell.state_info(batch_size)]  # type: ignore[attr-defined]

    def forward(self, x: Any, states: Any) -> Any:
        news, at = [], 0
        for cell in self._children:
            count = len(cell.state_info())  # type: ignore[attr-defined]  # a cell
            x, new = cell(x, states[at : at + count])
            at += count
            news += new
        return x, news

    def __len__(self) -> int:
        return len(self._children)

    def __getitem__(self, i: int) -> Block:
        return self._children[i]


class DropoutCell(RecurrentCell):
    """Dropout of what a cell below gives."""

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate = rate

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return []

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **p: Any) -> Any:
        return F.Dropout(x, p=self._rate), args[0]


class ResidualCell(RecurrentCell):
    """The output of a cell plus its input."""

    def __init__(self, base_cell: RecurrentCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.base_cell = base_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self.base_cell.state_info(batch_size)

    def forward(self, x: Any, states: Any) -> Any:
        y, states = self.base_cell(x, states)
        return y + x, states


class BidirectionalCell(RecurrentCell):
    """A cell forwards and one backwards, their outputs side by side; `unroll` alone."""

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.l_cell, self.r_cell = l_cell, r_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self.l_cell.state_info(batch_size) + self.r_cell.state_info(batch_size)

    def forward(self, x: Any, states: Any) -> Any:
        raise MXNetError("BidirectionalCell: it needs the whole sequence; call unroll")

    def _unrolled(self, F: Any, steps: list[Any], states: Any, layout: str) -> Any:
        how: dict[str, Any] = {"layout": layout, "merge_outputs": False}
        count = len(self.l_cell.state_info())
        forth, a = self.l_cell.unroll(len(steps), steps, states[:count], **how)
        back, b = self.r_cell.unroll(len(steps), steps[::-1], states[count:], **how)
        return [F.concat(x, y, dim=1) for x, y in zip(forth, back[::-1], strict=True)], a + b


class _Layer(HybridBlock):
    """Recurrent layers by the op RNN."""

    mode = "lstm"

    def __init__(
        self, hidden_size: int, num_layers: int = 1, layout: str = "TNC", dropout: float = 0,
        bidirectional: bool = False, input_size: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        inits = _initializers(kwargs)
        super().__init__(**kwargs)
        self._hidden_size, self._num_layers, self._layout = hidden_size, num_layers, layout
        self._dropout, self._ways = dropout, 2 if bidirectional else 1
        widths = [input_size] + [hidden_size * self._ways] * (num_layers - 1)
        self._rows = [
            _weights(self, f"{way}{layer}_", GATES[self.mode] * hidden_size, width, inits)
            for layer, width in enumerate(widths)
            for way in "lr"[: self._ways]
        ]

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        shape = (self._num_layers * self._ways, batch_size, self._hidden_size)
        return [{"shape": shape, "__layout__": "LNC"}] * (2 if self.mode == "lstm" else 1)

    begin_state: Any = RecurrentCell.begin_state

    def forward(self, x: Any, states: Any = None) -> Any:
        x = x if self._layout == "TNC" else x.swapaxes(0, 1)
        width = x.shape[2]
        for row in self._rows[: self._ways]:
            if row[0]._deferred is not None:
                row[0].find_shape((row[0].shape[0], width), "RNN")
        given = states
        states = self.begin_state(x.shape[1], ctx=x.context) if states is None else states
        states = [states] if isinstance(states, NDArray) else list(states)
        blocks = [p for row in self._rows for p in row[:2]] + [p for r in self._rows for p in r[2:]]
        vector = nd.concat(*[p.data(x.context).reshape((-1,)) for p in blocks], dim=0)
        y, *last = nd.RNN(
            x, vector, *states, state_size=self._hidden_size, num_layers=self._num_layers,
            mode=self.mode, bidirectional=self._ways == 2, p=self._dropout, state_outputs=True,
        )  # fmt: skip
        y = y if self._layout == "TNC" else y.swapaxes(0, 1)
        return y if given is None else (y, last)

    def _line(self) -> str:
        return f"{type(self).__name__}({self._hidden_size}, {self._layout})"


class LSTM(_Layer):
    """Long short-term memory."""


class GRU(_Layer):
    """Gated recurrent units."""

    mode = "gru"


class RNN(_Layer):
    """h' = activation(of_x + of_h), activation relu or tanh."""

    def __init__(
        self, hidden_size: int, num_layers: int = 1, activation: str = "relu", *args: Any,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self.mode = f"rnn_{activation}"
        super().__init__(hidden_size, num_layers, *args, **kwargs)
