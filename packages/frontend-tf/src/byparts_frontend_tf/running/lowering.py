"""From operations to values of graph-ir.

A lowering is one level of a run: the run itself, or the body of a branch or loop, which reads what
is outside through inputs of its own.  Types are static: feeds have their shapes, variables theirs.
What decides a shape is asked for as a number (`number`), and what cannot be known yet raises
`Wanted`; the run then computes it first and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional, Union

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.own_gradient import own_gradient
from byparts_frontend_tf.graph.static import evaluated
from byparts_frontend_tf.running.arrays import LoopRows, Mixed, Rows, Sites
from byparts_frontend_tf.running.known import Known, Literal, Slot, leaves
from byparts_frontend_tf.running.needed import needed_inside
from byparts_frontend_tf.running.own_gradient import with_own_gradient
from byparts_frontend_tf.running.signals import Expand, OnHost
from byparts_frontend_tf.running.store import DRAWS
from byparts_frontend_tf.running.variable_values import VariableValues
from byparts_graph_ir import FLOATS, Input, Value, inherit

if TYPE_CHECKING:
    from byparts_frontend_tf.running.run import Run


class Lowering:
    """Lowering of one level of a run: of the run itself, or of a body.

    Args:
        run: what all levels share.
        outer: the level around this body, or `None`.
        reader: the operation whose body this is.

    Attributes:
        top: the level of the run itself.
        env: tensor -> what it is.
        done: operations that are lowered.
        variables: what variables are on this level.
    """

    def __init__(
        self, run: Run, outer: Optional[Lowering] = None, reader: Optional[Operation] = None
    ) -> None:
        self.run, self.outer, self.reader = run, outer, reader
        self.top: Lowering = self if outer is None else outer.top
        self.variables = VariableValues(self._start_of, run.session.written_once)
        self.env: dict[Tensor, Known] = {}
        self.done: set[Operation] = set()
        self.sites: Optional[Sites] = None  # of the loop whose body this is
        self.counters: dict[Operation, Value] = {}  # of draws: what the next one starts from
        self._drawn: dict[Operation, Value] = {}
        self._first_counters: dict[Operation, Value] = {}
        self.captured: dict[Value, Value] = {}  # input of this body -> value outside
        self.lengths: dict[tuple[Value, Any, int], Value] = {}  # of slices: start, stop, size -> it
        self._made: set[Value] = set()

    # What tensors are

    def value(self, tensor: Tensor, reader: Optional[Operation] = None) -> Value:
        """The value of a tensor, as `reader` sees it."""
        variable = tensor.variable
        if variable is not None and tensor not in self.env:
            return self.variables.read(variable, self._seen(tensor, reader))
        known = self.env.get(tensor)
        if known is None:
            return self._outside(tensor)
        if isinstance(known, Value):
            return known
        if isinstance(known, Slot):
            return self.run.inputs.of_slot(known.index)
        assert isinstance(known, Literal), f"{tensor.name} is an array, no value"
        made = self.env[tensor] = ops.constant(known.array)
        return made

    def values(self, tensors: Iterable[Tensor], reader: Optional[Operation] = None) -> list[Value]:
        """The values of tensors, as `reader` sees them."""
        return [self.value(t, reader) for t in tensors]

    def _seen(self, tensor: Tensor, reader: Optional[Operation]) -> int:
        return self.variables.visible.get(tensor.op if reader is None else reader, 0)

    def _start_of(self, variable: Any) -> Value:
        """The value of a variable before the run, or what this body reads of it outside."""
        if self.outer is None:
            return self.run.starts.start(variable, self)
        assert self.reader is not None, "this is a body"
        outside = self.outer.variables
        return self._new_input(outside.read(variable, outside.visible.get(self.reader, 0)))

    def array_of(self, tensor: Tensor) -> Any:
        """Rows of a TensorArray (`arrays.py`), or `None` if the tensor is none."""
        known = self.env.get(tensor)
        if isinstance(known, (Rows, LoopRows)):
            return known
        if known is not None or self.outer is None or tensor.variable is not None:
            return None
        outside = self.outer.array_of(tensor)
        if outside is None:
            return None
        if not isinstance(outside, Rows):
            raise Mixed
        made: Any
        if self.sites is not None:
            made = LoopRows(self.sites, outside, None)
        else:
            made = Rows(outside.dtype, outside.size, False, self.capture(outside.stacked()))
        self.env[tensor] = made
        return made

    def _outside(self, tensor: Tensor) -> Value:
        """A tensor of an outer level, as an input of this body; whole numbers are made again."""
        assert self.outer is not None, f"{tensor.name} is read before it is made"
        if not tensor.dtype.own:
            raise OnHost(tensor.op, f"{tensor.name} is {tensor.dtype.name}")
        return self.capture(self.outer.value(tensor, self.reader), tensor)

    def capture(self, outside: Value, tensor: Optional[Tensor] = None) -> Value:
        """A value of the outer level, as one of this body."""
        constant = self._constant(outside)
        made = ops.constant(constant) if constant is not None else self._new_input(outside)
        if tensor is not None:
            self.env[tensor] = made
        return made

    def _constant(self, outside: Value) -> Optional[Any]:
        """The number that a small value outside is, where that is known already."""
        if outside.type.size > 64 or outside.type.dtype in FLOATS:  # these carry gradients
            return None
        known = self.run.numbers.known.get(outside)
        if known is None and not any(True for _ in leaves(outside)):
            (known,) = evaluated((outside,))
        return known

    def _new_input(self, outside: Value) -> Value:
        for inside, known in self.captured.items():
            if known is outside:
                return inside
        inside = Input(outside.type, None, "", "")
        self.captured[inside] = outside
        return inside

    # Numbers that decide shapes

    def number(self, given: Union[Tensor, Value], reader: Optional[Operation] = None) -> Any:
        """The array that a tensor or value is.

        Raises:
            Wanted: it has to be computed first.
            OnHost: it changes from round to round of the loop whose body this is.
        """
        if isinstance(given, Tensor):
            known = self.env.get(given)
            if isinstance(known, Literal):
                return known.array
            given = self.value(given, reader)
        if self.outer is None:
            return self.run.numbers.number(given)
        array = self.run.numbers.known.get(given)
        if array is None:
            known_leaves = {v: self._number_outside(v) for v in leaves(given)}
            (array,) = evaluated((given,), known_leaves)
            self.run.numbers.known[given] = array
        return array

    def _number_outside(self, leaf: Value) -> Any:
        outside = self.captured.get(leaf)
        assert self.outer is not None and self.reader is not None, "this is a body"
        if outside is None:
            raise OnHost(self.reader, "a shape depends on what changes from round to round")
        return self.outer.number(outside)

    def is_constant(self, value: Value) -> bool:
        """Whether a value is a known number on this path."""
        if value in self.run.numbers.known:
            return True
        if self.outer is None:
            return not any(True for _ in leaves(value))
        return all(
            v in self.captured and self.outer.is_constant(self.captured[v]) for v in leaves(value)
        )

    def on_host_array(self, tensor: Tensor) -> bool:
        """Whether a TensorArray is a list on the host."""
        return self.outer is None and isinstance(self.env.get(tensor), Slot)

    def decided(self, value: Value) -> bool:
        """Whether a condition is known before anything runs: by constants and feeds."""
        if self.outer is None:
            return self.run.numbers.decided(value)
        if value in self.run.numbers.known:
            return True
        return all(
            v in self.captured and self.outer.decided(self.captured[v]) for v in leaves(value)
        )

    def test(self, value: Value) -> bool:
        """Whether a condition holds.

        Raises:
            Wanted: it has to be computed first.
        """
        if self.outer is None:
            return bool(self.run.numbers.number(value, of_leaves=False))
        return bool(self.number(value))

    def stands_for(self, x: Tensor, reader: Operation) -> list[Value]:
        """The values that a gradient with respect to x is one to: of a variable all its reads."""
        if x.variable is None or x in self.env:
            return [self.value(x, reader)]
        return self.variables.reads.get(x.variable) or [self.variables.start(x.variable)]

    # Random numbers

    def stream(self, op: Operation) -> tuple[Value, Value]:
        """The key and the counter of a draw; when `op` is lowered, its next draw is behind it."""
        counter = self.counter(op)
        self._drawn[op] = counter + DRAWS
        return ops.fill(op.attributes["key"], "i64"), counter

    def counter(self, op: Operation) -> Value:
        """The counter that tells the next draw of an operation from its others."""
        found = self.counters.get(op)
        return self.first_counter(op) if found is None else found

    def first_counter(self, op: Operation) -> Value:
        """The counter of an operation's draws at the start of the run, or of this body."""
        first = self._first_counters.get(op)
        if first is None:
            outer = self.outer
            counter = self.run.starts.counter(op) if outer is None else outer.counter(op)
            first = counter if outer is None else self._new_input(counter)
            self._first_counters[op] = first
        return first

    # Operations

    def lower(self, op: Operation) -> None:
        """Make the values of an operation.

        Raises:
            Wanted: a number has to be computed first.
        """
        self.variables.order(op)
        kind = op.kind
        with inherit(op.where):
            made = kind.special(self, op) if kind.special is not None else self._meant(op)
            if op.gradient_type is not None and made is not None:
                made = self._with_own_gradient(op, made)
            if made is not None:
                self.set(op, made)
        self.done.add(op)
        if op in self._drawn:
            self.counters[op] = self._drawn.pop(op)

    def lower_now(self, given: Iterable[Operation], tried: list[Operation]) -> None:
        """Lower operations, and those of the branches that they stand for; `tried` gets them all.

        Raises:
            Wanted: a number has to be computed first.
        """
        for op in given:
            tried.append(op)
            try:
                self.lower(op)
            except Expand as more:
                self.lower_now(needed_inside(more.targets, self.known, more.body), tried)
                more.ready()

    def _meant(self, op: Operation) -> Any:
        kind = op.kind
        if kind.meaning is not None:
            return kind.meaning(*self._arguments(op), **op.attributes)
        if kind.inside is None or op.body is None or not all(t.dtype.own for t in op.outputs):
            raise OnHost(op, "it runs on the host")
        try:
            return kind.inside(*self._arguments(op), **op.attributes)
        except NotImplementedError as error:
            raise OnHost(op, str(error)) from None

    def _with_own_gradient(self, op: Operation, made: Any) -> Any:
        function = own_gradient(op)
        if function is None:
            return made
        results = [made] if isinstance(made, Value) else list(made)
        return with_own_gradient(self, op, op.inputs, results, function)

    def afterwards(
        self, op: Operation, function: Callable[..., Any], inputs: Sequence[Tensor | Value]
    ) -> None:
        """Call a function of arrays when the last program has run: an effect on the world.

        Raises:
            OnHost: this is a body, which runs several times or not at all.
        """
        if self.outer is not None:
            raise OnHost(op, "its effect is on the world")
        self.run.host.afterwards(self, op, function, inputs)

    def call(
        self,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
        dtypes: Sequence[Any],
    ) -> None:
        """Compute the outputs of `op` on the host, by a function of arrays; see `Host.call`."""
        self.run.host.call(self.top, op, function, inputs, dtypes)

    def call_on_array(self, op: Operation, function: Callable[..., Any]) -> None:
        """Compute an operation on a TensorArray that is a list on the host."""
        self.call(op, partial(function, **op.attributes), op.inputs, [None])

    def _arguments(self, op: Operation) -> list[Any]:
        numbers = op.kind.numbers(len(op.inputs))
        if not numbers:
            return [self.value(t, op) for t in op.inputs]
        return [
            self.number(t, op) if i in numbers else self.value(t, op)
            for i, t in enumerate(op.inputs)
        ]

    @property
    def known(self) -> Lowered:
        """Container of what need not be lowered: what is done, or has a value."""
        return Lowered(self)

    def alias(self, inside: Tensor, outside: Tensor, reader: Operation) -> None:
        """`outside` is what `inside` is, a result of the branch that is taken."""
        if outside in self.env:
            return
        known = self.env.get(inside)
        if known is None or isinstance(known, Value):
            value = self.value(inside, reader)
            known = ops.identity(value)
            self._made.add(known)
        self.env[outside] = known

    def finished(self, op: Operation, targets: Sequence[Any]) -> None:
        """An operation stands for its branch, whose writes are its own."""
        before = [t if isinstance(t, Operation) else t.op for t in targets]
        self.variables.see(op, before, self.variables.visible.get(op, 0))
        self.done.add(op)

    def set_one(self, tensor: Tensor, value: Value) -> None:
        """An output is this value; a fed one stays as it is."""
        if tensor in self.env:
            return
        if value in self._made or value.node is None:
            value = ops.identity(value)  # two tensors are two values, for gradients
        self._made.add(value)
        self.env[tensor] = value

    def set(self, op: Operation, made: Any) -> None:
        """The outputs of an operation are these values; fed ones stay as they are."""
        outputs = made if isinstance(made, (tuple, list)) else (made,)
        for tensor, value in zip(op.outputs, outputs, strict=True):
            if tensor.variable is not None:
                continue  # memory of a variable is read where it is used: `value`
            if isinstance(value, Value):
                self.set_one(tensor, value)
            elif value is not None and tensor not in self.env:
                self.env[tensor] = value


class Lowered:
    """Container of the tensors and operations that a lowering need not lower again."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def __contains__(self, given: Any) -> bool:
        return given in self._lowering.env or given in self._lowering.done
