"""Values of a program and the nodes that make them.

Values and nodes compare by identity, because two random draws are two draws.  Neither is ever
edited.  Both are frozen dataclasses with slots, written out: `dataclasses` is slow to import, and a
generated __init__ of a frozen class costs twice as much, at each node.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ArgumentError, GraphError, add_note
from byparts_graph_ir.model.arithmetic import Arithmetic, Operand, arithmetic_rule
from byparts_graph_ir.model.frozen import frozen_delattr, frozen_setattr
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.where import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, ClassVar

    from byparts_graph_ir.model.op import Op

Types = tuple[TensorType, ...]


def _itself(value: Any, *_: object) -> Any:
    """A copy of what never changes, and is compared by identity."""
    return value


def _refuse_pickle(value: Any) -> Any:
    raise TypeError(
        f"{type(value).__name__} alone cannot be pickled, for it is compared by identity:"
        " pickle the Graph that it is part of"
    )


class Value(Arithmetic):
    """A tensor of a program: the output of a node, or (`node` is `None`) an input of the graph."""

    __slots__ = ("node", "type")
    __match_args__: ClassVar[tuple[str, ...]] = ("type", "node")

    type: TensorType
    node: Node | None
    # `(op, operands) -> outputs`, of a subclass that says itself what applying an op to its values
    # means: arrays that compute at once.  `None`: applying makes a node.
    apply: ClassVar[Any] = None
    # `(function, checked function, args, kwargs) -> result`, likewise, of a function of an op set.
    remembered: ClassVar[Any] = None

    def __init__(self, type: TensorType, node: Node | None = None) -> None:
        _set_type(self, type)
        _set_node(self, node)

    def __repr__(self) -> str:
        return f"Value(type={self.type!r})"

    __setattr__, __delattr__ = frozen_setattr, frozen_delattr
    __copy__, __deepcopy__, __reduce__ = _itself, _itself, _refuse_pickle


def _is_node(node: object) -> bool:
    return node is None or isinstance(node, Node)


class Input(Value):
    """A value that the program is given: a feed or a variable."""

    __slots__ = ("name", "where")
    __match_args__ = ("type", "node", "name", "where")

    name: str
    where: str

    def __init__(
        self, type: TensorType, node: Node | None = None, name: str = "", line: str | None = None
    ) -> None:
        if not (isinstance(type, TensorType) and isinstance(name, str) and _is_node(node)):
            raise ArgumentError(
                f"Input: got type={type!r:.60}, node={node!r:.60}, name={name!r:.60}; an input is "
                'Input(TensorType("f32", (2, 3)), name="x")'
            )
        Value.__init__(self, type, node)
        _set_name(self, name)
        _set_line(self, where() if line is None else line)

    def __repr__(self) -> str:
        return f"Input(type={self.type!r}, name={self.name!r})"


class Node:
    """An op applied to values.  Its outputs are typed at birth: a wrong shape is an error here."""

    __slots__ = ("inputs", "op", "outputs", "where")
    __match_args__ = ("op", "inputs", "where", "outputs")

    op: Op
    inputs: tuple[Value, ...]
    where: str
    outputs: tuple[Value, ...]

    def __init__(self, op: Op, inputs: tuple[Value, ...], line: str | None = None) -> None:
        _set_op(self, op)
        _set_inputs(self, inputs)
        _set_where(self, where() if line is None else line)
        _make_outputs(self, _output_types(self))

    def __repr__(self) -> str:
        types = [str(v.type) for v in self.inputs[:4]] + ["..."] * (len(self.inputs) > 4)
        return f"Node({self.op!r:.80} of ({', '.join(types)}), where={self.where!r})"

    __setattr__, __delattr__ = frozen_setattr, frozen_delattr
    __copy__, __deepcopy__, __reduce__ = _itself, _itself, _refuse_pickle


# The slots' own setters: the only writes to a node or a value, at its birth.
_set_op, _set_inputs = vars(Node)["op"].__set__, vars(Node)["inputs"].__set__
_set_where, _set_outputs = vars(Node)["where"].__set__, vars(Node)["outputs"].__set__
_set_type, _set_node = vars(Value)["type"].__set__, vars(Value)["node"].__set__
_set_name, _set_line = vars(Input)["name"].__set__, vars(Input)["where"].__set__
_new = object.__new__


def typed_node(op: Op, inputs: tuple[Value, ...], line: str, types: Types) -> Node:
    """A node whose output types are known: what `op.infer` gives for the types of the inputs."""
    node = _new(Node)
    _set_op(node, op)
    _set_inputs(node, inputs)
    _set_where(node, line)
    _make_outputs(node, types)
    return node


def _make_outputs(node: Node, types: Types) -> None:
    outputs = []
    for kind in types:
        value = _new(Value)
        _set_type(value, kind)
        _set_node(value, node)
        outputs.append(value)
    _set_outputs(node, tuple(outputs))


def lift(inputs: Sequence[Operand], name: str = "lift") -> tuple[Value, ...]:
    """Make values of the numbers among `inputs`, in the dtype of the first value.

    Raises:
        ArgumentError: one is neither a value nor a number; `name` is the op that was given it.
    """
    if all(isinstance(v, Value) for v in inputs):
        return tuple(inputs)  # type: ignore[arg-type]
    return tuple(arithmetic_rule("lift")(inputs, name))


PLAIN_VALUES = frozenset({Value, Input})  # classes for which applying an op makes a node


def applied(op: Op, operands: Sequence[Operand]) -> tuple[Value, ...]:
    """The outputs of `op` on values and numbers; the class of an operand may say what that means.

    Raises:
        GraphError: the operands do not fit the op.
    """
    for v in operands:
        if isinstance(v, Value) and v.apply is not None:
            outputs: tuple[Value, ...] = v.apply(op, operands)
            return outputs
    return Node(op, lift(operands, op.name)).outputs


def producers(values: Iterable[Value]) -> dict[Node, None]:
    """The nodes `values` depend on, inputs first.  Iterative: graphs outgrow Python's stack."""
    seen: dict[Node, None] = {}
    for v in values:
        node = v.node
        if node is None or node in seen:
            continue
        for i in node.inputs:
            if i.node is not None and i.node not in seen:
                _visit(node, seen)
                break
        else:  # values listed in order need no more than this
            seen[node] = None
    return seen


def _visit(node: Node, seen: dict[Node, None]) -> None:
    todo = [(node, False)]
    while todo:
        node, ready = todo.pop()
        if ready:
            seen[node] = None
        elif node not in seen:
            todo.append((node, True))
            todo += [
                (v.node, False) for v in reversed(node.inputs) if v.node and v.node not in seen
            ]


def output_types(op: Op, types: Sequence[TensorType]) -> Types:
    """The output types by the op's shape rule, whether the ranks are known or not."""
    for t in types:
        if t.shape is None:
            return op.infer_unranked(*types)
    return op.infer(*types)


def _output_types(node: Node) -> Types:
    op = node.op
    try:
        types = [v.type for v in node.inputs]
    except (AttributeError, TypeError):
        from byparts_graph_ir.model.mistakes import no_values  # only for a message

        raise no_values(node) from None
    try:
        return output_types(op, types)
    except GraphError as error:
        if node.where:
            add_note(error, f"created at {node.where}")
        raise
    except Exception as error:  # a field of the wrong kind breaks a shape rule in any way
        from byparts_graph_ir.model.mistakes import wrong_arity  # likewise

        raise wrong_arity(op, types, error, node.where) from error
