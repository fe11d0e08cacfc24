"""A model of an ONNX file as a graph of standard ops, with its weights beside it.

    imported = from_onnx("model.onnx")
    (y,) = evaluate(imported.graph, x, *imported.weights.values())

Shapes that the file declares for anything but inputs are not looked at: byparts infers its own.
Open dimensions stay names, and one graph serves every size.  Where the elements of an input decide
a shape, or a named size decides what is computed, `feed` gives an example: the program is then that
of those elements and sizes, and `notes` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from byparts_frontend_onnx.dimensions import Dimensions, replaced, with_own_names
from byparts_frontend_onnx.errors import Undetermined, UnsupportedOp
from byparts_frontend_onnx.load import Source, load
from byparts_frontend_onnx.node import Item
from byparts_frontend_onnx.rules import Rules, rules
from byparts_frontend_onnx.support import check_supported
from byparts_frontend_onnx.tensors import OURS, Tensors, dtype_of
from byparts_frontend_onnx.walk import Walk
from byparts_graph_ir import (
    Dimension,
    Graph,
    GraphError,
    Input,
    TensorType,
    Value,
    add_note,
)
from byparts_graph_ir.contract import checked
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Imported:
    """A program and its weights.

    Attributes:
        graph: from the user's inputs, then the weights, to the user's outputs.
        weights: by the names of the file, in the order of the graph's inputs.
        inputs: names of the user's inputs.
        outputs: names of the user's outputs.
        dimensions: names of dimensions in the file -> in the graph.
        values: inputs whose elements are built in -> these.
        sizes: names of dimensions that are built in -> their numbers.
        notes: sentences about what was made of the file.
    """

    graph: Graph
    weights: dict[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dimensions: Mapping[str, str]
    values: Mapping[str, Array]
    sizes: Mapping[str, int]
    notes: tuple[str, ...]

    def explain(self) -> str:
        """Sentences: inputs, outputs, how much there is of nodes and weights, and the notes."""
        first = len(self.inputs)
        given = zip(self.inputs, self.graph.inputs[:first], strict=True)
        made = zip(self.outputs, self.graph.outputs, strict=True)
        total = sum(a.nbytes for a in self.weights.values())
        return "\n".join(
            [
                *(f"input {n}: {v.type}" for n, v in given),
                *(f"output {n}: {v.type}" for n, v in made),
                f"{len(self.graph.nodes)} nodes, {len(self.weights)} weights of {total} bytes",
                *self.notes,
            ]
        )


@checked
def from_onnx(
    source: Source,
    *,
    feed: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    seed: int | None = None,
    rules: Rules = rules,
) -> Imported:
    """The graph and the weights of an ONNX model.

    Args:
        source: the path of a file, its bytes, or a `ModelProto`.
        feed: name of an input -> an example; built in where, and only where, its elements or its
            sizes decide shapes.
        values: name of an input -> its elements, which are built in.
        sizes: name of a dimension, as in `Imported.dimensions`, -> its number.
        seed: of random numbers; a model that draws some is refused without one.
        rules: what is made of each operator.

    Raises:
        UnsupportedOp: operators without a rule; all are named, with their counts and nodes.
        Undetermined: an input or a named size decides a shape, and there is no feed.
        FormatError: this is no model, or a part of it is not what it should be.
    """
    import byparts_frontend_onnx.all_rules  # noqa: F401  # registers them, when first needed

    model, path = load(source)
    versions = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}
    functions = {(f.domain, f.name): f for f in model.functions}
    check_supported(model, versions, functions, rules)
    feed = {name: np.asarray(a) for name, a in (feed or {}).items()}
    known = {name: np.asarray(a) for name, a in (values or {}).items()}
    numbers = dict(sizes or {})
    tensors = Tensors(path)
    while True:
        walk = Walk(versions, functions, rules, tensors, seed)
        interface = _Interface(model, feed, known, numbers)
        try:
            return _imported(model, walk, interface, known, numbers)
        except Undetermined as error:
            if not _fixed(error, interface, feed, known, numbers):
                raise add_note(error, _advice(error)) from None


class _Interface:
    """The inputs of a model.

    Attributes:
        inputs: name -> input of the graph.
        dimensions: the names in their shapes.
        sizes: name of a dimension -> its number in the feed.
    """

    def __init__(
        self,
        model: ModelProto,
        feed: Mapping[str, Array],
        known: Mapping[str, Array],
        numbers: Mapping[str, int],
    ) -> None:
        self.dimensions = Dimensions()
        graph = model.graph
        given = {t.name for t in graph.initializer} | {s.values.name for s in
                                                       graph.sparse_initializer}  # fmt: skip
        protos = {i.name: i for i in graph.input if i.name not in given}
        unknown = sorted({*known} - {i.name for i in graph.input})
        if unknown:
            raise GraphError(f"values: the model has no input {unknown[0]!r}; it has "
                             f"{', '.join(protos)}")  # fmt: skip
        kinds = {n: _tensor_type(i) for n, i in protos.items() if n not in known}
        shapes = {n: self._shape(n, kind, feed) for n, kind in kinds.items()}
        shapes = {n: list(s) for n, s in with_own_names(shapes).items()}
        self.sizes = {
            d: size
            for n, shape in shapes.items()
            if n in feed
            for d, size in zip(shape, feed[n].shape, strict=False)
            if isinstance(d, str) and d.isidentifier()
        }
        self.inputs = {
            n: Input(TensorType(dtype_of(kinds[n].elem_type), replaced(n, shape, numbers)), None, n)
            for n, shape in shapes.items()
        }

    def _shape(self, name: str, kind: Any, feed: Mapping[str, Array]) -> list[Dimension]:
        if kind.HasField("shape"):
            return self.dimensions.shape(name, kind.shape.dim)
        if name not in feed:
            raise GraphError(f"input {name!r} has no rank in the file; give a feed for it, as in "
                             f"from_onnx(model, feed={{{name!r}: x}})")  # fmt: skip
        return [self.dimensions.named(f"{name}_{axis}") for axis in range(feed[name].ndim)]


def _tensor_type(proto: Any) -> Any:
    kind = proto.type.WhichOneof("value")
    if kind == "optional_type" and proto.type.optional_type.elem_type.HasField("tensor_type"):
        return proto.type.optional_type.elem_type.tensor_type
    if kind != "tensor_type":
        what = str(kind or "nothing").replace("_type", "")
        raise UnsupportedOp(f"input {proto.name!r} is a {what}; only tensors are imported")
    return proto.type.tensor_type


def _imported(
    model: ModelProto,
    walk: Walk,
    interface: _Interface,
    known: Mapping[str, Array],
    numbers: Mapping[str, int],
) -> Imported:
    scope: dict[str, Item] = {}
    kinds = {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    for name, array in known.items():
        declared = OURS.get(kinds[name])
        walk.bind(scope, name, array if declared is None else array.astype(numpy_dtype(declared)))
    scope |= interface.inputs
    results = walk.graph(model.graph, scope, keep=frozenset(known))
    outputs = [walk.value(r) for r in results]
    reached = _reached(outputs)
    weights = {v: w for v, w in walk.weights.items() if v in reached}
    names = _unique([name for name, _ in weights.values()], set(interface.inputs))
    for name in known:
        walk.note(f"input {name!r} is built in: its elements decide shapes")
    for name, size in numbers.items():
        walk.note(f"size {name!r} is built in as {size}")
    return Imported(
        Graph.of([*interface.inputs.values(), *weights], outputs),
        {name: array for name, (_, array) in zip(names, weights.values(), strict=True)},
        tuple(interface.inputs),
        tuple(o.name for o in model.graph.output),
        dict(interface.dimensions.names),
        dict(known),
        dict(numbers),
        tuple(walk.notes),
    )


def _reached(outputs: list[Value]) -> set[Value]:
    """All values that outputs depend on."""
    seen, waiting = set(outputs), list(outputs)
    while waiting:
        v = waiting.pop()
        for x in v.node.inputs if v.node is not None else ():
            if x not in seen:
                seen.add(x)
                waiting.append(x)
    return seen


def _unique(names: list[str], taken: set[str]) -> list[str]:
    """Names that differ: "w", "w_2"."""
    made: list[str] = []
    for name in names:
        other, i = name, 1
        while other in taken:
            i += 1
            other = f"{name}_{i}"
        taken.add(other)
        made.append(other)
    return made


def _fixed(
    error: Undetermined,
    interface: _Interface,
    feed: Mapping[str, Array],
    known: dict[str, Array],
    numbers: dict[str, int],
) -> bool:
    """Build in what an error names, from the feed; whether there was anything to build in."""
    inputs = {n: feed[n] for n in error.inputs if n in feed and n not in known}
    wanted = error.sizes or (() if error.inputs else tuple(interface.sizes))
    names = {n: interface.sizes[n] for n in wanted if n in interface.sizes and n not in numbers}
    known |= inputs
    numbers |= names
    return bool(inputs or names)


def _advice(error: Undetermined) -> str:
    if error.inputs:
        return f"give an example: from_onnx(model, feed={{{error.inputs[0]!r}: x}})"
    if error.sizes:
        return f"give a number: from_onnx(model, sizes={{{error.sizes[0]!r}: 1}})"
    return "the shape is known only when the model runs"
