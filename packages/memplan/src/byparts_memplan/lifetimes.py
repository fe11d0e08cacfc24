"""Lifetimes of values, and which values are bytes of another: tables over a graph.

Step `i` runs node `i`; one step more, `len(nodes)`, is the caller reading the outputs.  Inputs are
there from step 0, together with whatever node 0 writes.  A value is needed until the last step that
reads its bytes: a view (`op.views`) lengthens the life of the value that owns the bytes, an input
that the op ignores (`op.ignores`) does not, and a value that nobody reads lives for its own step.
O(values + reads).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index

from byparts_graph_ir import Graph, Input, Node, Op, ShapeError, TensorType, Value
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import PlanError
from byparts_memplan.kernel_facts import known_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels, Pairs


class Decision(Frozen):
    """A chance to share bytes, and what became of it.

    Attributes:
        kind: "view", "in place" or "donation".
        step: the node that makes `target`; for a refused donation of an input, 0.
        source: id of the value whose bytes are shared.
        target: id of the value that lies in them.
        reason: why not; "" where it was taken.
    """

    kind: str
    step: int
    source: int
    target: int
    reason: str = ""

    @property
    def taken(self) -> bool:
        """Whether `target` lies in the bytes of `source`."""
        return not self.reason


class Values:
    """Tables by value id (`graph.ids`), and by step where that is said.

    Attributes:
        born: the step that writes it; 0 for an input.
        root: the value that owns its bytes: itself, unless it is a view.
        at: its first byte within the root.
        last: the last step that needs the bytes of a *root*, its views included.
        reads: for each step, the ids of the node's inputs.
        first: for each step, the id of the node's first output; the others follow it.
        space: the memory that its bytes are in; views are in that of their root.
        inplace: for each step, pairs (input, output): this output may be written over that input;
            only those that the node has.
        workspace: for each step, the bytes of its kernel's workspace.
        alignment: for each step, bytes: its views begin at multiples in what they are views of.
    """

    def __init__(
        self,
        graph: Graph,
        space: Callable[[Value], str] | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        self.graph = graph
        self.inplace: list[Pairs] = [node.op.inplace for node in graph.nodes]
        self.workspace = [0] * len(graph.nodes)
        self.alignment = [1] * len(graph.nodes)
        if (known := known_kernels(kernels)) is not None:
            facts = [known(node) for node in graph.nodes]
            self.inplace = [f.inplace for f in facts]
            self.workspace = [f.workspace_bytes for f in facts]
            self.alignment = [f.alignment for f in facts]
        self.space = [""] * len(graph.values) if space is None else list(map(space, graph.values))
        self.types: list[TensorType] = [v.type for v in graph.values]
        self.size = _sizes(graph)
        self.reads = [[graph.ids[v] for v in node.inputs] for node in graph.nodes]
        self.born = [0] * len(graph.inputs)
        self.first: list[int] = []
        for step, node in enumerate(graph.nodes):
            self.first.append(len(self.born))
            self.born += [step] * len(node.outputs)
            arity = len(node.inputs), len(node.outputs)  # optional ones may not be there
            pairs = self.inplace[step]
            if any(p >= arity[0] or o >= arity[1] for p, o in pairs):
                pairs = tuple([(p, o) for p, o in pairs if p < arity[0] and o < arity[1]])
                self.inplace[step] = pairs
        self.decisions: list[Decision] = []
        self.root = list(range(len(self.born)))
        self.at = [0] * len(self.born)
        for step, node in enumerate(graph.nodes):
            if type(node.op).views is not Op.views:
                self._find_views(step, node)
        self.last = self._last_steps()
        self._readers: dict[int, dict[int, list[int]]] = {}  # by step

    def readers(self, step: int) -> dict[int, list[int]]:
        """By root, the positions among the inputs of a step that read its bytes.

        An optimizer's step reads thousands of variables, each of which is asked for: remembered.
        """
        readers = self._readers.get(step)
        if readers is None:
            readers = self._readers[step] = {}
            ignores = self.graph.nodes[step].op.ignores
            for p, v in enumerate(self.reads[step]):
                if p not in ignores:
                    readers.setdefault(self.root[v], []).append(p)
        return readers

    def _find_views(self, step: int, node: Node) -> None:
        """Record which outputs of a node are bytes of which inputs.

        Where one of them begins at an odd byte, none is a view: the kernel writes all its outputs.
        """
        views = node.op.views(*[v.type for v in node.inputs])
        odd = odd_view(views, self.alignment[step])
        for p, o, offset in views:
            source, target = _view_ids(self, step, node, p, o, offset)
            reason = spaces_differ(self, source, target) or odd
            if self.root[target] != target:
                reason = f"it is a view of %{self.root[target]} already"
            elif not reason:
                self.root[target] = self.root[source]
                self.at[target] = self.at[source] + offset
            self.decisions.append(Decision("view", step, source, target, reason))

    def _last_steps(self) -> list[int]:
        """For each value the last step that reads it; for a root, its views included."""
        last, root = list(self.born), self.root
        for step, node in enumerate(self.graph.nodes):
            ignores = node.op.ignores
            for p, v in enumerate(self.reads[step]):
                if p not in ignores:
                    last[root[v]] = step
        for output in self.graph.outputs:
            last[root[self.graph.ids[output]]] = len(self.graph.nodes)
        return last


def positions(graph: Graph, external: Iterable[int]) -> frozenset[int]:
    """Check positions of inputs.

    Raises:
        PlanError: `graph` is no graph, or `external` are no positions among its inputs.
    """
    if not isinstance(graph, Graph):
        raise PlanError(f"expected a Graph; got {graph!r:.60}")
    try:
        positions = frozenset([index(k) for k in external])
    except TypeError:
        what = f"external is {external!r:.60}"
        raise PlanError(f"{what}; expected positions of inputs, such as {{0, 2}}") from None
    for k in sorted(positions):
        if not 0 <= k < len(graph.inputs):
            raise PlanError(f"external: there is no input {k}; the graph has {len(graph.inputs)}")
    return positions


def describe(value: Value) -> str:
    """A text for a value: what made it, its type, and the user's line."""
    node, name = value.node, ""
    if isinstance(value, Input):
        name, line = value.name or "input", value.where
    else:
        name, line = (node.op.name, node.where) if node else ("input", "")
    return f"{name} {value.type}{_place(line)}"


def _place(line: str) -> str:
    return f" ({line.replace(chr(92), '/').rsplit('/', 1)[-1]})" if line else ""


def describe_workspace(values: Values, step: int) -> str:
    """A text for a workspace: its node, by the first output, and the user's line."""
    node = values.graph.nodes[step]
    name = f"%{values.first[step]}" if node.outputs else f"step {step}"
    return f"workspace of {name} {node.op.name}{_place(node.where)}"


def still_needed(values: Values, step: int) -> str:
    """Why bytes may not be written over: who reads them at `step`, their last."""
    nodes = values.graph.nodes
    if step == len(nodes):
        return "the bytes are an output of the graph"
    return f"the bytes are needed until step {step} ({nodes[step].op.name})"


def spaces_differ(values: Values, x: int, y: int) -> str:
    """Why two values cannot share bytes: they are in different spaces; "" if they are in one."""
    here, there = values.space[x], values.space[y]
    return f"they are in {here!r} and {there!r}" if here != there else ""


def odd_view(views: Iterable[tuple[int, int, int]], alignment: int) -> str:
    """Why the outputs of a node are no views: one begins at an odd byte; "" if none does."""
    odd = next((offset for _, _, offset in views if offset % alignment), None)
    return "" if odd is None else f"byte {odd} is no multiple of {alignment}"


def padded(size_bytes: int, alignment: int) -> int:
    """A size rounded up to a multiple of `alignment`."""
    return size_bytes + -size_bytes % alignment


def _sizes(graph: Graph) -> list[int]:
    """Bytes of each value.

    Raises:
        PlanError: a type is not static.
    """
    known: dict[int, int] = {}  # types are shared by many values: by identity, which is cheap
    sizes = []
    for i, v in enumerate(graph.values):
        size = known.get(id(v.type))
        if size is None:
            try:
                size = known[id(v.type)] = v.type.size_bytes
            except ShapeError:
                raise PlanError(
                    f"%{i}, {describe(v)}, has no size yet; specialize the graph first"
                ) from None
        sizes.append(size)
    return sizes


def _view_ids(
    values: Values, step: int, node: Node, p: int, o: int, offset: int
) -> tuple[int, int]:
    """Ids of input `p` and output `o` of a view, after a check of what the op says of it."""
    claim = f"step {step} ({node.op.name}) says output {o} is a view of input {p}"
    if not (0 <= p < len(node.inputs) and 0 <= o < len(node.outputs)):
        raise PlanError(f"{claim}; it has {len(node.inputs)} and {len(node.outputs)} of them")
    source, target = values.reads[step][p], values.first[step] + o
    size, room = values.size[target], values.size[source]
    if offset < 0 or offset + size > room:
        raise PlanError(f"{claim} at bytes [{offset}, {offset + size}), but that has {room} bytes")
    return source, target
