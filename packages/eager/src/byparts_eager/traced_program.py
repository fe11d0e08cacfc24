"""A traced function, built: its graph, its variables, and how a call reaches the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from byparts_eager.array import Array, array_of, asarray
from byparts_eager.cell import Cell, changes
from byparts_eager.kind import Kind, device_backend, kind_of
from byparts_eager.trace import Frame, depends_on
from byparts_eager.tree import flatten, unflatten
from byparts_graph_ir import (
    Graph,
    GraphError,
    TensorType,
    Value,
    compatible,
    infer_inputs,
    producers,
    unify,
)
from byparts_runtime import Variable, build
from byparts_runtime.arrays.dtypes import type_of


class TracedProgram:
    """The program of a traced function for arguments of some types.

    Attributes:
        types: of the leaves of the arguments; some sizes may have names.
        program: what `build` made.
        checked_at: the number of changes of plain fields when it was last known to be true.
    """

    def __init__(
        self,
        types: Sequence[TensorType],
        frame: Frame,
        inputs: Sequence[Value],
        result: Any,
        options: Mapping[str, Any],
    ) -> None:
        self.types, self._things = tuple(types), list(frame.things.values())
        self.checked_at = changes()
        leaves, self._structure = flatten(result)
        outputs = [frame.capture(v if isinstance(v, Value) else asarray(v)) for v in leaves]
        self._written = [c for c, v in frame.values.items() if v is not frame.inputs.get(c)]
        cells = dict.fromkeys([*frame.inputs, *self._written])
        olds = [frame.inputs[c] if c in frame.inputs else frame.input(c.type) for c in cells]
        captured = list(frame.captured.values())
        news = [frame.values[c] for c in self._written]
        _check_types(self._written, news)
        graph = frame.graph([*inputs, *olds, *[x for x, _ in captured]], [*outputs, *news])
        variables = {c: c.variable() for c in cells}
        fixed = [Variable("captured", array.numpy()) for _, array in captured]  # type: ignore[attr-defined]
        bound = zip(graph.inputs[len(inputs) :], [*variables.values(), *fixed], strict=True)
        self.program = build(
            graph,
            variables=dict(bound),
            updates=[variables[c] for c in self._written],
            **options,
        )
        self._kinds = [_kind_of(v.type) for v in outputs]

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """Run on these leaves; the tree of results."""
        fetches = self.program(*[v.data if v.__class__ is Array else v for v in leaves])
        for cell in self._written:
            cell.written()
        arrays = [
            array_of(kind_of(type_of(y), _HOST) if kind is None else kind, y)
            for kind, y in zip(self._kinds, fetches, strict=True)
        ]
        if self._structure == "leaf":
            return arrays[0]
        return unflatten(self._structure, arrays)

    def still_holds(self) -> bool:
        """Whether the plain fields that it was traced with are what they were."""
        if self.checked_at != changes():
            now = changes()
            if any(thing.fingerprint() != before for thing, before in self._things):
                return False
            self.checked_at = now
        return True

    def takes(self, types: Sequence[TensorType]) -> bool:
        """Whether leaves of these types are of its types, each name being one number."""
        names: dict[str, Any] = {}
        for own, type in zip(self.types, types, strict=True):
            if own.dtype != type.dtype or own.rank != type.rank:
                return False
            for d, n in zip(own.shape or (), type.dims, strict=True):
                if (names.setdefault(d, n) if isinstance(d, str) else d) != n:
                    return False
        return True


_HOST = device_backend("numpy")


def _kind_of(type: TensorType) -> Kind | None:
    """The kind of a result; `None` where its sizes differ from call to call."""
    return kind_of(type, _HOST) if type.static else None


def trace(
    function: Callable[..., Any],
    types: Sequence[TensorType],
    structure: Any,
    options: Mapping[str, Any],
) -> TracedProgram:
    """Trace a function for leaves of these types, and build its program.

    Args:
        function: takes the arguments that `structure` describes: a pair (args, keywords).
        types: of the leaves.
        structure: as `flatten` gave it.
        options: of `build`.
    """
    frame, inputs, result = find_shapes(function, types, structure)
    return TracedProgram(types, frame, inputs, result, options)


def find_shapes(
    function: Callable[..., Any], types: Sequence[TensorType], structure: Any
) -> tuple[Frame, list[Value], Any]:
    """Trace a function; cells whose shapes are not known get them first, from what it does.

    Returns:
        The frame of the last tracing, the inputs that stood for the leaves, and the result.
    """
    while True:
        with Frame() as frame:
            inputs = [frame.input(t, f"argument{i}") for i, t in enumerate(types)]
            args, keywords = unflatten(structure, inputs)
            for thing in (*args, *keywords.values()):
                if hasattr(thing, "fingerprint"):  # a module, whose fields the function may read
                    depends_on(thing)
            result = function(*args, **keywords)
        unknown = [c for c in frame.inputs if c.is_open]
        if not unknown:
            return frame, inputs, result
        _fix(unknown, frame, result)


def _fix(unknown: Sequence[Cell], frame: Frame, result: Any) -> None:
    """Give cells the types that the ops which read them determine.

    Raises:
        GraphError: nothing tells the type of one.
    """
    ends = [v for v in flatten(result)[0] if isinstance(v, Value)] + list(frame.values.values())
    ends = [v for v in ends if v.node is not None]
    leaves = [v for n in producers(ends) for v in n.inputs if v.node is None]
    leaves = list(dict.fromkeys([*leaves, *[frame.inputs[c] for c in unknown]]))
    types = dict(zip(leaves, infer_inputs(Graph.of(leaves, ends)), strict=True))
    for cell in unknown:
        known, end = types[frame.inputs[cell]], frame.values[cell].type
        if not known.static and end.static and compatible(known, end):
            known = unify(known, end)  # assigned: the new value is of the same type
        if not known.static:
            raise GraphError(
                f"cell {cell.name!r} is {known}: nothing that reads it tells its shape; give the "
                "sizes when it is made"
            )
        cell.fix(known)


def _check_types(cells: Sequence[Cell], values: Sequence[Value]) -> None:
    for cell, value in zip(cells, values, strict=True):
        if not compatible(value.type, cell.type):
            raise GraphError(f"cell {cell.name!r} is {cell.type}, and cannot become {value.type}")


__all__ = ["Array", "TracedProgram", "find_shapes", "trace"]
