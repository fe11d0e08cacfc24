"""Cells around cells: dropout, residuals, projections, embeddings."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.initializers import Constant, Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.unary import sigmoid
from byparts_frontend_tf.api.nn.activations import xw_plus_b
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import assert_same_structure, flatten, map_structure
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.rnn.cells import RNNCell


class _Wrapper(RNNCell):
    """A cell that has another one, whose sizes and variables are its own."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self._cell = cell

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *more: Any, **kwargs: Any
    ) -> Any:
        """The output, and the state after this input."""
        return self.wrapped(inputs, state, scope)

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The output and state of the cell inside, changed."""
        raise NotImplementedError

    def inner(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The output and state of the cell inside."""
        if scope is None:
            return self._cell(inputs, state)
        return self._cell(inputs, state, scope=scope)

    @property
    def state_size(self) -> Any:
        """The size of the state of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the output of the cell inside."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        return self._cell.zero_state(batch_size, dtype)


@symbol("nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper")
class DropoutWrapper(_Wrapper):
    """Dropout of inputs, states and outputs (Zaremba et al. 2015).

    Args:
        cell: the cell inside.
        input_keep_prob, output_keep_prob, state_keep_prob: how much is kept: 1 for all.
        variational_recurrent: one mask for all steps (Gal and Ghahramani 2016).
        input_size: of the inputs, for their mask.
        dtype: of the masks.
        seed: of the draws.
        dropout_state_filter_visitor: says which part of a state is dropped; all but c of an LSTM.

    Raises:
        ValueError: a probability is outside of 0 to 1; a mask lacks size or dtype.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: Any = None,
        dropout_state_filter_visitor: Any = None,
    ) -> None:
        super().__init__(cell)
        kept = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        for what, p in kept.items():
            if isinstance(p, (int, float)) and not 0.0 <= p <= 1.0:
                raise ValueError(f"Parameter {what}_keep_prob must be between 0 and 1: {p}")
        self._kept, self._seed, self._visitor = kept, seed, dropout_state_filter_visitor
        self._masks: Optional[dict[str, Any]] = None
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            self._masks = self._make_masks(cell, input_size, dtype)

    def _make_masks(self, cell: Any, input_size: Any, dtype: Any) -> dict[str, Any]:
        def mask(size: Any) -> Tensor:
            dims = size.as_list() if hasattr(size, "as_list") else [int(size)]
            return random_uniform([1, *dims], dtype=dtype, seed=self._seed)

        masks: dict[str, Any] = {}
        for what, sizes in (
            ("input", input_size),
            ("state", cell.state_size),
            ("output", cell.output_size),
        ):
            if self._drops(what):
                if sizes is None:
                    raise ValueError(
                        "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                        "input_size must be provided"
                    )
                masks[what] = map_structure(mask, sizes)
        return masks

    def _drops(self, what: str) -> bool:
        p = self._kept[what]
        return not (isinstance(p, (int, float)) and p >= 1.0)

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """Inputs are dropped before, states and outputs after the cell."""
        if self._drops("input"):
            inputs = self._dropped("input", inputs)
        output, new = self.inner(inputs, state, scope)
        if self._drops("state"):
            new = self._dropped_state(new)
        return (self._dropped("output", output) if self._drops("output") else output), new

    def _dropped(self, what: str, values: Any) -> Any:
        import byparts_frontend_tf as tf

        keep = self._kept[what]
        if self._masks is None:
            return map_structure(lambda t: tf.nn.dropout(t, keep, seed=self._seed), values)

        def masked(t: Any, uniform: Any) -> Any:
            return t / keep * tf.floor(keep + uniform)

        return map_structure(masked, values, self._masks[what])

    def _dropped_state(self, state: Any) -> Any:
        visit = self._visitor or (lambda part: not hasattr(part, "c"))
        return self._visited(state, visit)

    def _visited(self, part: Any, visit: Any) -> Any:
        chosen = visit(part)
        if hasattr(part, "c") and hasattr(part, "h"):
            h = self._dropped("state", part.h) if self._visitor is None else part.h
            return type(part)(part.c, h)
        if isinstance(part, (list, tuple)):
            return type(part)([self._visited(p, visit) for p in part])
        return self._dropped("state", part) if chosen else part


@symbol("nn.rnn_cell.ResidualWrapper", "contrib.rnn.ResidualWrapper")
class ResidualWrapper(_Wrapper):
    """The output is the sum of the cell's input and output, or `residual_fn` of both."""

    def __init__(self, cell: Any, residual_fn: Any = None) -> None:
        super().__init__(cell)
        self._residual_fn = residual_fn

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """Input and output are added."""
        output, new = self.inner(inputs, state, scope)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, output), new
        assert_same_structure(inputs, output)
        return map_structure(lambda x, y: x + y, inputs, output), new


@symbol("contrib.rnn.HighwayWrapper")
class HighwayWrapper(_Wrapper):
    """The output is a mixture of the cell's output and the input (Srivastava et al. 2015).

    Args:
        cell: the cell inside.
        couple_carry_transform_gates: whether the two shares sum to 1.
        carry_bias_init: the first bias of the input's share.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        super().__init__(cell)
        self._coupled, self._carry_bias_init = couple_carry_transform_gates, carry_bias_init

    def _share(self, x: Any, what: str, bias: float) -> Any:
        size = x.get_shape().with_rank(2)[1].value
        weights = get_variable(f"{what}_w", [size, size])
        return sigmoid(
            xw_plus_b(x, weights, get_variable(f"{what}_b", [size], initializer=Constant(bias)))
        )

    def _mixed(self, x: Any, output: Any) -> Any:
        carry = self._share(x, "carry", self._carry_bias_init)
        if self._coupled:
            return x * carry + output * (1 - carry)
        return x * carry + output * self._share(x, "transform", -self._carry_bias_init)

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The output is mixed with the input."""
        outputs, new = self.inner(inputs, state, scope)
        assert_same_structure(inputs, outputs)
        return map_structure(self._mixed, inputs, outputs), new


@symbol("nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper")
class DeviceWrapper(_Wrapper):
    """A cell on a device; devices are accepted."""

    def __init__(self, cell: Any, device: Any) -> None:
        super().__init__(cell)
        self._device = device

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """Call the cell inside."""
        return self.inner(inputs, state, scope)


class _Scoped(_Wrapper):
    """A wrapper with variables of its own."""

    def __init__(self, cell: Any, name: str, reuse: Any) -> None:
        super().__init__(cell)
        self._wrapper_name, self._wrapper_reuse = name, reuse
        self._entered: Any = None

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *more: Any, **kwargs: Any
    ) -> Any:
        """The output, and the state after this input."""
        if self._entered is None:
            made = variable_scope(scope, self._wrapper_name, reuse=self._wrapper_reuse)
        else:
            made = variable_scope(self._entered, reuse=True)
        with made as entered:
            self._entered = entered
            return self.wrapped(inputs, state, None)

    def linear(self, x: Any, size: int) -> Tensor:
        """x W + b."""
        depth = convert_to_tensor(x).get_shape().as_list()[-1]
        kernel = get_variable("kernel", [depth, size])
        product: Tensor = matmul(x, kernel) + get_variable("bias", [size], initializer=Zeros())
        return product


@symbol("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(_Scoped):
    """The output is a linear function of the cell's output, and an activation of it."""

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, "output_projection_wrapper", reuse)
        self._size, self._activation = output_size, activations.get(activation)

    @property
    def output_size(self) -> Any:
        """The size of the projection."""
        return self._size

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The output is projected."""
        output, new = self.inner(inputs, state, scope)
        projected = self.linear(output, self._size)
        return self._activation(projected), new


@symbol("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(_Scoped):
    """The cell's input is a linear function of the input, and an activation of it."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, "input_projection_wrapper", reuse)
        self._size, self._activation = num_proj, activations.get(activation)

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The input is projected."""
        projected = self.linear(inputs, self._size)
        return self.inner(self._activation(projected), state, scope)


@symbol("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(_Scoped):
    """The cell's input is the row of a table that the input, an index, names."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, "embedding_wrapper", reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, "
                f"{embedding_size}."
            )
        self._classes, self._size, self._initializer = (
            embedding_classes,
            embedding_size,
            initializer,
        )

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """The input is looked up."""
        import byparts_frontend_tf as tf

        initializer = self._initializer
        if initializer is None:
            initializer = tf.random_uniform_initializer(-(3**0.5), 3**0.5)
        dtype = flatten(state)[0].dtype.base_dtype
        table = get_variable(
            "embedding", [self._classes, self._size], dtype, initializer=initializer
        )
        rows = tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1]))
        rows.set_shape([convert_to_tensor(flatten(state)[0]).shape[0], self._size])
        return self.inner(rows, state, scope)
