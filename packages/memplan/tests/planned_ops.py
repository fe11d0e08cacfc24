"""Ops of the tests' own, one for each fact that a planner reads."""

from __future__ import annotations

from dataclasses import dataclass

from byparts_graph_ir import ITEM_BYTES, Input, Op, TensorType, Types


def given(*shape: int, dtype: str = "f32", name: str = "x") -> Input:
    return Input(TensorType(dtype, shape), None, name)


@dataclass(frozen=True)
class Neg(Op):
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)


@dataclass(frozen=True)
class Copy(Op):
    """Reads and writes at different places, so never in place."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


@dataclass(frozen=True)
class Add(Op):
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


@dataclass(frozen=True)
class AddTo(Op):
    """May be written over its first input only."""

    inplace = ((0, 0),)

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)


@dataclass(frozen=True)
class Like(Op):
    """Like the second input, whose bytes it does not read."""

    ignores = (1,)
    inplace = ((0, 0), (1, 0))

    def infer(self, x: TensorType, like: TensorType) -> Types:
        return (like,)


@dataclass(frozen=True)
class Reshape(Op):
    shape: tuple[int, ...]

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, self.shape),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Beyond(Op):
    """Claims a view that is not there."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 4),)


@dataclass(frozen=True)
class Twins(Op):
    """Two outputs; the first may take either input, the second only the first."""

    inplace = ((0, 0), (1, 0), (0, 1))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x, x)


@dataclass(frozen=True)
class Split(Op):
    """One output is a view, one is computed."""

    def infer(self, x: TensorType) -> Types:
        return (x, x)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 1, 0),)


@dataclass(frozen=True)
class Cast(Op):
    dtype: str
    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (TensorType(self.dtype, x.shape),)


@dataclass(frozen=True)
class Full(Op):
    shape: tuple[int, ...]

    def infer(self) -> Types:
        return (TensorType("f32", self.shape),)


@dataclass(frozen=True)
class Shout(Op):
    effect = True

    def infer(self, x: TensorType) -> Types:
        return (x,)


neg, copy, add, add_to, like, twins, shout = Neg(), Copy(), Add(), AddTo(), Like(), Twins(), Shout()
