"""The smallest program that is still wrong: fewer outputs, nodes, elements, and plainer values.

`minimised(program, wrong)` changes a program in one way after another and keeps each change after
which `wrong(program)` still says something, until none is left: delta debugging (Zeller and
Hildebrandt 2002), from large steps to small ones.  O(nodes + elements) trials of smaller and
smaller programs; `most_trials` bounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from byparts_conformance.programs.effects import messages, recorded, with_these_prints
from byparts_conformance.programs.noise import Array
from byparts_conformance.programs.program import Program
from byparts_graph_ir import FLOATS, Graph, GraphError, Input, Node, TensorType, Value
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate

Wrong = Callable[[Program], str]


def minimised(program: Program, wrong: Wrong, most_trials: int = 400) -> Program:
    """A program as small as could be found for which `wrong` gives a sentence.

    Args:
        program: one for which it does.
        wrong: what is wrong with a program, or "".
        most_trials: calls of `wrong` at most.
    """
    trials = 0
    improved = True
    while improved and trials < most_trials:
        improved = False
        for way in _WAYS:
            candidates = way(program)
            while trials < most_trials and (smaller := next(candidates, None)) is not None:
                trials += 1
                if wrong(smaller):
                    program, improved, candidates = smaller, True, way(smaller)
    return program


def _fewer_outputs(program: Program) -> Iterator[Program]:
    """Programs with one output alone, then with all but one."""
    count = len(program.graph.outputs)
    if count > 1:
        for k in range(count):
            yield from _with_outputs(program, [k])
        for k in range(count):
            yield from _with_outputs(program, [i for i in range(count) if i != k])


def _an_inner_value(program: Program) -> Iterator[Program]:
    """The outputs of one node alone, the first nodes first: what is behind it is not needed."""
    for node in program.graph.nodes[:-1]:
        yield from _pruned(program, program.graph.nodes, node.outputs)


def _with_outputs(program: Program, kept: Sequence[int]) -> Iterator[Program]:
    """The program with some of its outputs; an update of a variable becomes a fetch."""
    old = program.graph.outputs
    yield from _pruned(program, program.graph.nodes, [old[k] for k in kept])


def _pruned(program: Program, nodes: Sequence[Node], outputs: Sequence[Value]) -> Iterator[Program]:
    """The program of these outputs, all of them fetches, without what they do not need."""
    order = [v for node in nodes for v in node.outputs]
    graph = Graph.of(program.graph.inputs, outputs, order=order)
    read = {v for node in graph.nodes for v in node.inputs} | set(graph.outputs)
    pairs = list(zip(program.graph.inputs, program.arrays, strict=True))
    kept = [(v, a) for v, a in pairs if v in read]
    variables = len([v for v in program.graph.inputs[program.feeds :] if v in read])
    updates = program.updates if len(outputs) == len(program.graph.outputs) else 0
    if updates and variables < program.variables:
        updates = 0
    graph = Graph(tuple([v for v, _ in kept]), graph.nodes, graph.outputs)
    yield Program(graph, tuple([a for _, a in kept]), variables, updates, program.seed)


def _fewer_prints(program: Program) -> Iterator[Program]:
    """Programs without prints, with one alone, with all but one."""
    said = messages(program.graph)
    alone = [{one} for one in sorted(said)] if len(said) > 1 else []
    for kept in [set(), *alone, *[said - one for one in alone]] if said else ():
        yield replace(program, graph=with_these_prints(program.graph, kept))


def _fewer_states(program: Program) -> Iterator[Program]:
    """Variables that are plain inputs."""
    if program.variables:
        yield replace(program, variables=0, updates=0)


def _values_for_nodes(program: Program) -> Iterator[Program]:
    """A node less: what it gives becomes an input; the first ones and the last ones first."""
    graph = program.graph
    known = _held(program)
    for node in graph.nodes:
        taken = dict(zip(node.outputs, [known[v] for v in node.outputs], strict=True))
        yield from _rebuilt(program, {}, taken)


def _inputs_for_nodes(program: Program) -> Iterator[Program]:
    """A node less: in its place the first of its inputs of the same type."""
    for node in reversed(program.graph.nodes):
        for v in node.inputs:
            if len(node.outputs) == 1 and v.type == node.outputs[0].type:
                yield from _rebuilt(program, {node.outputs[0]: v}, {})


def _held(program: Program) -> dict[Value, Array]:
    every = Graph(program.graph.inputs, program.graph.nodes, program.graph.values)
    with np.errstate(all="ignore"), recorded():
        return dict(zip(every.values, evaluate(every, *program.arrays), strict=True))


def _rebuilt(
    program: Program, by: dict[Value, Value], fed: dict[Value, Array]
) -> Iterator[Program]:
    """The program with other values in the place of some, and some that are now fed."""
    places = {v: Input(v.type, None, "", "") for v in fed}
    new: dict[Value, Value] = {**places}

    def current(v: Value) -> Value:
        v = by.get(v, v)
        return new.get(v, v)

    nodes = []
    try:
        for node in program.graph.nodes:
            if node.outputs[0] in fed or node.outputs[0] in by:
                continue
            copy = Node(node.op, tuple([current(v) for v in node.inputs]), node.where)
            new.update(zip(node.outputs, copy.outputs, strict=True))
            nodes.append(copy)
    except GraphError:
        return
    inputs = (*places.values(), *program.graph.inputs)
    arrays = (*fed.values(), *program.arrays)
    graph = Graph(inputs, tuple(nodes), tuple([current(v) for v in program.graph.outputs]))
    larger = Program(graph, arrays, program.variables, program.updates, program.seed)
    yield from _pruned(larger, graph.nodes, graph.outputs)


def _smaller_dimensions(program: Program) -> Iterator[Program]:
    """Each size of an input replaced by a smaller one, wherever it occurs."""
    sizes = sorted({d for v in program.graph.inputs for d in v.type.dims if d > 1}, reverse=True)
    for size in sizes:
        for less in dict.fromkeys((1, 2, size // 2, size - 1)):
            if less < size:
                yield from _resized(program, size, less)


def _resized(program: Program, size: int, less: int) -> Iterator[Program]:
    inputs, arrays = [], []
    for v, a in zip(program.graph.inputs, program.arrays, strict=True):
        dims = tuple([less if d == size else d for d in v.type.dims])
        inputs.append(Input(TensorType(v.type.dtype, dims), None, getattr(v, "name", ""), ""))
        arrays.append(np.array(a[tuple([slice(d) for d in dims])]))
    new: dict[Value, Value] = dict(zip(program.graph.inputs, inputs, strict=True))
    nodes = []
    try:
        for node in program.graph.nodes:
            copy = Node(node.op, tuple([new[v] for v in node.inputs]), node.where)
            new.update(zip(node.outputs, copy.outputs, strict=True))
            nodes.append(copy)
        graph = Graph(tuple(inputs), tuple(nodes), tuple([new[v] for v in program.graph.outputs]))
        with recorded():
            evaluate(graph, *arrays)
    except Exception:  # an op that does not take these sizes, in any way
        return
    yield replace(program, graph=graph, arrays=tuple(arrays))


def _plainer_values(program: Program) -> Iterator[Program]:
    """Inputs of zeros, of ones, of whole numbers, of one number."""
    for i, (v, a) in enumerate(zip(program.graph.inputs, program.arrays, strict=True)):
        numpy = numpy_dtype(v.type.dtype)
        plainer = [np.zeros_like(a), np.ones(a.shape).astype(numpy)]
        if a.size:
            plainer.append(np.full(a.shape, a.flat[0]))
            if v.type.dtype in FLOATS:
                with np.errstate(all="ignore"):
                    plainer.append(np.round(a.astype("float64")).astype(numpy))
        for b in plainer[: _rank(a, plainer)]:
            yield replace(program, arrays=(*program.arrays[:i], b, *program.arrays[i + 1 :]))


def _rank(a: Array, plainer: Sequence[Array]) -> int:
    """The number of plainer arrays that come before one that a is already."""
    for k, b in enumerate(plainer):
        if a.tobytes() == b.tobytes():
            return k
    return len(plainer)


_WAYS = (
    *(_fewer_prints, _fewer_outputs, _an_inner_value, _fewer_states, _smaller_dimensions),
    *(_values_for_nodes, _inputs_for_nodes, _smaller_dimensions, _plainer_values),
)
