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
from byparts_conformance.compare import apart, difference, flushed, named
from byparts_conformance.meaning import graph_of
from byparts_graph_ir import ArgumentError, Backend, Graph, MissingRule, Node, TensorType, Value
from byparts_graph_ir.contract import checked
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

# Memory around an array, filled with bytes that are NaN for floats, -1 for integers: what a kernel
# reads or writes beyond its arrays shows.
MARGIN, UNWRITTEN = 64, b"\xff"

OK, VIA, ABSENT = "ok", "via decompose", "-"
WAYS = ("plain", "strided", "in place")  # to run a case
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
        """An array of the backend with this value, and a margin before and behind it."""
        memory = self.backend.space.allocate(t.size_bytes + 2 * MARGIN)
        self.backend.space.write(memory, 0, UNWRITTEN * (t.size_bytes + 2 * MARGIN))
        array = self._keep(memory, self.backend.view(memory, MARGIN, t))
        self.write(array, value)
        return array

    def write(self, array: Any, value: Array) -> None:
        """Give an array that was placed here another value."""
        if value.nbytes:
            data = np.ascontiguousarray(value).tobytes()
            self.backend.space.write(self._memory[id(array)], MARGIN, data)

    def fetch(self, array: Any, t: TensorType) -> Array:
        """Its value, as a NumPy array of our own."""
        self.backend.space.synchronize()
        data = bytes(self.backend.space.read(self._memory[id(array)], MARGIN, t.size_bytes))
        return np.frombuffer(data, numpy_dtype(t.dtype)).reshape(t.dims)

    def overrun(self, array: Any, t: TensorType) -> str:
        """Which bytes around the array were written, or ""."""
        self.backend.space.synchronize()
        size, memory = t.size_bytes, self._memory[id(array)]
        for where, start in (("before", 0), ("behind", MARGIN + size)):
            data = bytes(self.backend.space.read(memory, start, MARGIN))
            written = [i for i in range(MARGIN) if data[i : i + 1] != UNWRITTEN]
            if written:
                at = MARGIN - written[0] if where == "before" else written[0]
                return f"was written {where} its memory, {at} bytes away from it"
        return ""

    def strided(self, value: Array, t: TensorType) -> Any:
        """The same value, every second element of a larger array along each axis."""
        wide = TensorType(t.dtype, tuple(2 * d for d in t.dims))
        spread = np.frombuffer(UNWRITTEN * wide.size_bytes, numpy_dtype(t.dtype)).copy()
        spread = spread.reshape(wide.dims)
        index = (slice(None, None, 2),) * len(t.dims)
        spread[index] = value
        return self.place(spread, wide)[index]

    def _keep(self, memory: Any, array: Any) -> Any:
        self._memory[id(array)] = memory
        self._arrays.append(array)
        return array


@checked
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
    if how not in WAYS:
        raise ArgumentError(f"check: how is {how!r}; it is one of {', '.join(WAYS)}")
    if not backend.supports(case.op):
        return _through_decomposition(backend, case) if how == "plain" else ABSENT
    try:
        for over in case.op.inplace if how == "in place" else (None,):
            if over is None or case.types[over[0]] == case.outputs[over[1]]:
                _run(backend, case, how, over)
    except MissingRule:
        return _through_decomposition(backend, case) if how == "plain" else ABSENT
    return OK


@contextmanager
def within(backend: Backend) -> Iterator[None]:
    """As the runtime binds and runs: silent, since inf and nan are values, and as it wants it."""
    with np.errstate(all="ignore"), (backend.around or nullcontext)():
        yield


def cell(outcomes: set[str]) -> str:
    """One word for several cases: what all of them are, or that it depends on the dtype."""
    if ABSENT in outcomes and len(outcomes) > 1:
        return SOME
    return min(outcomes, key=(ABSENT, VIA, OK).index)


def runs_of(cases: Sequence[Case], column: str) -> list[tuple[Case, str]]:
    """What a column of the table tries: cases, and how each is run.

    Long arrays are also read with strides and written over; where only some of the ways are
    possible, e.g. a backend decomposes the op, those are tried that are.
    """
    if column in ("strided", "in place"):
        runs = [(c, column) for c in cases if c.column not in ("edges", "long")]
    else:
        ways = WAYS if column == "long" else ("plain",)
        runs = [(c, how) for c in cases if c.column == column for how in ways]
    return [(c, how) for c, how in runs if applies(c, how)]


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
    judge = Judge(case, arrays)
    with within(backend):
        run = backend.bind(graph_of(case).nodes[0], inputs, outputs)
        run()
        run() if over is None else None  # a step runs many times over the same memory
    for i, (got, t) in enumerate(zip(outputs, case.outputs, strict=True)):
        wrong = judge.wrong(i, desk.fetch(got, t)) or desk.overrun(got, t)
        if wrong:
            raise Mismatch(f"{case} {how}: output {i} {wrong}")
    if how == "plain":
        _check_untouched(desk, case, inputs, arrays)


class Judge:
    """What `evaluate` says of some inputs, and whether an answer is as good.

    A device may take numbers below the smallest normal one for 0 (torch does so while a program
    runs, unless asked not to): an element is also right if `evaluate` gives it for such inputs.
    Made outside `within`: a backend may set the processor to that, for NumPy as well.
    """

    def __init__(self, case: Case, arrays: Sequence[Array]) -> None:
        self.case, self._measure = case, case.measure(arrays)
        with np.errstate(all="ignore"):
            self.wants = case.op.evaluate(*arrays)
            self._flushed: Sequence[Array] | None = None
            if case.values in ("combinations", "tiny"):
                zeros = [flushed(a, t) for a, t in zip(arrays, case.types, strict=True)]
                self._flushed = case.op.evaluate(*zeros)

    def wrong(self, i: int, got: Array) -> str:
        """What is wrong with output i, or ""."""
        want, t = self.wants[i], self.case.outputs[i]
        said = difference(got, want, t, self._measure)
        if not said or self._flushed is None or got.shape != want.shape or got.dtype != want.dtype:
            return said
        wrong = apart(got, want, t, self._measure)
        return named(got, want, wrong & apart(got, self._flushed[i], t, self._measure))


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
    judge = Judge(case, arrays)
    known: dict[Value, Any] = {
        v: desk.place(a, v.type) for v, a in zip(graph.inputs, arrays, strict=True)
    }
    for node in simple.nodes:
        outputs = [desk.place(rubbish(v.type), v.type) for v in node.outputs]
        known.update(zip(node.outputs, outputs, strict=True))
        try:
            with within(backend):
                backend.bind(node, [known[v] for v in node.inputs], outputs)()
        except MissingRule:
            return ABSENT
    for i, v in enumerate(simple.outputs):
        if wrong := judge.wrong(i, desk.fetch(known[v], v.type)):
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
