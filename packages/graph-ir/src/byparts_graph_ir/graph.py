"""An immutable SSA graph: order is data, every value is typed, derived tables cannot go stale.

An `Op` says what is computed, a `Node` applies it to values, a `Graph` is a list of nodes in the
order in which they run.  Nodes and values compare by identity, because two random draws are two
draws; graphs compare by content, because equal programs are equal.  Names and `where` are
provenance: printed, never compared.  Nothing here is ever edited: a pass builds a new graph and
shares what it did not touch.
"""

from __future__ import annotations

from functools import cached_property

from byparts_graph_ir.arithmetic import Arithmetic, Operand, arithmetic_rule
from byparts_graph_ir.errors import GraphError, add_note
from byparts_graph_ir.lazy_dataclass import (
    dataclass,
    field_annotations,
    frozen_delattr,
    frozen_setattr,
)
from byparts_graph_ir.op_name import snake_case
from byparts_graph_ir.op_signature import OpSignature
from byparts_graph_ir.types import TensorType
from byparts_graph_ir.where import inherit, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, ClassVar, TypeAlias

    from byparts_graph_ir.control import Branches, Loop

Types = tuple[TensorType, ...]
Rule: TypeAlias = "Callable[[Node], tuple[Value, ...] | None]"


@dataclass(frozen=True)
class Op:
    """What a node does.  A subclass is a frozen dataclass; its fields are the attributes.

    Only `infer` is required.  What all backends must agree about is said here, as a constant or a
    method; what they may do differently stands in their tables.  A field may be a bool, int, float,
    str, bytes, None, TensorType, Graph (closed: it captures nothing), or a tuple of those.
    """

    name: ClassVar[str] = "op"  # in text and JSON; by default the class name in snake_case
    inplace: ClassVar[tuple[tuple[int, int], ...]] = ()  # (input, output): may be the same bytes
    ignores: ClassVar[tuple[int, ...]] = ()  # inputs whose type is read, but never their bytes
    effect: ClassVar[bool] = False  # of the op itself; ask `has_effect(op)`, which knows its bodies
    shape_fields: ClassVar[tuple[str, ...]] = ()  # fields that are shapes, and may name symbols
    cancels: ClassVar[bool] = False  # its terms may cancel: its error is relative to them
    zero_sign: ClassVar[bool] = True  # the sign of a result that is 0 is the same on all backends
    pattern: ClassVar[str] = (
        "opaque"  # elementwise broadcast injective reduction contraction opaque
    )

    # Subclasses write their own arity: `def infer(self, x: TensorType, w: TensorType) -> Types`.
    # (`*args: Any, **kwargs: Any` is how a signature says "any" to a type checker.)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)

    def infer(self, *types: Any, **_: Any) -> Types:
        """The types of the outputs, for inputs of known rank.

        Raises:
            ShapeError: the inputs do not fit, with the actual shapes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no shape rule: write `infer`")

    def infer_dtypes(self, *types: Any, **_: Any) -> tuple[str, ...]:
        """The dtypes of the outputs, whatever the shapes.  Default: one output, like input 0."""
        return (types[0].dtype,)

    def infer_unranked(self, *types: Any, **_: Any) -> Types:
        """The types of the outputs where the rank of some input is unknown."""
        return tuple(TensorType(dtype, None) for dtype in self.infer_dtypes(*types))

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        """What is known of the inputs, given both sides: the shape rule run backwards."""
        return inputs

    def evaluate(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The meaning, in NumPy: array in, tuple of arrays out.  The oracle of every backend."""
        raise NotImplementedError(f"{type(self).__name__} has no meaning yet: write `evaluate`")

    def domain(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The nearest arrays on which the op is defined, and all backends must agree: NumPy.

        Default: those given.  An index, for instance, is taken modulo the size of its axis.
        """
        return inputs

    def gradient(self, node: Node, *dys: Any, **_: Any) -> tuple[Value | None, ...]:
        """The gradient of each input, as ordinary nodes; `None` where there is none to take.

        `dys` has one value for each output (zeros where nothing flows).
        """
        raise NotImplementedError(f"{self.name} is not differentiable: it has no `gradient`")

    def decompose(self, *inputs: Any, **_: Any) -> tuple[Value, ...] | None:
        """The same in simpler ops, so that a backend with the primitive ones has everything.

        Gives new output values, or `None` where the op is primitive (for these input types).
        """
        return None

    def control(self, *types: Any, **_: Any) -> Branches | Loop | None:
        """How the op runs its bodies, on static types; `None` where it has none to run.

        With this a runtime runs the op on any backend; the bodies given are on inputs of `types`.
        """
        return None

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]] | None:
        """An op for those who read only some outputs; `None` where nothing can be left out.

        Gives the op, which of the inputs it takes, and which of the outputs it gives, at least
        those wanted.  Of an op with an effect, which keeps it, also at least one.
        """
        return None

    def covers(
        self, inputs: tuple[Value, ...], other: Op, given: tuple[Value, ...]
    ) -> tuple[int, ...] | None:
        """Which outputs of this op on `inputs` are all those of `other` on `given`; or `None`."""
        return None

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """A simpler equal form that static types allow, or `None`.  `specialize` applies it."""
        return None

    def views(self, *types: Any, **_: Any) -> tuple[tuple[int, int, int], ...]:
        """(input, output, offset_bytes): the output *is* those bytes of the input.  Static."""
        return ()

    def flops(self, *types: Any, **_: Any) -> int:
        """Floating point operations on static types; by default one for each output element."""
        return sum(t.size for t in self.infer(*types))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Ops of this class with inputs to try them on, for the conformance tests."""
        return iter(())

    def __call__(self, *inputs: Operand) -> Value:
        """Apply to values (numbers are lifted to the dtype of the first value); one output."""
        for v in inputs:
            if not isinstance(v, Value):
                inputs = lift(inputs, self.name)
                break
        outputs = Node(self, inputs).outputs  # type: ignore[arg-type]  # all are values now
        if len(outputs) != 1:
            raise GraphError(f"{self.name} has {len(outputs)} outputs: use .outputs_of(...)")
        return outputs[0]

    def outputs_of(self, *inputs: Operand) -> tuple[Value, ...]:
        """Apply to values; all outputs."""
        return Node(self, lift(inputs, self.name)).outputs

    __signature__ = OpSignature()


@dataclass(frozen=True)
class Sample:
    """One case to try an op on.

    `ranges` gives `[low, high)` for each input, from which elements are drawn uniformly; an input
    without one is drawn from `[-1, 1)` if it is a float and from `{0, 1}` otherwise.
    """

    op: Op
    types: Types
    ranges: tuple[tuple[float, float], ...] = ()


def _itself(value: Any, *_: object) -> Any:
    """A copy of what never changes, and is compared by identity."""
    return value


def _refuse_pickle(value: Any) -> Any:
    raise TypeError(
        f"{type(value).__name__} alone cannot be pickled, for it is compared by identity:"
        " pickle the Graph that it is part of"
    )


# Values and nodes are frozen dataclasses with slots, written out: `dataclasses` is slow to import,
# and a generated __init__ of a frozen class costs twice as much, at each node.


class Value(Arithmetic):
    """One tensor of a program: what a node gives, or (`node` is `None`) an input of the graph."""

    __slots__ = ("node", "type")
    __match_args__: ClassVar[tuple[str, ...]] = ("type", "node")

    type: TensorType
    node: Node | None

    def __init__(self, type: TensorType, node: Node | None = None) -> None:
        _set_type(self, type)
        _set_node(self, node)

    def __repr__(self) -> str:
        return f"Value(type={self.type!r})"

    __setattr__, __delattr__ = frozen_setattr, frozen_delattr
    __copy__, __deepcopy__, __reduce__ = _itself, _itself, _refuse_pickle


class Input(Value):
    """A value that the program is given: a feed or a variable."""

    __slots__ = ("name", "where")
    __match_args__ = ("type", "node", "name", "where")

    name: str
    where: str

    def __init__(
        self, type: TensorType, node: Node | None = None, name: str = "", line: str | None = None
    ) -> None:
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
        outputs = []
        for kind in _output_types(self):
            value = _new(Value)
            _set_type(value, kind)
            _set_node(value, self)
            outputs.append(value)
        _set_outputs(self, tuple(outputs))

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


@dataclass(frozen=True, eq=False)
class Graph:
    """A program.  `nodes` has inputs before users, and this order *is* the schedule."""

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]

    @staticmethod
    def of(inputs: Iterable[Value], outputs: Iterable[Value], order: Iterable[Value] = ()) -> Graph:
        """The program computing `outputs`, in `order` where that is given; dead code falls away.

        O(nodes).

        Raises:
            GraphError: a value is needed that no node makes and that is not among `inputs`; or one
                of these is made by a node, or is there twice.
        """
        inputs, outputs = _values("inputs", inputs), _values("outputs", outputs)
        found = producers((*order, *outputs))
        nodes = _live(found, outputs)
        given = set(inputs)
        if len(given) < len(inputs) or any(v.node is not None for v in inputs):
            from byparts_graph_ir.mistakes import wrong_inputs  # only for a message

            raise wrong_inputs(inputs)
        _check_closed(given, nodes, outputs)
        return Graph(inputs, nodes, outputs)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Inputs, then the outputs of every node in order."""
        return (*self.inputs, *(v for n in self.nodes for v in n.outputs))

    @cached_property
    def ids(self) -> dict[Value, int]:
        """Dense numbering of `values`.  Side tables (offsets, costs) are tuples indexed by it."""
        return {v: i for i, v in enumerate(self.values)}

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that name the program's content: types, ops, wiring, order.  O(nodes).

        Subgraphs count by their own digest, innermost first, so depth costs no stack.
        """
        from byparts_graph_ir.digest import digest_of  # digest.py needs this module first

        for inner in nested(self, lacking="digest"):
            inner.__dict__["digest"] = digest_of(inner)
        digest: bytes = self.__dict__["digest"]
        return digest

    @cached_property
    def has_effect(self) -> bool:
        """Whether a node of it, or of a graph inside one, has an effect.  O(nodes), once."""
        for inner in nested(self, lacking="has_effect"):
            inner.__dict__["has_effect"] = any([has_effect(node.op) for node in inner.nodes])
        found: bool = self.__dict__["has_effect"]
        return found

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Graph) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    __copy__, __deepcopy__ = _itself, _itself

    def __reduce__(self) -> tuple[Callable[..., Graph], tuple[object, ...]]:
        from byparts_graph_ir.pickled import flat, graph_of  # likewise

        return graph_of, flat(self)

    def __str__(self) -> str:
        from byparts_graph_ir.text import show  # likewise

        return show(self)

    def __repr__(self) -> str:
        counts = [("input", self.inputs), ("node", self.nodes), ("output", self.outputs)]
        told = [f"{len(x)} {name}{'s' * (len(x) != 1)}" for name, x in counts]
        return f"<Graph: {', '.join(told)}>"

    def svg(self, layout: str = "auto") -> str:
        """A picture, as SVG text; its layout is Graphviz's ("dot") where there is `dot`, or ours.

        `layout="rows"` is always ours: the same bytes everywhere.
        """
        from byparts_graph_ir.drawing.svg import svg  # likewise

        return svg(self, layout)

    def rewrite(self, rule: Rule) -> Graph:
        """The loop every pass shares: a rule gives a node's new outputs, or `None` to keep it.

        Rules see inputs already rewritten.  Untouched nodes are shared, dead ones fall away, new
        ones take the place and the `where` of the node they replace.  O(nodes); subgraphs are the
        rule's own business.
        """
        env: dict[Value, Value] = {v: v for v in self.inputs}
        for old in self.nodes:
            inputs = tuple([env[v] for v in old.inputs])
            node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
            with inherit(old.where):
                new = rule(node)
            if new is None:
                new = node.outputs
            elif not isinstance(new, (tuple, list)) or len(new) != len(old.outputs):
                from byparts_graph_ir.mistakes import wrong_rewrite  # only for a message

                raise wrong_rewrite(rule, node, new)
            env.update(zip(old.outputs, new, strict=True))
        return Graph.of(self.inputs, [env[v] for v in self.outputs], order=env.values())


def lift(inputs: Sequence[Operand], name: str = "lift") -> tuple[Value, ...]:
    """Make values of the numbers among `inputs`, in the dtype of the first value.

    Raises:
        ArgumentError: one is neither a value nor a number; `name` is the op that was given it.
    """
    if all(isinstance(v, Value) for v in inputs):
        return tuple(inputs)  # type: ignore[arg-type]
    return tuple(arithmetic_rule("lift")(inputs, name))


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


def has_effect(op: Op) -> bool:
    """Whether the op, or one in a graph inside it, has an effect.

    An effect keeps its place in the order; it is never merged, repeated or dropped.  O(1) for an op
    without bodies; a graph inside an op looks once and remembers.
    """
    if op.effect:
        return True
    for name in body_fields(op.__class__):
        if any([graph.has_effect for graph in _graphs(getattr(op, name))]):
            return True
    return False


def subgraphs(op: Op) -> tuple[Graph, ...]:
    """The graphs among an op's fields, in field order, also those inside tuples."""
    found: list[Graph] = []
    for name in body_fields(op.__class__):
        found += _graphs(getattr(op, name))
    return tuple(found)


def body_fields(cls: type[Op]) -> tuple[str, ...]:
    """The fields of a class of ops that may hold graphs, going by their annotations."""
    names = _body_fields.get(cls)
    if names is None:
        said = {name: text for name, (text, _) in field_annotations(cls).items()}
        texts = {name: text if isinstance(text, str) else repr(text) for name, text in said.items()}
        names = _body_fields[cls] = tuple([n for n, text in texts.items() if not _is_plain(text)])
    return names


_body_fields: dict[type, tuple[str, ...]] = {}
_PLAIN = frozenset(["int", "float", "str", "bool", "bytes", "None", "tuple", "class", "builtins"])


def _is_plain(annotation: str) -> bool:
    """Whether it names only types that hold no graph; a name that is not known may hold one."""
    words = "".join([c if c.isalnum() or c == "_" else " " for c in annotation]).split()
    return _PLAIN.issuperset(words)


def _graphs(value: object) -> list[Graph]:
    """`value`, if it is a graph; those in it, if it is a tuple."""
    if isinstance(value, tuple):
        return [graph for item in value for graph in _graphs(item)]
    return [value] if isinstance(value, Graph) else []


def nested(graph: Graph, *, lacking: str = "") -> list[Graph]:
    """All graphs inside `graph`, each once and after those inside it; `graph` itself is the last.

    With `lacking` only those that do not know yet what the cached property of that name tells.
    """
    order: list[Graph] = []
    seen: set[int] = set()
    todo = [(graph, False)]
    while todo:
        inner, ready = todo.pop()
        if ready:
            order.append(inner)
        elif id(inner) not in seen and lacking not in inner.__dict__:
            seen.add(id(inner))
            todo.append((inner, True))
            todo.extend((g, False) for node in inner.nodes for g in subgraphs(node.op))
    return order


def _live(found: Iterable[Node], outputs: Iterable[Value]) -> tuple[Node, ...]:
    """Those of the nodes, in order, that an output or an effect needs."""
    live = {v.node for v in outputs}
    kept = []
    for node in reversed(tuple(found)):
        if node in live or has_effect(node.op):
            kept.append(node)
            for v in node.inputs:
                live.add(v.node)
    return tuple(kept[::-1])


def output_types(op: Op, types: Sequence[TensorType]) -> Types:
    """What the op's shape rule gives, whether the ranks are known or not."""
    for t in types:
        if t.shape is None:
            return op.infer_unranked(*types)
    return op.infer(*types)


def _output_types(node: Node) -> Types:
    op = node.op
    try:
        types = [v.type for v in node.inputs]
    except (AttributeError, TypeError):
        from byparts_graph_ir.mistakes import no_values  # only for a message

        raise no_values(node) from None
    try:
        return output_types(op, types)
    except GraphError as error:
        if node.where:
            add_note(error, f"created at {node.where}")
        raise
    except Exception as error:  # a field of the wrong kind breaks a shape rule in any way
        from byparts_graph_ir.mistakes import wrong_arity  # likewise

        raise wrong_arity(op, types, error, node.where) from error


def _values(what: str, given: Iterable[Value]) -> tuple[Value, ...]:
    """`given` as a tuple, if it holds values and nothing else."""
    if not isinstance(given, Value) and hasattr(given, "__iter__"):
        found = tuple(given)
        if all(isinstance(v, Value) for v in found):
            return found
        given = found
    from byparts_graph_ir.mistakes import not_values  # only for a message

    raise not_values(what, given)


def _check_closed(inputs: set[Value], nodes: Iterable[Node], outputs: Iterable[Value]) -> None:
    needed = [v for n in nodes for v in n.inputs if v.node is None and v not in inputs]
    needed += [v for v in outputs if v.node is None and v not in inputs]
    if needed:
        v = needed[0]
        name = f" {v.name!r} (made at {v.where})" if isinstance(v, Input) else ""
        raise GraphError(f"value{name} of type {v.type} is needed but is not an input of the graph")
