"""Operations of a `GraphDef`, made in a graph.

Plain nodes are made one by one, each after its inputs; what is inside a branch or loop is made when
that is (`regions.py` says which), by `tf.cond` and `tf.while_loop`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Optional

from byparts_frontend_tf.api.identity import IDENTITY
from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.kind import KINDS
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.node_defs import arrays, own
from byparts_frontend_tf.node_defs.calls import CALLS, LATE
from byparts_frontend_tf.node_defs.flow import make_cond, make_loop
from byparts_frontend_tf.node_defs.forms import ALIKE, FORMS
from byparts_frontend_tf.node_defs.missing import Missing, missing
from byparts_frontend_tf.node_defs.node import Node
from byparts_frontend_tf.node_defs.queue_forms import QUEUE_FORMS
from byparts_frontend_tf.node_defs.regions import (
    EXITS,
    MERGES,
    Path,
    closes_loop,
    items_in_order,
    merges_of,
    ordered,
    paths,
    source,
)
from byparts_frontend_tf.node_defs.training import TRAINING
from byparts_frontend_tf.node_defs.values import value_of
from byparts_tf_files.dtypes import float32
from byparts_tf_files.messages.graph import GraphDef, NodeDef
from byparts_tf_files.shape import TensorShape

_COUNTS = ("num", "num_split", "num_partitions", "count")  # attributes that say how many outputs
_SCALARS_KNOWN = 24  # the version of graphs from which a placeholder without dimensions is a number


class GraphReader:
    """Makes the operations of a `GraphDef`.

    Args:
        graph: they are made in.
        message: the `GraphDef`.
        prefix: of their names, with a "/" behind it, or "".
        mapped: tensors and operations that stand for those of these names.

    Attributes:
        nodes: the nodes by their names.
        order: these names, each after what it needs.
        place_of: the place of each name in it.
        merges_of: the `Merge`s that read a node.
        paths: the branches and loops around each node.
        made: what each node gives: tensors; `None` where that is none.
        ops: the operation of each node.
        arrays: the TensorArrays.
        used: the names of `mapped` that something read.
    """

    def __init__(
        self, graph: Graph, message: GraphDef, prefix: str, mapped: Mapping[str, Any]
    ) -> None:
        upper.functions.load_kinds()
        self.graph, self.prefix, self.mapped = graph, prefix, dict(mapped)
        self.nodes: dict[str, NodeDef] = {}
        for node in message.node:
            if not node.name:
                raise ValueError(f"a node of type {node.op!r:.60} has no name")
            if node.name in self.nodes:
                raise ValueError(f"Node {node.name!r} is not unique in the graph_def")
            self.nodes[node.name] = node
        self.used: set[str] = set()
        self.made: dict[str, list[Any]] = {}
        self._absents: dict[tuple[str, int], Tensor] = {}
        self.ops: dict[str, Operation] = {}
        self.arrays = arrays.Arrays()
        self._own = own.Reader(graph, self.tensor, self.operation)
        self._outputs = _outputs(self.nodes)
        self._outputs_left = _most_outputs(self.nodes)
        self._take_outputs(sum(self._outputs.values()))
        self._old = 0 < message.versions.producer < _SCALARS_KNOWN
        self.order = ordered(self.nodes)
        self.place_of = {name: i for i, name in enumerate(self.order)}
        self.merges_of = merges_of(self.nodes)
        self.paths = paths(self.nodes, self.order)

    def make_all(self) -> None:
        """Make all operations.

        Raises:
            ValueError: an input is not there, or a node is none of its kind.
        """
        for name, node in self.nodes.items():
            for given in node.input:
                self._check(name, given)
        self.level(self.order, ())

    def _take_outputs(self, count: Any) -> None:
        """Refuse more outputs than there should be: each takes memory, and a number is short."""
        self._outputs_left -= max(0, count) if isinstance(count, int) else 0
        if self._outputs_left < 0:
            raise ValueError(
                f"the nodes ask for more than {_most_outputs(self.nodes)} outputs; there are "
                f"{len(self.nodes)} nodes"
            )

    def _check(self, name: str, given: str) -> None:
        there, _ = source(given)
        if there not in self.nodes and given not in self.mapped and there not in self.mapped:
            raise ValueError(f"Node {name!r}: Unknown input node {given!r}")

    # What names mean

    def tensor(self, given: str) -> Tensor:
        """The tensor that an input names.

        Raises:
            ValueError: there is none.
        """
        name, index = source(given)
        for key in (given, f"{name}:{index}", name if index == 0 else given):
            if key in self.mapped:
                self.used.add(key)
                mapped: Tensor = self.mapped[key]
                return mapped
        outputs = self.made.get(name, [])
        found = outputs[index] if index < len(outputs) else self._absent(name, index)
        if not isinstance(found, Tensor):
            raise ValueError(f"{given!r}: node {name!r} gives no tensor {index}")
        return found

    def _absent(self, name: str, index: int) -> Optional[Tensor]:
        """An output that the operation has not here, such as what a gradient wants; not to be run.

        `None` where there is no operation either.
        """
        if name not in self.ops:
            return None
        if (name, index) not in self._absents:
            op = self.ops[name]
            kind = Missing(op.type, f" has no output {index} here")
            dtypes = [t.dtype.base_dtype for t in op.outputs[:1]] or [float32]
            made = kind.operation((), f"{op.name}/output_{index}", dtypes=dtypes)
            self._absents[name, index] = made.outputs[0]
        return self._absents[name, index]

    def operation(self, name: str) -> Operation:
        """The operation of a node."""
        return self.ops[name]

    # Order

    def level(self, names: Sequence[str], around: Path) -> None:
        """Make the nodes of a path, each region inside as a whole."""
        depth = len(around)
        item_of: dict[str, Any] = {}
        for name in names:
            path = self.paths[name]
            item_of[name] = path[depth].region if len(path) > depth else name
        members: dict[Any, list[str]] = {}
        for name in names:
            members.setdefault(item_of[name], []).append(name)
        for item in items_in_order(members, item_of, self.nodes):
            if isinstance(item, str):
                self._make(item)
            elif item[0]:
                make_loop(self, members[item], around)
            else:
                make_cond(self, members[item], around)

    # One node

    def _name(self, name: str) -> str:
        """Take the name of an operation; the "/" after it says that it is to be exactly this."""
        full = self.prefix + name
        self.graph.take_name(full)
        return f"{full}/"

    def called(self, tensor: Tensor, name: str) -> Tensor:
        """The tensor, made by an operation of the name of a node."""
        made: Tensor = IDENTITY(tensor, name=self._name(name))
        self.ops[name] = made.op
        return made

    def _make(self, name: str) -> None:
        node = self.nodes[name]
        if node.op in (*EXITS, "Identity") and not node.input:
            raise ValueError(f"node {name!r} ({node.op}) has no input")
        for key in _COUNTS:
            self._take_outputs(node.attr[key].i if key in node.attr else 0)
        if node.op in (*EXITS, "Identity") and self.arrays.holds(self.tensor(node.input[0])):
            flow = self.tensor(node.input[0])
            self.made[name], self.ops[name] = [flow], flow.op
            return
        if node.op in MERGES and not closes_loop(node, self.nodes):
            return  # with its branches
        if node.op in EXITS:
            self._keep(name, self.called(self.tensor(node.input[0]), name))
            return
        inputs = [self.tensor(i) for i in node.input if not i.startswith("^")]
        made = Node(node, inputs, self._name(name), self._outputs.get(name, 0))
        with self.graph.device(node.device) if node.device else nullcontext():
            outputs = self._named(made)
        self._keep(name, outputs)

    def _waiting(self, node: Node) -> AbstractContextManager[None]:
        """A block for operations that wait for what the node waits for."""
        around, body = {None}, self.graph.body
        while body is not None:
            around.add(body)
            body = body.outer
        found = [self._waited_for(i) for i in node.definition.input if i.startswith("^")]
        ops = [op for op in found if op is not None and op.body in around]
        return self.graph.control_dependencies(ops) if ops else nullcontext()

    def _waited_for(self, given: str) -> Optional[Operation]:
        if given in self.mapped:
            self.used.add(given)
            found = self.mapped[given]
            waited_for: Operation = getattr(found, "op", found)
            return waited_for
        return self.ops.get(given[1:])

    def _named(self, node: Node) -> Any:
        """Make the operation of a node as `_of`; an error is raised again with the node's name."""
        try:
            if own.ATTRIBUTE in node.definition.attr and node.type in KINDS:
                return self._of_ours(node)
            with self._waiting(node):
                return self._of(node)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"node {node.definition.name!r} ({node.type}): {error}") from error

    def _of(self, node: Node) -> Any:
        """Make the operation of a node: a tensor, an operation, or a list of them."""
        if node.type in arrays.TYPES:
            return self.arrays.make(node)
        form = FORMS.get(node.type) or QUEUE_FORMS.get(node.type)
        if form is not None:
            if node.type in LATE and node.constant(1) is None:
                return LATE[node.type](node)
            inputs, attributes = form.read(node)
            if node.type == "Placeholder" and self._old and attributes["shape"] == ():
                attributes["shape"] = None
            return self._marked(KINDS[node.type].operation(inputs, node.name, **attributes))
        if node.type in TRAINING:
            return TRAINING[node.type](node)
        if node.type in ALIKE:
            return self._marked(KINDS[node.type].operation(node.inputs, node.name))
        called = CALLS.get(node.type)
        made = NotImplemented if called is None else called(node)
        return (
            missing(node, self._outputs.get(node.definition.name, 1))
            if made is NotImplemented
            else made
        )

    def _of_ours(self, node: Node) -> Operation:
        attributes, body = self._own.read(node.definition.attr[own.ATTRIBUTE].s)
        for key in _COUNTS:
            self._take_outputs(attributes.get(key))
        before, self.graph.body = self.graph.body, body
        try:
            with self._waiting(node):
                op = KINDS[node.type].operation(node.inputs, node.name, **attributes)
            return self._marked(op)
        finally:
            self.graph.body = before

    def _marked(self, op: Operation) -> Operation:
        """Say of the memory of a variable that it is."""
        if op.type == "VariableV2":
            op.outputs[0].variable = op
        elif op.type == "Identity" and op.name.endswith("/read") and not op.control_inputs:
            memory = op.inputs[0]
            if memory.variable is memory.op:
                op.outputs[0].variable = memory.op
        elif op.type == "Assign" and op.name == f"{op.inputs[0].op.name}/Assign":
            op.initializes = op.inputs[0].op
        return op

    def _keep(self, name: str, made: Any) -> None:
        if isinstance(made, Operation):
            self.ops[name], outputs = made, list(made.outputs)
        else:
            outputs = list(made) if isinstance(made, (list, tuple)) else [made]
            full = self.prefix + name
            first = outputs[0]
            if (
                isinstance(first, Tensor)
                and first.op.name != full
                and first.op.type != "TensorArrayV3"
            ):
                outputs[0] = self.called(first, name)
            first = outputs[0]
            self.ops[name] = first.op if isinstance(first, Tensor) else first
        self.made[name] = outputs + self._not_given(name, len(outputs))
        if "_output_shapes" in self.nodes[name].attr and not self._is_handle(name):
            dims = value_of(self.nodes[name].attr["_output_shapes"])
            for tensor, d in zip(outputs, dims or (), strict=False):
                if isinstance(tensor, Tensor):
                    tensor.set_shape(TensorShape(d))

    def _is_handle(self, name: str) -> bool:
        """Whether TensorFlow's output is a handle, where ours is the memory or the array itself."""
        return self.nodes[name].op == "VarHandleOp" or self.nodes[name].op in arrays.TYPES

    def _not_given(self, name: str, there: int) -> list[Tensor]:
        """Stands for outputs that something reads and our operation does not have."""
        count = self._outputs.get(name, 0)
        if there >= count:
            return []
        node = Node(self.nodes[name], [], self._name(f"{name}/others"))
        return list(missing(node, count).outputs[there:])


def _most_outputs(nodes: Mapping[str, NodeDef]) -> int:
    """Limit on the outputs that a graph of so many nodes may have, far above what graphs do."""
    return 10_000 + 100 * sum([1 + len(node.input) for node in nodes.values()])


def _outputs(nodes: Mapping[str, NodeDef]) -> dict[str, int]:
    """Number of outputs of each node that are read."""
    counts: dict[str, int] = {}
    for node in nodes.values():
        for name, index in map(source, node.input):
            counts[name] = max(counts.get(name, 0), index + 1)
    return counts
