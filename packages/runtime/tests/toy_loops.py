"""Ops with bodies of the tests' own, which the runtime runs on a backend that knows none of them."""

from __future__ import annotations

from toy_backend import TOY

from byparts_graph_ir import Branches, Graph, Loop, Op, ReversedLoop, TensorType, Types
from byparts_runtime import Program, build


class Repeat(Op):
    """The first inputs, changed so many times by a body that reads the others too."""

    body: Graph
    times: int

    def infer(self, *types: TensorType) -> Types:
        return types[: len(self.body.outputs)]

    def control(self, *types: TensorType) -> Loop:
        return Loop(self.body, len(self.body.outputs), rounds=self.times)


class Rows(Op):
    """Running sums of the rows of xs, from either end."""

    body: Graph
    reverse: bool = False

    def infer(self, total: TensorType, xs: TensorType) -> Types:
        return (total, xs)

    def control(self, total: TensorType, xs: TensorType) -> Loop:
        return Loop(self.body, 1, 1, None, xs.dims[0], self.reverse)


class Choose(Op):
    no: Graph
    yes: Graph

    def infer(self, which: TensorType, x: TensorType) -> Types:
        return (x,)

    def control(self, which: TensorType, x: TensorType) -> Branches:
        return Branches((self.no, self.yes), ("no", "yes"))


class Undo(Op):
    """x doubled until it is large; then, for each round backwards, dx * x of that round."""

    cond: Graph
    body: Graph
    back: Graph

    def infer(self, x: TensorType, dx: TensorType, *invariants: TensorType) -> Types:
        return (dx,)

    def control(self, *types: TensorType) -> ReversedLoop:
        return ReversedLoop(Loop(self.body, 1, cond=self.cond, rounds=3), self.back, (0,))


BACKEND = TOY


def built(graph: Graph, **options: object) -> Program:
    return build(graph, backends=(BACKEND,), **options)  # type: ignore[arg-type]
