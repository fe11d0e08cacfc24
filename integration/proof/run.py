"""The runtime gives the recorded answers on every backend that is here, with whatever else is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from byparts_graph_ir import Backend, Graph, Input, Table, TensorType, specialize
from byparts_graph_ir.backend.backend import FunctionalRule
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_runtime import Program, Variable, build
from proof.own_op import Blend
from proof.recorded import Recorded, assert_close, ops_for, recorded
from proof.spec import Check, Spec, about

STEPS = 3


def checks(spec: Spec) -> Iterator[Check]:
    """An own backend wired by hand; every installed backend; all that share the host's memory."""
    yield an_own_op_runs_on_an_own_backend
    started = []
    for _, record in parts.records("backends"):
        if set(record.needs) & set(spec.lacks):
            continue  # what it says is checked in `absence`
        may_decline = getattr(record, "space", "host") != "host"
        yield from about(record.name, _starts(record.name, may_decline=may_decline))
        if backend(record.name) is not None:
            started.append(record.name)
    on_host = [name for name in started if backend(name).space.name == "host"]
    alone = [order for order in map(with_the_rest, started) if order is not None]
    orders = [*alone, *([tuple(on_host)] if len(on_host) > 1 else [])]
    for order in orders if spec.has("opset") else ():
        names = ", ".join(order)
        for program in recorded(spec):
            if program.name != "composite" or spec.has("optimize"):  # else see `absence`
                yield from about(f"{program.name} on {names}", _runs(program, order, spec))
        yield from about(f"mlp_step on {names}", _trains(order, spec))


def an_own_op_runs_on_an_own_backend() -> None:
    """With no part but graph-ir beside the runtime: no discovery, no op set, no kernels."""
    functions: Table[FunctionalRule] = Table("function")
    functions.on(Blend)(lambda op, x, y: x * op.weight + y * (1 - op.weight))
    x, y = (Input(TensorType("f32", (3,)), None, name) for name in "xy")
    own = Backend("own", _view, functions=functions)
    program = build(Graph.of([x, y], [Blend(0.25)(x, y)]), backends=(own,))
    (found,) = program(np.full(3, 4, "float32"), np.full(3, 8, "float32"))

    assert found.tolist() == [7.0, 7.0, 7.0]


def _view(memory: Any, offset: int, kind: TensorType) -> Any:
    return np.frombuffer(memory, "float32", kind.size, offset).reshape(kind.dims)


@cache
def backend(name: str) -> Any:
    """The backend, or `None` where it does not start."""
    try:
        return parts.backend(name)
    except PartError:
        return None


def with_the_rest(name: str) -> tuple[str, ...] | None:
    """The backends to run a whole program on this one; `None` where what it needs is not here.

    Generated code covers regions, products and updates: the rest, such as `fill`, is NumPy's.
    """
    if name != "native":
        return (name,)
    return (name, "numpy") if "numpy" in parts.names("backends") else None


def _starts(name: str, *, may_decline: bool) -> Check:
    def backend_starts_or_says_why_not() -> str:
        try:
            parts.backend(name)
        except PartError as error:
            said = str(error)
            assert may_decline, said  # only a device may be missing
            assert "does not start: RuntimeError: " in said, said
            return f"declined: {said.partition('RuntimeError: ')[2]}"
        return "started"

    return backend_starts_or_says_why_not


def _runs(program: Recorded, order: tuple[str, ...], spec: Spec) -> Check:
    def gives_the_recorded_answers() -> str:
        made = _built(program, order, spec)
        found = made(*program.inputs)
        for i, (a, b) in enumerate(zip(found, program.answers, strict=True)):
            assert_close(a, b, f"output {i}")
        return f"{made.plan.arena_bytes} bytes"

    return gives_the_recorded_answers


def _trains(order: tuple[str, ...], spec: Spec) -> Check:
    """The oracle takes the steps one by one; the program keeps its variables between runs."""
    (program,) = [p for p in recorded(spec) if p.name == "mlp_step"]

    def variables_are_updated_by_every_step() -> None:
        from byparts_opset.evaluate import evaluate  # only where there are ops

        updates = program.facts["updates"]
        feeds, given = program.inputs[:-updates], program.inputs[-updates:]
        old = program.graph(ops_for(spec, program)).inputs[-updates:]
        pairs = zip(old, given, strict=True)
        state = [Variable(getattr(v, "name", ""), value) for v, value in pairs]
        step = _built(program, order, spec, variables=state, updates=state)
        for _ in range(STEPS):
            loss, *given = evaluate(program.graph(ops_for(spec, program)), *feeds, *given)
            assert_close(step(*feeds)[0], loss, "loss")
        for variable, value in zip(state, given, strict=True):
            assert_close(variable.read(), value, variable.name)

    return variables_are_updated_by_every_step


def _built(program: Recorded, order: tuple[str, ...], spec: Spec, **options: Any) -> Program:
    graph = specialize(program.graph(ops_for(spec, program)), program.types)
    return build(graph, backends=order, **options)
