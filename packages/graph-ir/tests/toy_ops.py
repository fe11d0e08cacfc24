"""A few ops of the tests' own: the IR must not need any op set."""

from __future__ import annotations

from byparts_graph_ir import Graph, Input, Node, Op, ShapeError, TensorType, Types, Value


def f32(*shape: int | str | None) -> TensorType:
    return TensorType("f32", shape)


def given(name: str, *shape: int | str | None) -> Input:
    return Input(f32(*shape), None, name)


class Neg(Op):
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Add(Op):
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        if x != y:
            raise ShapeError(f"add: x is {x} and y is {y}")
        return (x,)


class Scale(Op):
    factor: float = 1.0
    note: str = ""

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Dense(Op):
    """y = x w, whose rule also runs backwards: w: [k, units] gets its k from x: [m, k]."""

    units: int

    def infer(self, x: TensorType, w: TensorType) -> Types:
        return (TensorType(x.dtype, ((x.shape or (None,))[0], self.units)),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        x, w = inputs
        k = x.shape[1] if x.shape is not None else None
        return (x, TensorType(w.dtype, (k, self.units)))


class Cast(Op):
    dtype: str

    def infer(self, x: TensorType) -> Types:
        return (TensorType(self.dtype, x.shape),)

    def infer_dtypes(self, x: TensorType) -> tuple[str, ...]:
        return (self.dtype,)


class Halves(Op):
    def infer(self, x: TensorType) -> Types:
        (n,) = x.dims
        return (TensorType(x.dtype, (n // 2,)), TensorType(x.dtype, (n - n // 2,)))


class Full(Op):
    shape: tuple[int | str, ...]
    shape_fields = ("shape",)

    def infer(self) -> Types:
        return (TensorType("f32", self.shape),)


class Shout(Op):
    effect = True

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Call(Op):
    body: Graph

    def infer(self, *types: TensorType) -> Types:
        return tuple(v.type for v in self.body.outputs)


OPS = {op.name: op for op in (Neg, Add, Scale, Dense, Cast, Halves, Full, Shout, Call)}
neg, add, shout = Neg(), Add(), Shout()


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


def small() -> Graph:
    """-(x + y), twice the same sum: the running example."""
    x, y = given("x", 2), given("y", 2)
    return Graph.of((x, y), (neg(add(x, y)),))


def chain(length: int) -> Graph:
    x: Value = given("x", 4)
    y = x
    for _ in range(length):
        y = neg(y)
    return Graph.of((x,), (y,))


def nest(levels: int) -> Graph:
    """A graph inside a graph inside a graph."""
    graph = small()
    for _ in range(levels):
        x, y = given("x", 2), given("y", 2)
        graph = Graph.of((x, y), Node(Call(graph), (x, y)).outputs)
    return graph
