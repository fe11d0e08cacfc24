"""An immutable SSA graph: order is data, every value is typed, derived tables cannot go stale.

An `Op` says what is computed, a `Node` applies it to values, a `Graph` is a list of nodes in the
order in which they run.  Graphs compare by content, because equal programs are equal.  Names and
`where` are provenance: printed, never compared.  Nothing here is ever edited: a pass builds a new
graph and shares what it did not touch.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError
from byparts_graph_ir.model.bodies import has_effect, nested
from byparts_graph_ir.model.body import Body
from byparts_graph_ir.model.cached_property import cached_property
from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.value import Input, Node, Value, producers
from byparts_graph_ir.model.where import inherit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from byparts_graph_ir.model.op import Op
    from byparts_graph_ir.model.types import TensorType

    InputRow: TypeAlias = tuple[TensorType, str, str]  # type, name, where
    NodeRow: TypeAlias = tuple[Op, tuple[int, ...], str]  # op, numbers of its inputs, where
    Rows: TypeAlias = tuple[tuple[InputRow, ...], tuple[NodeRow, ...], tuple[int, ...]]

Rule: TypeAlias = "Callable[[Node], tuple[Value, ...] | None]"


_MOST_DRAWN = 300  # nodes of a graph that shows itself in a notebook


class Graph(Frozen, Body):
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
        makers = producers((*order, *outputs))
        nodes = _live(makers, outputs)
        distinct = set(inputs)
        if len(distinct) < len(inputs) or any(v.node is not None for v in inputs):
            from byparts_graph_ir.model.mistakes import wrong_inputs  # only for a message

            raise wrong_inputs(inputs)
        _check_closed(distinct, nodes, outputs)
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
        from byparts_graph_ir.model.digest import digest_of  # a graph that is only built needs none

        for inner in nested(self, lacking="digest"):
            inner.__dict__["digest"] = digest_of(inner.rows())
        digest: bytes = self.__dict__["digest"]
        return digest

    @cached_property
    def has_effect(self) -> bool:
        """Whether a node of it, or of a graph inside one, has an effect.  O(nodes), once."""
        for inner in nested(self, lacking="has_effect"):
            inner.__dict__["has_effect"] = any([has_effect(node.op) for node in inner.nodes])
        known: bool = self.__dict__["has_effect"]
        return known

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Graph) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: object) -> Graph:
        return self

    def rows(self) -> Rows:
        """The program as tuples, in which values are their numbers in `ids`.  O(nodes).

        `graph_of(*graph.rows())` is an equal graph of new values.
        """
        ids = self.ids
        inputs = [(v.type, getattr(v, "name", ""), getattr(v, "where", "")) for v in self.inputs]
        nodes = [(n.op, tuple([ids[v] for v in n.inputs]), n.where) for n in self.nodes]
        return tuple(inputs), tuple(nodes), tuple([ids[v] for v in self.outputs])

    def __reduce__(self) -> tuple[Callable[..., Graph], Rows]:
        """For `pickle`, without recursion along the program; in files a graph is JSON."""
        return graph_of, self.rows()

    def __str__(self) -> str:
        """The text of the graph, which `parse` reads.  O(nodes).

        Raises:
            GraphError: graphs or tuples nested deeper than 64, where JSON is flat; or more than a
                million nodes, because a graph inside several nodes is printed several times.
        """
        from byparts_graph_ir.model.show import show  # a program that runs prints nothing

        return show(self)

    def __repr__(self) -> str:
        counts = [("input", self.inputs), ("node", self.nodes), ("output", self.outputs)]
        counted = [f"{len(x)} {name}{'s' * (len(x) != 1)}" for name, x in counts]
        return f"<Graph: {', '.join(counted)}>"

    def svg(self, layout: str = "auto") -> str:
        """A picture as SVG text, drawn by the part byparts-draw.

        `layout`: "rows" gives the same bytes everywhere; "dot" asks Graphviz for the places;
        "auto" does so where Graphviz is installed and suits the graph.

        Raises:
            PartError: byparts-draw is not installed; with the command that installs it.
            GraphError: another layout, or Graphviz is not there or fails.
        """
        from byparts_graph_ir.parts.hub import parts  # discovery, only for who draws

        picture: str = parts.get("pictures", "svg")(self, layout)
        return picture

    def _repr_svg_(self) -> str | None:
        """The picture, for notebooks; `None` where byparts-draw is not there or sees too much."""
        from byparts_graph_ir.parts.hub import parts  # discovery, only for who draws

        few = len(self.nodes) <= _MOST_DRAWN and "svg" in parts.names("pictures")
        return self.svg("rows") if few else None

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
                from byparts_graph_ir.model.mistakes import wrong_rewrite  # only for a message

                raise wrong_rewrite(rule, node, new)
            env.update(zip(old.outputs, new, strict=True))
        return Graph.of(self.inputs, [env[v] for v in self.outputs], order=env.values())


def graph_of(inputs: Sequence[InputRow], nodes: Sequence[NodeRow], outputs: Sequence[int]) -> Graph:
    """The graph of these rows (`Graph.rows`), of new values.  O(nodes)."""
    feeds = tuple([Input(kind, None, name, line) for kind, name, line in inputs])
    values: list[Value] = list(feeds)
    new_nodes: list[Node] = []
    for op, numbers, line in nodes:
        new_nodes.append(Node(op, tuple([values[i] for i in numbers]), line))
        values += new_nodes[-1].outputs
    return Graph(feeds, tuple(new_nodes), tuple([values[i] for i in outputs]))


def _live(nodes: Iterable[Node], outputs: Iterable[Value]) -> tuple[Node, ...]:
    """Return the nodes that an output or an effect needs, in the same order."""
    live = {v.node for v in outputs}
    kept = []
    for node in reversed(tuple(nodes)):
        if node in live or has_effect(node.op):
            kept.append(node)
            for v in node.inputs:
                live.add(v.node)
    return tuple(kept[::-1])


def _values(what: str, argument: Iterable[Value]) -> tuple[Value, ...]:
    """`given` as a tuple, if it holds values and nothing else."""
    if not isinstance(argument, Value) and hasattr(argument, "__iter__"):
        values = tuple(argument)
        if all(isinstance(v, Value) for v in values):
            return values
        argument = values
    from byparts_graph_ir.model.mistakes import not_values  # only for a message

    raise not_values(what, argument)


def _check_closed(inputs: set[Value], nodes: Iterable[Node], outputs: Iterable[Value]) -> None:
    needed = [v for n in nodes for v in n.inputs if v.node is None and v not in inputs]
    needed += [v for v in outputs if v.node is None and v not in inputs]
    if needed:
        v = needed[0]
        name = f" {v.name!r} (made at {v.where})" if isinstance(v, Input) else ""
        raise GraphError(f"value{name} of type {v.type} is needed but is not an input of the graph")
