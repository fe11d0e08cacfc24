"""`cond`, `while_loop`, `scan`: control flow that compiled functions have, too.

On arrays they are Python's `if`, `while` and `for`.  While a function is traced each becomes one
node with bodies; what a body reads from around it, cells included, is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_eager.state import state
from byparts_eager.trace import Frame
from byparts_eager.tree import flatten, unflatten
from byparts_graph_ir import ArgumentError, Graph, GraphError, TensorType, Value
from byparts_runtime.arrays.dtypes import numpy_dtype


def cond(
    predicate: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *args: Any
) -> Any:
    """The result of `then(*args)` if the predicate (bool[]) holds, else of `otherwise(*args)`.

    Raises:
        GraphError: traced, the two give trees of different structure.
        ShapeError: traced, they give different types.
    """
    if state.frame is None or not isinstance(predicate, Value) or isinstance(predicate, Array):
        return then(*args) if bool(predicate) else otherwise(*args)
    leaves, structure = flatten(args)
    values = [asarray(v) for v in leaves]
    types = [v.type for v in values]
    branches = []
    for name, function in (("then", then), ("otherwise", otherwise)):
        with _Body(f"cond: {name}", types) as body:
            body.end(function(*unflatten(structure, body.inputs)))
        branches.append(body)
    _check_same("cond: otherwise", branches[1].structure, branches[0].structure)
    outside = _outside(branches)
    graphs = [body.graph(outside) for body in branches]
    outputs = ops.If(*graphs).outputs_of(predicate, *values, *outside)
    return unflatten(branches[0].structure, outputs)


def while_loop(
    condition: Callable[[Any], Any],
    body: Callable[[Any], Any],
    start: Any,
    *,
    max_rounds: Optional[int] = None,
) -> Any:
    """The state after `state = body(state)` as long as `condition(state)` holds.

    Args:
        condition: takes the state, gives a bool[].
        body: takes the state, gives the next one, a tree of the same structure and types.
        start: the first state, a tree of arrays.
        max_rounds: the loop ends after so many rounds, whatever the condition says.

    Raises:
        GraphError, ShapeError: traced, the state changes its structure or types.
    """
    if state.frame is None:
        rounds = 0
        while (max_rounds is None or rounds < max_rounds) and bool(condition(start)):
            start, rounds = body(start), rounds + 1
        return start
    leaves, structure = flatten(start)
    values = [asarray(v) for v in leaves]
    types = [v.type for v in values]
    with _Body("while_loop: condition", types) as test:
        test.end(condition(unflatten(structure, test.inputs)))
    with _Body("while_loop: body", types) as step:
        step.end(body(unflatten(structure, step.inputs)))
    _check_same("while_loop: body", step.structure, structure)
    outside = _outside([test, step])
    op = ops.While(test.graph(outside), step.graph(outside), max_rounds)
    return unflatten(structure, op.outputs_of(*values, *outside))


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    *,
    length: Optional[int] = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """The last carry, and the stacked ys, of `carry, y = f(carry, x)` for each row x of `xs`.

    Args:
        f: takes the carry and a tree of rows, gives the next carry and a tree of rows (or `None`).
        carry: a tree of arrays that keeps its structure and types.
        xs: a tree of arrays of one size along axis 0, or `None` with `length`.
        length: the number of rounds where there are no xs.
        reverse: from the last row to the first; the ys stand where their rows do.

    Raises:
        GraphError, ShapeError: the carry changes, or sizes along axis 0 differ.
    """
    rows, row_structure = flatten(xs)
    starts, structure = flatten(carry)
    sequences = [asarray(v) for v in rows]
    if not sequences and length is None:
        raise ArgumentError("scan: xs has no arrays, so length=... must say how many rounds")
    if state.frame is None:
        return _scan_now(f, carry, sequences, row_structure, length, reverse)
    values = [asarray(v) for v in starts]
    slices = [TensorType(v.type.dtype, (v.type.shape or ())[1:]) for v in sequences]
    k = len(values)
    with _Body("scan: body", [*[v.type for v in values], *slices]) as body:
        given = unflatten(structure, body.inputs[:k]), unflatten(row_structure, body.inputs[k:])
        new, y = _pair(f(*given))
        body.end((new, y))
    _check_same("scan: f", flatten(new)[1], structure)
    outside = _outside([body])
    op = ops.Scan(body.graph(outside), k, len(sequences), None if sequences else length, reverse)
    outputs = op.outputs_of(*values, *sequences, *outside)
    return unflatten(structure, outputs[:k]), unflatten(flatten(y)[1], outputs[k:])


def _scan_now(
    f: Callable[..., Any],
    carry: Any,
    sequences: Sequence[Array],
    structure: Any,
    length: Optional[int],
    reverse: bool,
) -> tuple[Any, Any]:
    counts = {v.shape[0] if v.shape else -1 for v in sequences}
    if len(counts) > 1 or -1 in counts:
        types = ", ".join(str(v.type) for v in sequences)
        raise GraphError(f"scan: rows are along axis 0, and xs are ({types}): sizes differ there")
    count = counts.pop() if counts else length or 0
    if not count:
        return carry, _no_rows(f, carry, sequences, structure)
    ys: list[Any] = [None] * count
    # One op for all rows: the gradient of 64 single rows would be 64 arrays of zeros and a row.
    rows = [ops.unstack(v, 0) for v in sequences]
    for k in range(count):
        i = count - 1 - k if reverse else k
        carry, ys[i] = _pair(f(carry, unflatten(structure, [row[i] for row in rows])))
    leaves = [flatten(y)[0] for y in ys]
    _, shape = flatten(ys[0])
    return carry, unflatten(shape, [ops.stack([asarray(v) for v in c], 0) for c in zip(*leaves)])  # noqa: B905


def _no_rows(f: Callable[..., Any], carry: Any, sequences: Any, structure: Any) -> Any:
    """Rows of size 0: their types come from tracing the function once."""
    with Frame("scan: body") as frame:
        rows = [frame.input(TensorType(v.type.dtype, v.type.dims[1:])) for v in sequences]
        _, y = _pair(f(carry, unflatten(structure, rows)))
    leaves, shape = flatten(y)
    types = [asarray(v).type for v in leaves]
    return unflatten(shape, [_zeros(TensorType(t.dtype, (0, *t.dims))) for t in types])


def _zeros(type: TensorType) -> Array:
    return Array(np.zeros(type.dims, numpy_dtype(type.dtype)))


class _Body:
    """A body that is being traced, as a context.

    Attributes:
        inputs: one for each of the types that it was made with.
        structure: of the tree that it gave.
    """

    def __init__(self, name: str, types: Sequence[TensorType]) -> None:
        self._frame = Frame(name)
        self.inputs = [self._frame.input(t) for t in types]
        self.structure: Any = None
        self._outputs: list[Value] = []

    def __enter__(self) -> _Body:
        self._frame.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._frame.__exit__(*raised)

    def end(self, result: Any) -> None:
        """Note what the function gave."""
        leaves, self.structure = flatten(result)
        self._outputs = [self._frame.capture(asarray(v)) for v in leaves]

    @property
    def outside(self) -> list[Value]:
        """The values from around it that it reads."""
        return [value for _, value in self._frame.captured.values()]

    def graph(self, outside: Sequence[Value]) -> Graph:
        """The closed graph: its inputs, then one for each value of `outside`, read or not."""
        captured = self._frame.captured
        more = [
            captured[id(v)][0] if id(v) in captured else self._frame.input(v.type) for v in outside
        ]
        return self._frame.graph([*self.inputs, *more], self._outputs)


def _pair(result: Any) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise ArgumentError(f"scan: f gave {result!r:.60}; it gives a pair (carry, row or None)")
    carry, row = result
    return carry, row


def _check_same(what: str, structure: Any, wanted: Any) -> None:
    if structure != wanted:
        raise GraphError(f"{what} gives a tree of structure {structure}, and should give {wanted}")


def _outside(bodies: Iterable[_Body]) -> list[Value]:
    """The values from around the bodies that some of them read, each once."""
    values = {id(v): v for body in bodies for v in body.outside}
    return list(values.values())
