"""Programs of named dimensions, tried at several sizes by one executor.

A number among the dimensions of the feeds of a program becomes a name, wherever it stands; where
the shape rules then still know every shape, the program is one for all sizes.  At each size it must
give what the program of that size means, whichever size came first, and raise where that raises.
Every second program is a step of training (`training.py`), the gradients of which are taken of the
program of names; the meaning is that of the gradients of the program of each size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from byparts_conformance.programs import training
from byparts_conformance.programs.bounds import expected, surely
from byparts_conformance.programs.campaign import FEW, MANY
from byparts_conformance.programs.effects import as_array, recorded
from byparts_conformance.programs.generate import generate
from byparts_conformance.programs.program import Array, Program
from byparts_conformance.programs.trial import difference
from byparts_graph_ir import Graph, GraphError, Input, Node, TensorType, Value, specialize
from byparts_graph_ir.model.frozen import replace as changed
from byparts_opset.dtypes import dtype_name
from byparts_runtime import Executor, Variable

NAME = "n"
Step = Callable[[Program], Program]


@dataclass
class NamedReport:
    """The findings about programs of named dimensions.

    Attributes:
        programs: how many were tried.
        training: how many of them are steps of training.
        sizes: at how many sizes, all together.
        shared: at how many of these the program was one of a family.
        raised: at how many the graph or its evaluation raises.
        reasons: why others were built for one size -> how many.
        failures: a sentence for each that was wrong.
    """

    programs: int = 0
    training: int = 0
    sizes: int = 0
    shared: int = 0
    raised: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        programs = f"{self.programs:,} programs of a named dimension, {self.training:,} of training"
        share = 100 * self.shared / max(1, self.shared + sum(self.reasons.values()))
        wrong = f"{len(self.failures)} wrong, {self.raised:,} raised"
        head = f"{programs}, at {self.sizes:,} sizes: {wrong}, {share:.1f} % of a family"
        reasons = [f"{count:6} {why}" for why, count in self.reasons.most_common(8)]
        return "\n".join([*self.failures, head, *reasons])


def named_campaign(
    backends: Sequence[Any],
    count: int,
    seed: int = 0,
    *,
    by_example: bool = False,
    times: int = 1,
    most_failures: int = 5,
    **options: Any,
) -> NamedReport:
    """Try so many programs of named dimensions, of the seeds from `seed` on, each at six sizes.

    Args:
        backends: as `build` takes them.
        count: how many programs.
        seed: of the first.
        by_example: whether the executor is given the graph of each size, not that of the name.
        times: how often each size is called, the sizes in turn.
        most_failures: ends sooner after so many.
        options: more of the executor's.
    """
    report = NamedReport()
    while report.programs < count and len(report.failures) < most_failures:
        number, trains = Random(seed), seed % 2 == 1
        program = generate(seed, theme=number.choice(training.THEMES) if trains else "")
        seed += 1
        sizes = sorted({d for v in _feeds(program) for d in v.type.dims if d > 1})
        if not sizes:
            continue
        size = number.choice(sizes)
        graph = with_name(program, size)
        if graph is None:
            continue
        others = [0, 1, 2, size, size + 3, 2 * size + 1]
        number.shuffle(others)
        program = replace(program, graph=graph)
        step = _step(program) if trains else None
        report.programs += 1
        report.training += step is not None
        executor = Executor(backends=tuple(backends), **options)
        _try(program, step, others * times, executor, by_example, report)
    return report


def _step(program: Program) -> Step | None:
    """Function that makes a step of training of a program; `None` where an op has no gradient."""
    step = partial(training.with_training, weights=training.weights_of(program))
    try:
        step(program)
    except GraphError:
        return None
    return step


def with_name(program: Program, size: int) -> Graph | None:
    """The graph with a name for `size` among the dimensions of its feeds and in what follows.

    `None` where the shape rules do not know every shape then.
    """
    new: dict[Value, Value] = {}
    for i, v in enumerate(program.graph.inputs):
        kind = _renamed(v.type, size) if i < program.feeds else v.type
        new[v] = Input(kind, None, getattr(v, "name", ""), "")
    try:
        for node in program.graph.nodes:
            op = node.op
            if op.shape_fields:
                shapes = {f: tuple(_name(getattr(op, f), size)) for f in op.shape_fields}
                op = changed(op, **shapes)
            made = Node(op, tuple([new[v] for v in node.inputs]), node.where)
            new.update(zip(node.outputs, made.outputs, strict=True))
    except GraphError:
        return None
    known = all([v.type.shape is not None and None not in v.type.shape for v in new.values()])
    inputs = [new[v] for v in program.graph.inputs]
    return Graph.of(inputs, [new[v] for v in program.graph.outputs]) if known else None


def _feeds(program: Program) -> Sequence[Value]:
    return program.graph.inputs[: program.feeds]


def type_of(array: Array) -> TensorType:
    """The type of an array."""
    return TensorType(dtype_name(array.dtype), array.shape)


def _renamed(kind: TensorType, size: int) -> TensorType:
    return TensorType(kind.dtype, tuple(_name(kind.dims, size)))


def _name(dims: Sequence[int | str], size: int) -> list[int | str]:
    return [NAME if d == size else d for d in dims]


def _try(
    program: Program,
    step: Step | None,
    sizes: Sequence[int],
    executor: Executor,
    by_example: bool,
    report: NamedReport,
) -> None:
    """Run a named program at each of the sizes, in this order, and note what is wrong."""
    named = program if step is None else step(program)
    for size in sizes:
        report.sizes += 1
        meaning = at_size(replace(program, arrays=resized(program, size)), step)
        if by_example and isinstance(meaning, str):
            continue
        wanted = meaning if isinstance(meaning, str) else meaning_of(meaning)
        by_name = replace(named, arrays=resized(named, size))
        given = _run(executor, meaning if by_example else by_name, report)
        if wanted is None:
            report.raised += 1
        elif isinstance(wanted, str) or isinstance(given, str):
            report.raised += 1
            if isinstance(wanted, str) != isinstance(given, str):
                told = given if isinstance(given, str) else "gives results"
                meant = wanted if isinstance(wanted, str) else "has a meaning"
                _fail(report, named, size, f"{told}, and the program of that size {meant}")
        elif said := surely_wrong(meaning, given, wanted):
            _fail(report, named, size, said)


def _fail(report: NamedReport, program: Program, size: int, said: str) -> None:
    report.failures.append(f"seed {program.seed}, {NAME} = {size}: {said}\n{program.graph}")


def resized(program: Program, size: int) -> tuple[Array, ...]:
    """The arrays of a program with so many elements along each axis of the name."""
    arrays = []
    for v, array in zip(program.graph.inputs, program.arrays, strict=True):
        for axis, d in enumerate(v.type.shape or ()):
            if d == NAME:
                array = np.take(array, range(size), axis, mode="wrap")
        arrays.append(array)
    return tuple(arrays)


def at_size(program: Program, step: Step | None = None) -> Any:
    """The program of numbers for the arrays of a named one, or what it raises."""
    try:
        types = [type_of(a) for a in program.arrays]
        program = replace(program, graph=specialize(program.graph, types, simplify=False))
        program = program if step is None else step(program)
    except GraphError as error:
        return f"raises {type(error).__name__}: {error}"
    graph, feeds = program.graph, program.feeds
    news = graph.outputs[len(graph.outputs) - program.updates :]
    if [v.type for v in news] != [v.type for v in graph.inputs[feeds : feeds + program.updates]]:
        return "raises ShapeError: a variable cannot take its new value"
    return program


def meaning_of(program: Program) -> Any:
    """Result that a program of numbers must give.

    `None` where its evaluation raises (an index into nothing): whoever drops what nobody reads need
    not raise.
    """
    try:
        return expected(program)
    except (GraphError, IndexError):
        return None


def surely_wrong(program: Program, given: Any, wanted: Any) -> str:
    """The difference that is left with more samples of noise; as `campaign` confirms.

    None where a sample raises: noise made another index of a number.
    """
    try:
        for count in (0, FEW, MANY):
            said = difference([given], surely(program, count) if count else wanted)
            if not said:
                return ""
    except (GraphError, IndexError):
        return ""
    return said


def _run(executor: Executor, program: Program, report: NamedReport) -> Any:
    """The results of a run, or what it raises."""
    feeds, states = program.arrays[: program.feeds], program.arrays[program.feeds :]
    variables = [Variable(f"v{i}", np.array(a)) for i, a in enumerate(states)]
    inputs = program.graph.inputs[program.feeds :]
    known: dict[str, Any] = {"variables": dict(zip(inputs, variables, strict=True))}
    known["updates"] = variables[: program.updates]
    types = tuple([type_of(a) for a in feeds])
    try:
        with recorded() as text:
            fetched = executor(program.graph, *feeds, **known)
        why = executor.program(program.graph, types, **known).why
    except Exception as error:  # whatever it is: compared with what evaluation raises
        return f"raises {type(error).__name__}: {error}"
    if why.startswith("compiled once for every size"):
        report.shared += 1
    else:
        report.reasons[why] += 1
    printed = [as_array(text.getvalue())] if program.graph.has_effect else []
    return (*fetched, *[v.read() for v in variables[: program.updates]], *printed)
