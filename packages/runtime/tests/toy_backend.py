"""Five ops and a backend of the tests' own: the runtime must not need any op set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import Backend, Graph, Input, Node, Op, Table, TensorType, Types, Value
from byparts_runtime import Program, build
from byparts_runtime.arrays.access import view
from byparts_runtime.memory.plan import Separate, SeparateLocation, separate


def f32(*shape: int | str | None) -> TensorType:
    return TensorType("f32", shape)


def given(name: str, *shape: int | str | None) -> Input:
    return Input(f32(*shape), None, name)


class Add(Op):
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


class Mul(Op):
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


class Full(Op):
    value: float
    shape: tuple[int, ...] = ()

    def infer(self) -> Types:
        return (TensorType("f32", self.shape),)


class Flat(Op):
    """All elements in one row: the same bytes."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (x.size if x.static else None,)),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)


class Fail(Op):
    """Gives x, unless told to raise: `toy_backend.raising` is set by a test."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Unknown(Op):
    """No backend has it."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


add, mul, flat, fail, unknown = Add(), Mul(), Flat(), Fail(), Unknown()
raising: list[BaseException] = []
kernels: Table[Any] = Table("kernel")


@kernels.on(Add)
def _add(op: Add, inputs: Any, outputs: Any) -> Any:
    return partial(np.add, *inputs, *outputs)


@kernels.on(Mul)
def _mul(op: Mul, inputs: Any, outputs: Any) -> Any:
    return partial(np.multiply, *inputs, *outputs)


@kernels.on(Full)
def _full(op: Full, inputs: Any, outputs: Any) -> Any:
    return partial(outputs[0].fill, op.value)


@kernels.on(Flat)
def _flat(op: Flat, inputs: Any, outputs: Any) -> Any:
    return partial(np.copyto, outputs[0], inputs[0].reshape(-1))


@kernels.on(Fail)
def _fail(op: Fail, inputs: Any, outputs: Any) -> Any:
    def run() -> None:
        if raising:
            raise raising[0]
        np.copyto(outputs[0], inputs[0])

    return run


TOY = Backend("toy", view, kernels)


def donating(
    graph: Graph, *, external: Any, alignment: int, donate: Any = None, kernels: Any = None
) -> Separate:
    """`separate`, but new values go into the bytes that are offered for them, once each."""
    plan = separate(graph, external=external, alignment=alignment, kernels=kernels)
    places, taken = list(plan.locations), set()
    for k, output in (donate or {}).items():
        i = graph.ids[graph.outputs[output]]
        if i >= len(graph.inputs) and i not in taken:
            places[i] = SeparateLocation(k, 0)
            taken.add(i)
    return Separate(tuple(places), plan.arena_bytes, plan.workspaces)


def graph_of(inputs: Sequence[Value], *outputs: Value) -> Graph:
    return Graph.of(inputs, outputs)


def build_by_hand(graph: Graph, **options: Any) -> Program:
    """Everything as an argument: no discovery, whatever is installed."""
    by_hand: dict[str, Any] = {"backends": (TOY,), "passes": (), "planner": None, "legalize": None}
    by_hand["order"] = None
    return build(graph, **{**by_hand, **options})


def notes(error: BaseException) -> str:
    """Message and notes, as a traceback prints them."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def product(x: Value, *factors: float) -> Value:
    """x times numbers, one node each."""
    for factor in factors:
        x = mul(x, Node(Full(factor, x.type.dims), ()).outputs[0])
    return x
