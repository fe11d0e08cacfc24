"""Cells of recurrent networks: `tf.nn.rnn_cell`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat, split
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.initializers import Constant, Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.unary import sigmoid, tanh
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.variables.variable_scope import get_variable_scope, variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, is_nested, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras import activations
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layers.layer import Layer


@symbol("nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell")
class RNNCell(Layer):
    """A base class: `call(inputs, state)` gives an output and a new state.

    A subclass says `state_size` and `output_size`: a number, a shape, or a structure of them.
    """

    def __init__(
        self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable, name, dtype, **kwargs)
        self._own_scope: Any = None

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *more: Any, **kwargs: Any
    ) -> Any:
        """The output, and the state after this input."""
        if scope is None:
            if self._own_scope is None:
                self._own_scope = get_variable_scope()
            with variable_scope(self._own_scope, auxiliary_name_scope=False):
                return super().__call__(inputs, state, *more, **kwargs)
        with variable_scope(scope) as entered:
            return super().__call__(inputs, state, *more, scope=entered, **kwargs)

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of an output."""
        raise NotImplementedError("Abstract method")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            return zero_state(self.state_size, batch_size, dtype)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """A state of zeros for these inputs."""
        if inputs is not None:
            tensor = convert_to_tensor(inputs)
            batch_size, dtype = batch_of(tensor), tensor.dtype
        return self.zero_state(batch_size, dtype)


@symbol("contrib.rnn.LayerRNNCell", "python.ops.rnn_cell_impl.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """A base class of cells whose variables are in a scope of their own, as those of a layer."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *more: Any, **kwargs: Any
    ) -> Any:
        """The output, and the state after this input."""
        return Layer.__call__(self, inputs, state, *more, scope=scope, **kwargs)


def batch_of(t: Tensor, axis: int = 0) -> Any:
    """The size of an axis: a number where it is known, else a tensor."""
    if t.dims is not None and t.dims[axis] is not None:
        return t.dims[axis]
    return shape(t)[axis]


def zero_state(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros of [batch_size, size], in the structure of sizes."""
    leaves = flatten(size)
    kinds = flatten(dtype) if is_nested(dtype) else [dtype] * len(leaves)
    made = [
        zeros([batch_size, *_dims(s)], dtype=kind) for s, kind in zip(leaves, kinds, strict=True)
    ]
    return pack_sequence_as(size, made)


def _dims(size: Any) -> list[Any]:
    if isinstance(size, TensorShape):
        return list(size.as_list())
    return [int(size)]


def depth_of(inputs_shape: Any) -> int:
    """The last extent of the inputs.

    Raises:
        ValueError: it is not known.
    """
    shape = inputs_shape[0] if isinstance(inputs_shape, list) else inputs_shape
    last = shape.as_list()[-1] if shape.ndims else None
    if last is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return int(last)


@symbol("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(LayerRNNCell):
    """h' = activation([x, h] W + b)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._activation = num_units, activations.get(activation or tanh)

    @property
    def state_size(self) -> Any:
        """Units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """W [inputs + units, units], b [units]."""
        rows = depth_of(inputs_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [rows, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """The new state, twice."""
        gates = matmul(concat([inputs, state], 1), self._kernel) + self._bias
        output = self._activation(gates)
        return output, output


@symbol("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(LayerRNNCell):
    """Cho et al. 2014: h' = u h + (1 - u) activation([x, r h] W + b)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activations.get(activation or tanh)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        """Units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Make the weights of the gates r and u, and of the candidate."""
        units, bias = self._num_units, self._bias_initializer
        rows = depth_of(inputs_shape) + units
        kernel = self._kernel_initializer
        ones = Constant(1.0) if bias is None else bias
        self._gate_kernel = self.add_weight("gates/kernel", [rows, 2 * units], initializer=kernel)
        self._gate_bias = self.add_weight("gates/bias", [2 * units], initializer=ones)
        self._kernel = self.add_weight("candidate/kernel", [rows, units], initializer=kernel)
        zeros_ = Zeros() if bias is None else bias
        self._bias = self.add_weight("candidate/bias", [units], initializer=zeros_)

    def call(self, inputs: Any, state: Any) -> Any:
        """The new state, twice."""
        gates = sigmoid(matmul(concat([inputs, state], 1), self._gate_kernel) + self._gate_bias)
        r, u = split(gates, 2, axis=1)
        candidate = matmul(concat([inputs, r * state], 1), self._kernel) + self._bias
        new = u * state + (1 - u) * self._activation(candidate)
        return new, new


@symbol("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Cells on top of each other.

    Raises:
        ValueError: there is none.
        TypeError: they are no list.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple
        if not state_is_tuple and any(is_nested(c.state_size) for c in cells):
            raise ValueError(
                f"Some cells return tuples of states, but the flag state_is_tuple is not set. "
                f"State sizes are: {[c.state_size for c in cells]}"
            )

    @property
    def state_size(self) -> Any:
        """The sizes of all cells; or their sum, for states side by side."""
        each = tuple([c.state_size for c in self._cells])
        return each if self._state_is_tuple else sum(each)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with name_scope(f"{type(self).__name__}ZeroState"):
            return tuple([c.zero_state(batch_size, dtype) for c in self._cells])

    def call(self, inputs: Any, state: Any) -> Any:
        """The last cell's output, and all states."""
        if self._state_is_tuple:
            if not is_nested(state):
                raise ValueError(
                    f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                    f"{state}"
                )
            states = list(state)
        else:
            states = split(state, [c.state_size for c in self._cells], axis=1)
        news = []
        for i, (cell, old) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, new = cell(inputs, old)
                news.append(new)
        return inputs, tuple(news) if self._state_is_tuple else concat(news, 1)
