"""Functions of arrays while they are traced: values without numbers, and what they met on the way.

A frame is one function being traced: a whole compiled function, or the body of a loop or branch
inside one.  It notes the cells that are read and assigned, the arrays from outside, and the things
(modules) whose plain fields decided what was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from byparts_eager.array import Array
from byparts_eager.size import sizes
from byparts_eager.state import state
from byparts_graph_ir import Graph, GraphError, Input, Node, Op, TensorType, Value, add_note
from byparts_graph_ir.model.bodies import has_effect
from byparts_graph_ir.model.graph import graph_of
from byparts_graph_ir.model.value import output_types
from byparts_graph_ir.model.where import where

if TYPE_CHECKING:
    from byparts_eager.cell import Cell

_new = object.__new__


class Traced(Value):
    """A value of a function that is being traced: has the methods of an array, and no numbers."""

    __slots__ = ("frame",)
    __hash__ = object.__hash__
    frame: Frame

    @property
    def shape(self) -> Any:
        """The shape; a size that differs from call to call is a `Size`."""
        return sizes(self.type.shape)


class TracedInput(Input):
    """An argument, a cell or an array from outside of such a function."""

    __slots__ = ("frame",)
    __hash__ = object.__hash__
    frame: Frame

    shape = Traced.shape


_set_op, _set_inputs = vars(Node)["op"].__set__, vars(Node)["inputs"].__set__
_set_where, _set_outputs = vars(Node)["where"].__set__, vars(Node)["outputs"].__set__
_set_type, _set_node = vars(Value)["type"].__set__, vars(Value)["node"].__set__
_set_frame, _set_input_frame = vars(Traced)["frame"].__set__, vars(TracedInput)["frame"].__set__


class Frame:
    """A function that is being traced, as a context.

    Args:
        body: the name of a body ("while_loop: body"); `None` for a whole function.

    Attributes:
        inputs: cell -> the input that is its old value, of those that were read.
        values: cell -> its value now, of those that were read or assigned.
        captured: values from outside and the inputs that stand for them, by identity.
        things: whose plain fields were read, each with its fingerprint.
    """

    def __init__(self, body: Optional[str] = None) -> None:
        self.body, self.outer = body, state.frame
        self.inputs: dict[Cell, Value] = {}
        self.values: dict[Cell, Value] = {}
        self.captured: dict[int, tuple[Value, Value]] = {}
        self.things: dict[int, tuple[Any, Any]] = {}
        self.effects: list[Node] = []

    def input(self, type: TensorType, name: str = "") -> Value:
        """A new input of the function."""
        x = TracedInput(type, None, name)
        _set_input_frame(x, self)
        return x

    def capture(self, value: Value) -> Value:
        """The value that stands for `value` in this frame: an input, if it is from outside.

        Raises:
            GraphError: it is a value of a function whose tracing has ended, or of a graph.
        """
        frame = getattr(value, "frame", None)
        if frame is self or (value.__class__ is Value and _leaf_frames(value) <= {self}):
            return value
        known = self.captured.get(id(value))
        if known is None:
            if value.__class__ is not Array and not self._inside(frame):
                raise _leaked(value)
            known = self.captured[id(value)] = self.input(value.type, "captured"), value
        return known[0]

    def read(self, cell: Cell) -> Value:
        """The value of a cell now."""
        value = self.values.get(cell)
        if value is None:
            if self.body is not None and self.outer is not None:  # comes in from around the body
                return self.capture(self.outer.read(cell))
            value = self.values[cell] = self.inputs[cell] = self.input(cell.type, cell.name)
        return value

    def assign(self, cell: Cell, value: Value) -> None:
        """Let the cell have this value from now on.

        Raises:
            GraphError: within the body of a loop or branch, which cannot assign cells.
        """
        if self.body is not None:
            raise GraphError(
                f"{self.body} assigns cell {cell.name!r}: a body is a function of its arguments; "
                "pass the value as a state, and assign the result after the loop"
            )
        self.values[cell] = self.capture(value)

    def graph(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Graph:
        """The graph of these, of plain values, effects included; passes compare values.

        Raises:
            GraphError: it needs a value that is none of the inputs.
        """
        order = [v for n in self.effects for v in n.outputs]
        graph = Graph.of(inputs, outputs, order=order) if order else Graph.of(inputs, outputs)
        return graph_of(*graph.rows())

    def _inside(self, frame: Optional[Frame]) -> bool:
        """Whether the function is traced inside `frame`: a body, or shapes that are sought."""
        if frame is None or self.outer is None:
            return False
        return self.outer is frame or self.outer._inside(frame)

    def __enter__(self) -> Frame:
        state.frame = self
        return self

    def __exit__(self, *raised: object) -> None:
        state.frame = self.outer


def add_node(op: Op, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """The outputs of a new node of the function that is being traced.

    Raises:
        GraphError: the inputs do not fit, with the line of the user.
    """
    frame, line = state.frame, where()
    try:
        types = output_types(op, [x.type for x in inputs])
    except GraphError as error:
        add_note(error, f"created at {line}")
        raise
    node = _new(Node)
    _set_op(node, op)
    _set_inputs(node, inputs)
    _set_where(node, line)
    outputs = []
    for type in types:
        y = _new(Traced)
        _set_type(y, type)
        _set_node(y, node)
        _set_frame(y, frame)
        outputs.append(y)
    _set_outputs(node, tuple(outputs))
    if op.effect and has_effect(op) and frame is not None:
        frame.effects.append(node)
    return tuple(outputs)


def foreign(op: Op, value: Value) -> GraphError:
    """The error of a value without data where nothing is traced."""
    return GraphError(
        f"{op.name}: the value of type {value.type}, made at {_made(value)}, belongs to a graph or "
        "to a traced function and has no data here; return it from that function"
    )


def depends_on(thing: Any) -> None:
    """Note that the function being traced read plain fields of `thing`, if one is traced.

    A compiled function is traced again when `thing.fingerprint()` gives something else.
    """
    frame = state.frame
    while frame is not None:
        if id(thing) in frame.things:
            return
        if frame.body is None:
            frame.things[id(thing)] = thing, thing.fingerprint()
            return
        frame = frame.outer


def _leaf_frames(value: Value) -> set[Any]:
    """The frames of the values that a plain value was made of; none of a constant.

    Gradient rules of loops make plain nodes on traced values.  O(such nodes).
    """
    frames: set[Any] = set()
    todo, seen = [value], {value}
    while todo:
        v = todo.pop()
        if v.__class__ is not Value or v.node is None:
            frames.add(getattr(v, "frame", None))
            continue
        new = [x for x in v.node.inputs if x not in seen]
        seen.update(new)
        todo += new
    return frames


def _made(value: Value) -> str:
    return value.node.where if value.node is not None else getattr(value, "where", "")


def _leaked(value: Value) -> GraphError:
    return GraphError(
        f"the value of type {value.type}, made at {_made(value)}, belongs to another traced "
        "function, whose tracing has ended, or to a graph; pass numbers or arrays in as arguments"
    )


def _no_numbers(what: str) -> Callable[..., NoReturn]:
    def refuse(self: Value, *_: object, **__: object) -> NoReturn:
        raise GraphError(
            f"{what} of a traced value of type {self.type}, made at {_made(self)}: its numbers are "
            "not known while the function is traced; use where(condition, x, y), cond, while_loop "
            "or scan, or compute it outside of compile"
        )

    return refuse


_NEEDS_NUMBERS: dict[str, str] = {
    **{"__bool__": "the truth", "__int__": "the integer", "__float__": "the number"},
    **{"__index__": "the integer", "__array__": "the NumPy array", "item": "the number"},
    **{"numpy": "the NumPy array", "__complex__": "the number"},
}


def _give_methods(cls: Any) -> None:
    for name, what in _NEEDS_NUMBERS.items():
        setattr(cls, name, _no_numbers(what))


for _class in (Traced, TracedInput):
    _give_methods(_class)
