"""A backend's kernels against `evaluate`: plain, from strided inputs, and in place.

What a backend lacks is run through the op's decomposition, as legalize would; what has neither is
absent, which is no failure: the table says "-".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.cases import Case
from byparts_conformance.compare import difference
from byparts_conformance.meaning import graph_of
from byparts_graph_ir import Backend, Graph, MissingRule, Node, TensorType, Value
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

OK, VIA, ABSENT = "ok", "via decompose", "-"
SOME = "some"  # of the cases of a column, as a rule of the dtypes, are right, the others absent


class Mismatch(AssertionError):
    """A kernel gave another answer than `evaluate`."""


class Desk:
    """Arrays of a backend's own, in memory of its space, and the way there and back."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._memory: dict[int, Any] = {}  # id of an array -> where it is; keeps both alive
        self._arrays: list[Any] = []

    def place(self, value: Array, t: TensorType) -> Any:
        """An array of the backend with this value."""
        memory = self.backend.space.allocate(max(1, t.size_bytes))
        array = self._keep(memory, self.backend.view(memory, 0, t))
        self.write(array, value)
        return array

    def write(self, array: Any, value: Array) -> None:
        """Give an array that was placed here another value."""
        if value.nbytes:
            data = np.ascontiguousarray(value).tobytes()
            self.backend.space.write(self._memory[id(array)], 0, data)

    def fetch(self, array: Any, t: TensorType) -> Array:
        """Its value, as a NumPy array of our own."""
        self.backend.space.synchronize()
        data = bytes(self.backend.space.read(self._memory[id(array)], 0, t.size_bytes))
        return np.frombuffer(data, numpy_dtype(t.dtype)).reshape(t.dims)

    def strided(self, value: Array, t: TensorType) -> Any:
        """The same value, every second element of a larger array along each axis."""
        wide = TensorType(t.dtype, tuple(2 * d for d in t.dims))
        spread = np.zeros(wide.dims, numpy_dtype(t.dtype))
        index = (slice(None, None, 2),) * len(t.dims)
        spread[index] = value
        return self.place(spread, wide)[index]

    def _keep(self, memory: Any, array: Any) -> Any:
        self._memory[id(array)] = memory
        self._arrays.append(array)
        return array


def check(backend: Backend, case: Case, how: str) -> str:
    """`OK`, `VIA` or `ABSENT`.

    Args:
        backend: whose kernels.
        case: what to run.
        how: "plain", "strided", or "in place" (every pair the op allows, one at a time).

    Raises:
        Mismatch: the answer is wrong, or an input was changed.
        Exception: whatever the kernel raised.
    """
    with within(backend):
        return _check(backend, case, how)


@contextmanager
def within(backend: Backend) -> Iterator[None]:
    """As the runtime binds and runs: silent, since inf and nan are values, and as it wants it."""
    with np.errstate(all="ignore"), (backend.around or nullcontext)():
        yield


def _check(backend: Backend, case: Case, how: str) -> str:
    if not backend.supports(case.op):
        return _through_decomposition(backend, case) if how == "plain" else ABSENT
    try:
        if how == "in place":
            for i, o in case.op.inplace:
                if case.types[i] == case.outputs[o]:
                    _run(backend, case, how, (i, o))
        else:
            _run(backend, case, how, None)
    except MissingRule:
        return _through_decomposition(backend, case) if how == "plain" else ABSENT
    return OK


def cell(outcomes: set[str]) -> str:
    """One word for several cases: what all of them are, or that it depends on the dtype."""
    if ABSENT in outcomes and len(outcomes) > 1:
        return SOME
    return min(outcomes, key=(ABSENT, VIA, OK).index)


def applies(case: Case, how: str) -> bool:
    """Whether there is anything to try."""
    if how == "in place":
        return any(case.types[i] == case.outputs[o] for i, o in case.op.inplace)
    return how == "plain" or any(t.size > 1 for t in case.types)


def _run(backend: Backend, case: Case, how: str, over: tuple[int, int] | None) -> None:
    desk, arrays = Desk(backend), case.arrays()
    place = desk.strided if how == "strided" else desk.place
    inputs = [place(a, t) for a, t in zip(arrays, case.types, strict=True)]
    outputs = [desk.place(rubbish(t), t) for t in case.outputs]
    if over is not None:
        outputs[over[1]] = inputs[over[0]]
    run = backend.bind(graph_of(case).nodes[0], inputs, outputs)
    run()
    run() if over is None else None  # a step runs many times over the same memory
    wants = case.op.evaluate(*arrays)
    for i, (got, want, t) in enumerate(zip(outputs, wants, case.outputs, strict=True)):
        wrong = difference(desk.fetch(got, t), want, t)
        if wrong:
            raise Mismatch(f"{case} {how}: output {i} {wrong}")
    if how == "plain":
        _check_untouched(desk, case, inputs, arrays)


def _check_untouched(
    desk: Desk, case: Case, inputs: Sequence[Any], arrays: Sequence[Array]
) -> None:
    for i, (given, a, t) in enumerate(zip(inputs, arrays, case.types, strict=True)):
        if desk.fetch(given, t).tobytes() != a.tobytes():
            raise Mismatch(f"{case}: the kernel changed its input {i}")


def _through_decomposition(backend: Backend, case: Case) -> str:
    graph = graph_of(case)
    if case.op.decompose(*graph.inputs) is None:
        return ABSENT
    simple = _decomposed(graph, backend)
    desk, arrays = Desk(backend), case.arrays()
    known: dict[Value, Any] = {
        v: desk.place(a, v.type) for v, a in zip(graph.inputs, arrays, strict=True)
    }
    for node in simple.nodes:
        outputs = [desk.place(rubbish(v.type), v.type) for v in node.outputs]
        known.update(zip(node.outputs, outputs, strict=True))
        try:
            backend.bind(node, [known[v] for v in node.inputs], outputs)()
        except MissingRule:
            return ABSENT
    for i, (v, want) in enumerate(zip(simple.outputs, case.op.evaluate(*arrays), strict=True)):
        wrong = difference(desk.fetch(known[v], v.type), want, case.outputs[i])
        if wrong:
            raise Mismatch(f"{case} decomposed: output {i} {wrong}")
    return VIA


def _decomposed(graph: Graph, backend: Backend) -> Graph:
    """Decompose what the backend lacks, until nothing changes."""

    def rule(node: Node) -> tuple[Value, ...] | None:
        return None if backend.supports(node.op) else node.op.decompose(*node.inputs)

    while True:
        simpler = graph.rewrite(rule)
        if simpler == graph:
            return graph
        graph = simpler


def rubbish(t: TensorType) -> Array:
    """What lies in memory before a kernel writes: never zeros, so that a missing write shows."""
    return np.full(t.dims, 77).astype(numpy_dtype(t.dtype))
