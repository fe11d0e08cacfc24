"""The walk over a model: each node by its rule, with what is known computed at once.

Under each name of the file stands a value of the program, an array that is known now, sizes with
names in them, or a list of these (a sequence).  A node whose inputs are all known is evaluated, if
that is small or little larger than what it reads; so shape arithmetic and changed weights fold.  An
operator without a rule is expanded by the function that the model, or its schema, gives for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto

import byparts_opset as ops
from byparts_frontend_onnx.errors import Undetermined, UnsupportedOp
from byparts_frontend_onnx.node import Item, OnnxNode, operator_of
from byparts_frontend_onnx.order import graphs_of, sorted_nodes
from byparts_frontend_onnx.rules import Rule, Rules
from byparts_frontend_onnx.schema_functions import schema_function
from byparts_frontend_onnx.sizes import Known, Sizes, as_value, computed, sizes_of
from byparts_frontend_onnx.tensors import Tensors, dtype_of
from byparts_graph_ir import (
    FormatError,
    Graph,
    GraphError,
    Input,
    TensorType,
    Value,
    add_note,
    dimension_names,
    inherit,
)
from byparts_opset.dtypes import dtype_name
from byparts_opset.evaluate import evaluate

Array = NDArray[Any]

SMALL = 16  # elements up to which a known array is a constant and no weight
_FOLD_BYTES = 1 << 16  # what is computed at once, whatever it is made of
_FOLD_TIMES = 4  # as many times larger than what it reads it may be
_KNOWN_BYTES = 1 << 24  # of a number that decides a shape
_MOST_NODES = 200_000
_DEEPEST = 40
# Operators that put elements elsewhere, whatever these are.
_MOVES = {"Concat", "Expand", "Flatten", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Tile",
          "Transpose", "Unsqueeze", "Where"}  # fmt: skip
_KEEPS = {"Identity", "Floor", "Ceil", "Round"}


class Walk:
    """The state of an import.

    Args:
        versions: domain -> version of its operators.
        functions: (domain, name) -> function of the model.
        rules: what is made of each operator.
        tensors: reader of the model's tensors.
        seed: of random numbers; `None` for none.
    """

    def __init__(
        self,
        versions: Mapping[str, int],
        functions: Mapping[tuple[str, str], FunctionProto],
        rules: Rules,
        tensors: Tensors,
        seed: int | None = None,
    ) -> None:
        self.versions, self.functions, self.rules = versions, functions, rules
        self.tensors, self.seed, self.drawn = tensors, seed, 0
        self.notes: dict[str, None] = {}
        self.weights: dict[Value, tuple[str, Array]] = {}
        self._lifted: dict[int, Value] = {}
        self._names: dict[int, str] = {}
        self._arrays: dict[object, Array] = {}
        self._local: dict[int, Value] | None = None  # in a body: array -> input of the body
        self._depth = self._count = 0

    def note(self, sentence: str) -> None:
        """Say something about the import, once."""
        self.notes.setdefault(sentence)

    # Values and numbers

    def value(self, item: Item) -> Value:
        """An item as a value: a weight where it has many elements, else a constant.

        Raises:
            UnsupportedOp: a sequence, or an array of a dtype that byparts has not.
        """
        if isinstance(item, Value):
            return item
        if isinstance(item, Sizes):
            return as_value(item)
        if not isinstance(item, np.ndarray):
            raise UnsupportedOp(f"a {'sequence' if isinstance(item, list) else 'missing value'} "
                                "in the place of a tensor")  # fmt: skip
        if item.size <= SMALL:
            return ops.constant(item)
        if self._local is not None:
            return self._local[id(item)] if id(item) in self._local else ops.constant(item)
        if id(item) not in self._lifted:
            name = self._names.get(id(item), f"weight_{len(self._lifted)}")
            value = Input(TensorType(dtype_name(item.dtype), item.shape), None, name)
            self._lifted[id(item)] = value
            self.weights[value] = (name, item)
        return self._lifted[id(item)]

    def known(self, value: Item, what: str) -> Known:
        """The numbers of a value that depends on weights alone.

        Raises:
            Undetermined: it depends on inputs or on named sizes.
        """
        if not isinstance(value, Value):
            raise UnsupportedOp(f"{what} is a sequence")
        graph, inputs, sizes = self._sources(value)
        if inputs or sizes or not graph.outputs[0].type.static:
            raise Undetermined(what, inputs, sizes)
        if _bytes_of(graph) > _KNOWN_BYTES:
            raise UnsupportedOp(f"{what} decides a shape and has too many bytes to be computed now")
        (array,) = evaluate(graph, *(self.weights[v][1] for v in graph.inputs))
        return array

    def reads_inputs(self, value: Value) -> bool:
        """Whether a value depends on elements of inputs, and not on weights and sizes alone."""
        return bool(self._sources(value)[1])

    def _sources(self, *values: Value) -> tuple[Graph, list[str], list[str]]:
        """Trace values back: a graph from weights, names of other inputs, named sizes."""
        free: dict[Value, None] = {}
        sizes: set[str] = set()
        seen, waiting = set(values), list(values)
        while waiting:
            v = waiting.pop()
            if v.node is None:
                free[v] = None
                continue
            if not v.node.inputs:
                sizes |= {n for d in v.type.shape or () for n in dimension_names(d)}
            for x in v.node.inputs:
                if x not in seen:
                    seen.add(x)
                    waiting.append(x)
            if v.node.op.name in ("broadcast_to", "count_like"):
                sizes |= {n for d in v.type.shape or () for n in dimension_names(d)}
        weights = [v for v in free if v in self.weights]
        names = [v.name for v in free if v not in self.weights and isinstance(v, Input)]
        others = [v for v in free if v not in self.weights]
        return Graph.of([*weights, *others], values), names, sorted(sizes)

    def folded(self, results: Sequence[Item], read_bytes: int) -> list[Item]:
        """Results computed now, where they are numbers and little larger than what is read."""
        values = [r for r in results if isinstance(r, Value)]
        if not values or (self._local is not None and any(v.node is None for v in values)):
            return list(results)
        graph, inputs, sizes = self._sources(*values)
        allowed = max(_FOLD_BYTES, _FOLD_TIMES * read_bytes)
        static = all(v.type.static for n in graph.nodes for v in n.outputs)
        if inputs or sizes or not static or _bytes_of(graph) > 4 * allowed:
            return list(results)
        if sum(v.type.size_bytes for v in values) > allowed:
            return list(results)
        arrays = iter(evaluate(graph, *(self.weights[v][1] for v in graph.inputs)))
        return [next(arrays) if isinstance(r, Value) else r for r in results]

    # Graphs

    def graph(
        self, graph: GraphProto, scope: dict[str, Item], keep: frozenset[str] = frozenset()
    ) -> list[Item]:
        """The outputs of a graph; `scope` is what it sees, and takes what it computes.

        Args:
            graph: of the file.
            scope: name -> item.
            keep: names whose initializers are not taken.

        Raises:
            FormatError: a name stands for nothing, or for two things.
        """
        for tensor in graph.initializer:
            if tensor.name not in keep:
                self.bind(scope, tensor.name, self.array(tensor))
        for sparse in graph.sparse_initializer:
            self.bind(scope, sparse.values.name, self.tensors.dense(sparse))
        for proto in sorted_nodes(graph.node, set(scope)):
            self.node(proto, scope, self.versions, {})
        missing = [o.name for o in graph.output if o.name not in scope]
        if missing:
            raise FormatError(
                f"graph {graph.name!r} computes no {missing[0]!r}, one of its outputs"
            )
        return [scope[o.name] for o in graph.output]

    def bind(self, scope: dict[str, Item], name: str, item: Item) -> None:
        """Put an item under a name."""
        scope[name] = item
        if isinstance(item, np.ndarray):
            self._names.setdefault(id(item), name)

    def array(self, tensor: Any) -> Array:
        """A tensor of the file; equal large ones are one array, so that bodies share them."""
        array = self.tensors.array(tensor)
        if array.size <= SMALL:
            return array
        key = (
            array.dtype.str,
            array.shape,
            blake2b(np.ascontiguousarray(array).view(np.uint8).data).digest(),
        )
        return self._arrays.setdefault(key, array)

    def node(
        self,
        proto: NodeProto,
        scope: dict[str, Item],
        versions: Mapping[str, int],
        outer: Mapping[str, AttributeProto],
    ) -> None:
        """Put what a node gives under the names of its outputs."""
        self._count += 1
        if self._count > _MOST_NODES:
            raise UnsupportedOp(f"the model has more than {_MOST_NODES} nodes, with its functions "
                                "and loops written out")  # fmt: skip
        for name in proto.input:
            if name and name not in scope:
                raise FormatError(f"{operator_of(proto)} {proto.name!r} reads {name!r}, which "
                                  "nothing gives")  # fmt: skip
        inputs = [scope[name] if name else None for name in proto.input]
        version = versions.get(proto.domain if proto.domain != "ai.onnx" else "", 1)
        node = OnnxNode(self, proto, version, inputs, scope, outer)
        results = self._results(node)
        for i, name in enumerate(proto.output):
            if not name:
                continue
            if i >= len(results) or results[i] is None:
                raise node.refuse(f"output {i}")
            self.bind(scope, name, results[i])

    def _results(self, node: OnnxNode) -> list[Item]:
        with inherit(node.label):
            try:
                return self._by_rule_or_function(node)
            except GraphError as error:
                raise add_note(error, f"importing {node.label}") from None
            except RecursionError:
                raise GraphError(f"{node.label}: graphs stand too deep inside each other") from None
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise GraphError(f"{node.label} does not take what it is given: {why}") from error

    def _by_rule_or_function(self, node: OnnxNode) -> list[Item]:
        sizes = self._of_sizes(node)
        if sizes is not None:
            return sizes
        own = self.functions.get((node.proto.domain, node.proto.op_type))
        rule = self.rules.get(node.op)
        if own is None and rule is not None:
            return self._by_rule(node, rule)
        function = schema_function(node) if own is None else own
        if function is None:
            raise UnsupportedOp(f"{node.op} has no rule in byparts_frontend_onnx")
        return self._function(function, node)

    def _by_rule(self, node: OnnxNode, rule: Rule) -> list[Item]:
        items = node.inputs
        if rule.raw:
            given: list[Any] = items
        else:
            given = [
                i if i is None else node.known(k) if k in rule.known else self.value(i)
                for k, i in enumerate(items)
            ]
        made = rule.function(node, *given)
        results = list(made) if isinstance(made, tuple) else [made]
        arrays = [i for i in items if isinstance(i, np.ndarray)]
        if len(arrays) == len([i for i in items if i is not None]):
            return self.folded(results, sum(a.nbytes for a in arrays))
        return results

    def _of_sizes(self, node: OnnxNode) -> list[Item] | None:
        """Results of a node on sizes, where these are sizes again, else `None`."""
        items = [i for i in node.inputs if i is not None]
        if not any(isinstance(i, Sizes) for i in items):
            return None
        x = node.inputs[0]
        if node.op in _KEEPS:
            return [x]
        if node.op == "Cast" and isinstance(x, Sizes):
            dtype = dtype_of(node.get("to"))
            return None if dtype == "bool" else [Sizes(x.array, dtype)]
        if node.op in _MOVES:
            return self._moved(node)
        known = [i for i in items if isinstance(i, (np.ndarray, Sizes))]
        if len(known) < len(items):
            return None
        if node.op in ("Min", "Max", "Add", "Sub", "Mul", "Div", "Mod") or len(known) == 2:
            total: Known | None = known[0]
            dtype = next(k.dtype for k in known if isinstance(k, Sizes))
            for other in known[1:]:
                total = total if total is None else computed(node.op, total, other, dtype)
            return None if total is None or len(known) < 2 else [total]
        return None

    def _moved(self, node: OnnxNode) -> list[Item] | None:
        """The elements of sizes where a rule puts their positions."""
        places = {"Concat": range(len(node.inputs)), "Where": (1, 2)}.get(node.op, (0,))
        data = [i for k in places if isinstance(i := node.inputs[k], (np.ndarray, Sizes))]
        dtypes = [i.dtype for i in data if isinstance(i, Sizes)]
        if not dtypes or len(data) < len(places):
            return None
        tables = [i.array if isinstance(i, Sizes) else i for i in data]
        first = 0
        inputs = list(node.inputs)
        for k, table in zip(places, tables, strict=True):
            inputs[k] = np.arange(first, first + table.size, dtype=np.int64).reshape(table.shape)
            first += table.size
        positions = OnnxNode(self, node.proto, node.version, inputs, node.scope)
        positions.attributes = node.attributes
        rule = self.rules.get(node.op)
        assert rule is not None, "operators that move elements have rules"
        elements = np.concatenate([t.astype(object).reshape(-1) for t in tables])
        results = self._by_rule(positions, rule)
        if not all(isinstance(r, np.ndarray) for r in results):
            return None
        return [sizes_of(elements[r], dtypes[0]) for r in results]  # type: ignore[index]

    # Functions and bodies

    def is_weight(self, array: Array) -> bool:
        """Whether an array has enough elements to be a weight of the program."""
        return array.size > SMALL

    def inner_arrays(self, graph: GraphProto) -> Iterator[Array]:
        """The large tensors inside a graph, each read once."""
        tensors = [*graph.initializer]
        for node in graph.node:
            tensors += [a.t for a in node.attribute if a.HasField("t")]
            for inner in graphs_of(node):
                yield from self.inner_arrays(inner)
        for tensor in tensors:
            if prod(tensor.dims) > SMALL:
                yield self.array(tensor)

    def _function(self, function: FunctionProto, node: OnnxNode) -> list[Item]:
        if self._depth > _DEEPEST:
            raise UnsupportedOp(f"{node.op}: functions stand more than {_DEEPEST} deep")
        self._depth += 1
        try:
            outer = {a.name: a for a in function.attribute_proto} | node.attributes
            inputs = [*node.inputs, *[None] * len(function.input)]
            scope: dict[str, Item] = dict(zip(function.input, inputs))  # noqa: B905  # some left out
            versions = {o.domain: o.version for o in function.opset_import}
            versions = {"" if d == "ai.onnx" else d: v for d, v in versions.items()}
            for proto in sorted_nodes(function.node, set(scope)):
                self.node(proto, scope, versions, outer)
            return [scope.get(name) for name in function.output]
        finally:
            self._depth -= 1

    @contextmanager
    def body(self, arrays: Mapping[int, Value]) -> Iterator[None]:
        """Inside, known arrays are the inputs of a body that `arrays` names, or constants."""
        before, self._local = self._local, dict(arrays)
        try:
            yield
        finally:
            self._local = before


def _bytes_of(graph: Graph) -> int:
    """The bytes of all values that a graph of numbers computes."""
    return sum(v.type.size_bytes for node in graph.nodes for v in node.outputs)
