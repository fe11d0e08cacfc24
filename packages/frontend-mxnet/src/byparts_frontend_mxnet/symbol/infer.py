"""Shapes and dtypes of all outputs, from those of some arguments; and running the ops in order.

Ops are run on values without numbers, so the types of outputs are those of the graph.  What an op
says of the inputs that it makes by itself (`OpEntry.shapes`) gives the shapes of weights.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from byparts_eager.trace import Frame
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.ops.entry import dtype_name
from byparts_frontend_mxnet.symbol.symbol import Node, Place, Symbol
from byparts_graph_ir import GraphError, TensorType, add_note

Dims = tuple[int, ...]
_PAIRS = (("lhs", "rhs"), ("data", "label"))  # inputs of one shape, but for these ops:
_UNLIKE = ("dot", "batch_dot", "SoftmaxOutput")


def run_node(node: Node, values: dict[Place, Any]) -> dict[Node, Any]:
    """Run the op of a node on `values`, and put its outputs there; the new auxiliary states.

    Raises:
        GraphError: the inputs do not fit; a note names the node.
    """
    assert node.entry is not None, "a variable has its value"
    inputs = [values[p] for p in node.inputs]
    try:
        results = node.entry(inputs, {} if node.op == "Custom" else node.parameters)
    except GraphError as error:
        named = zip(node.input_names, inputs, strict=True)
        add_note(
            error, f"in {node.op} {node.name!r} of {', '.join(f'{k}: {x.type}' for k, x in named)}"
        )
        raise
    count = len(node.output_names)
    values.update({(node, i): y for i, y in enumerate(results[:count])})
    return dict(zip(node.aux, results[count:], strict=False))


class Inferred:
    """Types of the places of a symbol, as far as they follow.

    Args:
        symbol: whose.
        shapes: of arguments and auxiliary states, by name; 0 stands for an unknown size.
        dtypes: likewise; f32 by default.

    Raises:
        MXNetError: a shape is given for a variable that is not there, or shapes do not fit.
    """

    def __init__(
        self, symbol: Symbol, shapes: Mapping[str, Dims], dtypes: Optional[Mapping[str, Any]] = None
    ) -> None:
        self._nodes, self._dtypes = symbol.nodes(), dict(dtypes or {})
        variables = [n for n in self._nodes if n.entry is None]
        for name in shapes:
            if name not in (names := [v.name for v in variables]):
                raise unknown("the symbol, whose shapes are inferred,", name, names)
        self._values: dict[Place, Any] = {}
        self._hinted: set[Node] = set()
        self._expected: dict[Place, Dims] = {}  # shapes that outputs must have
        with Frame() as self._frame:
            for v in variables:
                said = v.attributes.get("__shape__")
                self._know(
                    v, shapes.get(v.name) or (literal_eval(said) if said else ()), v.name in shapes
                )
            before = -1
            while before < len(self._values):
                before = len(self._values)
                for n in self._nodes:
                    if n.entry is not None and (n, 0) not in self._values:
                        self._step(n)

    def type(self, place: Place) -> Optional[TensorType]:
        """The type of an output, if it is known."""
        value = self._values.get(place)
        return None if value is None else value.type

    def shape(self, place: Place) -> Dims:
        """The shape of an output; () if it is not known."""
        type = self.type(place)
        return () if type is None else type.dims

    def missing(self) -> list[str]:
        """Names of the variables without a shape that no op gives them."""
        free = [n for n in self._nodes if n.entry is None and (n, 0) not in self._values]
        return [n.name for n in free if n not in self._hinted] or [n.name for n in free]

    def _know(self, variable: Node, dims: Dims, given: bool = False) -> None:
        """Note the shape of a variable, if it is whole."""
        if (given or dims) and all(dims):
            said = variable.attributes.get("__dtype__")
            dtype = self._dtypes.get(variable.name, said if said else np.float32)
            type = TensorType(dtype_name(dtype), tuple(dims))
            self._values[variable, 0] = self._frame.input(type, variable.name)

    def _step(self, node: Node) -> None:
        """Run a node if its inputs are known; else let it tell what it can of its inputs."""
        assert node.entry is not None, "an op"
        named = dict(zip(node.input_names, node.inputs, strict=True))
        first = self._values.get(node.inputs[0]) if node.inputs else None
        hints = self._hints(node, named)
        for key, dims in hints.items():
            place = named.get(key)
            if place is None or place[0].entry is not None:
                continue
            known = self.shape(place)
            if place not in self._values:
                self._know(place[0], tuple(dims))
            elif (
                first is not None
                and known != tuple(dims)
                and place != node.inputs[0]
                and key != "label"
            ):
                raise MXNetError(
                    f"{node.op} {node.name!r}: {place[0].name} has shape {known}, and with "
                    f"{node.input_names[0]} of shape {first.type.dims} it must be {tuple(dims)}"
                )
        if all(p in self._values for p in node.inputs):
            run_node(node, self._values)

    def _hints(self, node: Node, named: Mapping[str, Place]) -> Mapping[str, Sequence[int]]:
        """Shapes of inputs by name, as the op tells them."""
        entry, first = node.entry, self.type(node.inputs[0]) if node.inputs else None
        assert entry is not None, "an op"
        hints: dict[str, Any] = {}
        if first is not None:
            hints.update(entry.shapes(first.dims, node.parameters))
        automatic = set(named) - {node.input_names[0]} if node.inputs else set()
        self._hinted |= {
            named[k][0] for k in automatic & {*hints, "weight", "bias", "label", *entry.aux}
        }
        for pair in _PAIRS:
            if tuple(named) == pair and node.op not in _UNLIKE and "broadcast" not in node.op:
                for a, b in (pair, pair[::-1]):
                    if (known := self.type(named[a])) is not None and named[b] not in self._values:
                        hints.setdefault(b, known.dims)
                        self._expected[named[b]] = known.dims
        return hints | self._backwards(node)

    def _backwards(self, node: Node) -> dict[str, Dims]:
        """The shape of the data of a FullyConnected that is known but for the batch, a state."""
        output, data = self._expected.get((node, 0)), node.inputs[0][0] if node.inputs else node
        said = data.attributes.get("__shape__")
        if node.op != "FullyConnected" or output is None or said is None:
            return {}
        return {"data": (output[0], *literal_eval(said)[1:])}


def infer_dtypes(symbol: Symbol, given: Mapping[str, Any]) -> dict[Node, Any]:
    """The NumPy dtype of each node: of an op its parameter `dtype`, or that of its first input."""
    first = np.dtype(next(iter(given.values()), np.float32)).type
    found: dict[Node, Any] = {}
    for n in symbol.nodes():
        said = n.attributes.get("__dtype__") if n.entry is None else n.parameters.get("dtype")
        if n.entry is None:
            found[n] = np.dtype(given.get(n.name, said or first)).type
        else:
            found[n] = np.dtype(said).type if said else found[n.inputs[0][0]] if n.inputs else first
    return found


def infer_shape(self: Symbol, *args: Any, **shapes: Any) -> tuple[Any, Any, Any]:
    """Shapes of arguments, outputs and auxiliary states; three `None` if some are not known.

    Args:
        self: whose.
        args: shapes of the arguments, in order; or
        shapes: by name.

    Raises:
        MXNetError: shapes do not fit; an op is named.
    """
    known = infer_shape_partial(self, *args, **shapes)
    return (None, None, None) if any(s == () for part in known for s in part) else known


def infer_shape_partial(self: Symbol, *args: Any, **shapes: Any) -> tuple[Any, Any, Any]:
    """Likewise, with () for those that are not known."""
    given = {**dict(zip(self.list_arguments(), args, strict=False)), **shapes}
    inferred = Inferred(self, {k: tuple(v) for k, v in given.items() if v is not None})
    a, b, c = ([inferred.shape(p) for p in part] for part in _parts(self))
    return a, b, c


def infer_type(self: Symbol, *args: Any, **dtypes: Any) -> tuple[Any, Any, Any]:
    """NumPy dtypes of arguments, outputs and auxiliary states."""
    given = {**dict(zip(self.list_arguments(), args, strict=False)), **dtypes}
    dtype = infer_dtypes(self, {k: v for k, v in given.items() if v is not None})
    a, b, c = ([dtype[n] for n, _ in part] for part in _parts(self))
    return a, b, c


def _parts(symbol: Symbol) -> tuple[list[Place], Sequence[Place], list[Place]]:
    """The places of arguments, outputs and auxiliary states."""
    arguments, aux = symbol.variables()
    return [(n, 0) for n in arguments], symbol.places, [(n, 0) for n in aux]


Symbol.infer_shape, Symbol.infer_shape_partial = infer_shape, infer_shape_partial
Symbol.infer_type = infer_type
