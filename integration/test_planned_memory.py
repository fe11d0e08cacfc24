"""Random programs in real bytes: ordered, partly computed twice, planned, and read where they lie.

Each value is read from its place in memory right when a node needs it, and written there right
after, so whatever a plan gets wrong shows in the bits.  Kernels are the ops' own `evaluate`, which
knows nothing of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, booleans, data, integers, sampled_from, sets
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph, Input, Node, TensorType, Value, verify
from byparts_memplan import Plan, check_plan, order, peak_bytes, plan
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_recompute import rematerialize
from byparts_runtime import build

Array = NDArray[Any]
SPACES: tuple[Callable[[Value], str] | None, ...] = (
    *(None, None, lambda v: "near" if v.type.rank % 2 else "far"),
    lambda v: v.type.dtype,
)


@settings(max_examples=60, deadline=None)
@given(graphs(), integers(0, 9), data())
def test_planned_memory_holds_the_same_bits(graph: Graph, seed: int, data: DataObject) -> None:
    """Values, what is printed, and inputs outside that nobody may change."""
    outside = frozenset(data.draw(sets(sampled_from(range(len(graph.inputs))))))
    graph, donate = trained(graph, sorted(outside))
    better = rewritten(graph, outside, data)
    made = plan(
        better,
        external=outside,
        donate=donate if data.draw(booleans()) else None,
        alignment=data.draw(sampled_from((8, 64))),
        space=data.draw(sampled_from(SPACES)),
    )
    check_plan(better, made)
    arrays = arguments(graph, seed)
    memory = Memory(better, made, arrays)

    wants, said = heard(lambda: evaluate(graph, *arrays))
    gots, told = heard(memory.run)
    assert told == said
    for v, got, want in zip(graph.outputs, gots, wants, strict=True):
        assert got.tobytes() == np.asarray(want, numpy_dtype(v.type.dtype)).tobytes(), f"{better}"
    for k in outside - dict(made.donated).keys():
        assert memory.outside[k].tobytes() == arrays[k].tobytes()


def trained(graph: Graph, variables: Sequence[int]) -> tuple[Graph, dict[int, int]]:
    """Goes back over all numbers as a backward pass does, and gives each variable a new value."""
    outputs, donate = list(graph.outputs), {}
    for kind in dict.fromkeys([v.type for v in graph.values if v.type.dtype != "bool"]):
        *others, back = [v for v in graph.values if v.type == kind]
        for v in reversed(others):
            back = ops.maximum(ops.neg(back), v)
        outputs.append(back)
        for k in variables:
            if graph.inputs[k].type == kind:
                donate[k] = len(outputs)
                outputs.append(ops.minimum(graph.inputs[k], back))
    made = [v for n in graph.nodes for v in n.outputs]
    return Graph.of(graph.inputs, outputs, order=made), donate


def rewritten(graph: Graph, outside: frozenset[int], data: DataObject) -> Graph:
    """In another order, and with some work done twice; or as it is."""
    if data.draw(booleans()):
        graph = verify(order(graph, external=outside))
    if data.draw(booleans()):
        before = peak_bytes(graph, outside)
        ways = {"effort": 0.05, "barriers": data.draw(booleans()), "external": outside}
        graph = verify(rematerialize(graph, max_extra_cost=0.5, **ways))  # type: ignore[arg-type]
        assert peak_bytes(graph, outside) <= before
    return graph


def heard(run: Callable[[], tuple[Array, ...]]) -> tuple[tuple[Array, ...], str]:
    """What it gives, and what it prints."""
    with redirect_stdout(StringIO()) as said:
        return run(), said.getvalue()


class Memory:
    """Arenas by space and inputs outside them, full of rubbish but for the inputs."""

    def __init__(self, graph: Graph, made: Plan, arrays: tuple[Array, ...]) -> None:
        self.graph, self.made = graph, made
        self.arenas = {s: np.full(n, 0xA5, np.uint8) for s, n in made.arenas.items()}
        sizes = {k: graph.inputs[k].type.size_bytes for k in made.external}
        self.outside = {k: np.full(size, 0xA5, np.uint8) for k, size in sizes.items()}
        for v, x in zip(graph.inputs, arrays, strict=True):
            self._write(v, x)

    def run(self) -> tuple[Array, ...]:
        """The outputs, as the caller finds them after the last node."""
        for node in self.graph.nodes:
            results = node.op.evaluate(*[self._read(v) for v in node.inputs])
            views = self._views(node)
            for o, (v, y) in enumerate(zip(node.outputs, results, strict=True)):
                if o not in views:
                    self._write(v, y)
        return tuple([self._read(v) for v in self.graph.outputs])

    def _views(self, node: Node) -> set[int]:
        """Outputs that are there already, as bytes of an input."""
        ids, decisions = self.graph.ids, self.made.decisions
        there = {d.target for d in decisions if d.kind == "view" and d.taken}
        return {o for o, v in enumerate(node.outputs) if ids[v] in there}

    def _bytes(self, v: Value) -> NDArray[np.uint8]:
        at = self.made.locations[self.graph.ids[v]]
        room = self.arenas[at.space] if at.root is None else self.outside[at.root]
        return room[at.offset : at.offset + v.type.size_bytes]

    def _read(self, v: Value) -> Array:
        flat = np.frombuffer(self._bytes(v).tobytes(), numpy_dtype(v.type.dtype))
        return flat.reshape(v.type.dims)

    def _write(self, v: Value, x: object) -> None:
        whole = np.ascontiguousarray(x, numpy_dtype(v.type.dtype))
        self._bytes(v)[:] = np.frombuffer(whole.tobytes(), np.uint8)


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_a_program_is_bound_to_arrays_where_its_fetch_is_large(backends: tuple[str, ...]) -> None:
    """A fetch of a megabyte is computed where the caller gets it; binding places it again."""
    x = Input(TensorType("f32", (512, 1024)), name="x")
    program = build(Graph.of([x], [ops.tanh(x * 2.0)]), backends=backends)
    rows = np.full((512, 1024), 0.25, np.float32)
    (once,), (bound,) = program(rows), program.bind(rows)()

    np.testing.assert_array_equal(once, bound)
    np.testing.assert_allclose(bound, np.tanh(0.5), rtol=1e-6)
