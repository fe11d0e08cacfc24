"""Ops of the tests' own, one for each fact that a planner reads."""

from __future__ import annotations

from byparts_graph_ir import ITEM_BYTES, Input, Op, TensorType, Types


def given(*shape: int, dtype: str = "f32", name: str = "x") -> Input:
    return Input(TensorType(dtype, shape), None, name)


class Neg(Op):
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Copy(Op):
    """Reads and writes at different places, so never in place."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Add(Op):
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


class AddTo(Op):
    """May be written over its first input only."""

    inplace = ((0, 0),)

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


class Like(Op):
    """Like the second input, whose bytes it does not read."""

    ignores = (1,)
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, like: TensorType) -> Types:
        return (like,)


class Reshape(Op):
    shape: tuple[int, ...]

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, self.shape),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)


class Rows(Op):
    """Rows `[start, stop)`."""

    start: int
    stop: int

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (self.stop - self.start, *x.dims[1:])),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        row_bytes = ITEM_BYTES[x.dtype]
        for d in x.dims[1:]:
            row_bytes *= d
        return ((0, 0, self.start * row_bytes),)


class Beyond(Op):
    """Claims a view that is not there."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 4),)


class Twins(Op):
    """Two outputs; the first may take either input, the second only the first."""

    inplace = ((0, 0), (1, 0), (0, 1))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x, x)


class Split(Op):
    """One output is a view, one is computed."""

    def infer(self, x: TensorType) -> Types:
        return (x, x)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 1, 0),)


class Cast(Op):
    dtype: str
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (TensorType(self.dtype, x.shape),)


class Full(Op):
    shape: tuple[int, ...]

    def infer(self) -> Types:
        return (TensorType("f32", self.shape),)


class Shout(Op):
    effect = True

    def infer(self, x: TensorType) -> Types:
        return (x,)


neg, copy, add, add_to, like, twins, shout = Neg(), Copy(), Add(), AddTo(), Like(), Twins(), Shout()
