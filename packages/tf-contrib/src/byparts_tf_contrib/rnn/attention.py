"""`tf.contrib.seq2seq`: the cell that attends, and rows of a batch several times."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.reshape import expand_dims, reshape, squeeze
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.tile import tile
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import map_structure
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.attention_memory import INSIDE
from byparts_tf_files.dtypes import as_dtype, int32
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras.layers.layers import Dense
from byparts_tf_keras.rnn.cells import RNNCell


class AttentionWrapperState(NamedTuple):
    """The state of an `AttentionWrapper`.

    `alignments`, `alignment_history` and `attention_state` are tuples where there are several
    mechanisms.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **changes: Any) -> AttentionWrapperState:
        """With other parts, of the same shapes."""
        return self._replace(**changes)


AttentionWrapperState = symbol("contrib.seq2seq.AttentionWrapperState")(AttentionWrapperState)  # type: ignore[misc]  # the same class


@symbol("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell that attends after each step, and reads what it attended to in the next.

    Args:
        cell: the cell inside.
        attention_mechanism: one, or a list of them.
        attention_layer_size: units of a layer of the cell's output and what was read, or `None`.
        alignment_history: whether the state keeps all shares, in a TensorArray.
        cell_input_fn: of inputs and attention gives the input of the cell; by default joined.
        output_attention: whether the output is the attention, or that of the cell.
        initial_cell_state: of the cell, in `zero_state`.
        name: of its scope.
        attention_layer: in place of the layer of `attention_layer_size`.
        attention_fn: of mechanism, cell output, attention state and layer gives attention,
            alignments and attention state.
        dtype: of the variables.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Any = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: Optional[str] = None,
        attention_layer: Any = None,
        attention_fn: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else [attention_mechanism]
        self._attention_mechanisms = tuple(mechanisms)
        self._cell, self._alignment_history = cell, alignment_history
        self._cell_input_fn = cell_input_fn or (lambda x, read: concat([x, read], -1))
        self._output_attention = output_attention
        self._initial_cell_state = initial_cell_state
        self._attention_fn = attention_fn or compute_attention
        self._attention_layers = self._make_layers(attention_layer_size, attention_layer, dtype)
        sizes = [
            layer.units if layer is not None and hasattr(layer, "units") else _depth(m)
            for layer, m in zip(self._attention_layers, mechanisms, strict=True)
        ]
        self._attention_layer_size = sum(sizes)

    def _make_layers(self, sizes: Any, layers: Any, dtype: Any) -> list[Any]:
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        count = len(self._attention_mechanisms)
        if layers is not None:
            dense = list(layers) if isinstance(layers, (list, tuple)) else [layers]
        elif sizes is not None:
            units = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
            dense = [Dense(n, name="attention_layer", use_bias=False, dtype=dtype) for n in units]
        else:
            dense = [None] * count
        if len(dense) != count:
            raise ValueError(
                f"If provided, attention_layer_size must contain exactly one integer per "
                f"attention_mechanism, saw: {len(dense)} vs {count}"
            )
        return dense

    def _item_or_tuple(self, parts: Any) -> Any:
        return tuple(parts) if self._is_multi else next(iter(parts))

    def _parts(self, state: Any) -> list[Any]:
        return list(state) if self._is_multi else [state]

    @property
    def output_size(self) -> Any:
        """The size of the attention, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        """The sizes of its state."""
        lengths = [m.alignments_size for m in self._attention_mechanisms]
        known = [TensorShape([n if isinstance(n, int) else None]) for n in lengths]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=TensorShape([]),
            alignments=self._item_or_tuple(known),
            alignment_history=self._item_or_tuple([()] * len(known)),
            attention_state=self._item_or_tuple(known),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros, or the first state of the cell that was given."""
        with name_scope("AttentionWrapperZeroState"):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            histories = [
                TensorArray(as_dtype(dtype), 0, dynamic_size=True)
                if self._alignment_history
                else ()
                for _ in self._attention_mechanisms
            ]
            return AttentionWrapperState(
                cell_state=cell_state,
                attention=zeros([batch_size, self._attention_layer_size], dtype),
                time=zeros([], int32),
                alignments=self._item_or_tuple(
                    [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
                ),
                alignment_history=self._item_or_tuple(histories),
                attention_state=self._item_or_tuple(
                    [m.initial_state(batch_size, dtype) for m in self._attention_mechanisms]
                ),
            )

    def call(self, inputs: Any, state: Any) -> Any:
        """The attention, or the output of the cell, and the state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received {type(state)}"
            )
        output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state
        )
        reads, alignments, states, histories = [], [], [], []
        rows = zip(
            self._attention_mechanisms,
            self._attention_layers,
            self._parts(state.attention_state),
            self._parts(state.alignment_history),
            strict=True,
        )
        for mechanism, layer, before, history in rows:
            read, shares, after = self._attention_fn(mechanism, output, before, layer)
            reads.append(read)
            alignments.append(shares)
            states.append(after)
            histories.append(history.write(state.time, shares) if self._alignment_history else ())
        attention = reads[0] if len(reads) == 1 else concat(reads, 1)
        new = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
            attention_state=self._item_or_tuple(states),
        )
        return (attention if self._output_attention else output), new


def _depth(mechanism: Any) -> int:
    depth = mechanism.values.get_shape()[-1].value
    assert depth is not None, "the depth of a memory is known"
    return int(depth)


@symbol(f"{INSIDE}._compute_attention")
def compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """The context that is read, the shares, and the state of the mechanism."""
    shares, after = attention_mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(shares, 1), attention_mechanism.values), [1])
    if attention_layer is None:
        return context, shares, after
    return attention_layer(concat([cell_output, context], 1)), shares, after


@symbol("contrib.seq2seq.tile_batch")
def tile_batch(t: Any, multiplier: int, name: Optional[str] = None) -> Any:
    """Each row of the batch `multiplier` times, one after the other; in any structure."""

    def tiled(tensor: Any) -> Any:
        x = convert_to_tensor(tensor)
        rest = x.get_shape()[1:]
        wide = tile(expand_dims(x, 1), [1, multiplier] + [1] * rest.ndims)
        repeated = reshape(wide, concat([[-1], shape(x)[1:]], 0))
        rows = x.get_shape()[0].value
        repeated.set_shape([None if rows is None else rows * multiplier, *rest.as_list()])
        return repeated

    with name_scope(name, "tile_batch"):
        return map_structure(tiled, t)
