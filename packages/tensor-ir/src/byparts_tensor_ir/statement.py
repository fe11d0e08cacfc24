"""Statements: loops around stores into buffers, and the function that they make.

Statements never change: a schedule step makes new ones (`schedule/`).  Loops are named by their
variables and stores by the name of their block, so a handle survives any step.

A store with a reducer adds to what its target holds.  The target begins with the reducer's
identity: `lower.placed_identities` puts that store before the outermost loop that belongs to the
reduction.  Until then a schedule moves one nest instead of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Union

from byparts_tensor_ir.expression import (
    Expr,
    ExpressionError,
    Operand,
    as_index,
    const,
    make,
)

# Where a buffer lives: parameters are global; shared is of a GPU block, local of a thread; register
# is local and indexed by numbers alone once loops are unrolled.
SCOPES = ("global", "shared", "local", "register")
MATRICES = ("matrix_a", "matrix_b", "accumulator")  # scopes too, of a warp: `matrix.py`
# How a loop runs.  Threads of a GPU: bound to one of THREADS.
KINDS = ("serial", "vectorize", "unroll", "parallel")
WARP = 32  # threads that run together
THREADS = tuple([f"{what}Idx.{axis}" for what in ("block", "thread") for axis in "xyz"])


@dataclass(frozen=True, eq=False)
class Buffer:
    """Memory of elements of one dtype, row-major; each buffer is an object of its own.

    Attributes:
        name: as printed, and in generated code.
        shape: extents, as expressions.
        dtype: of an element, one of `expression.BYTES`.
        scope: one of `SCOPES` or of `MATRICES`.
    """

    name: str
    shape: tuple[Expr, ...]
    dtype: str = "f32"
    scope: str = "global"

    def __getitem__(self, index: Operand | tuple[Operand, ...]) -> Expr:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape):
            raise ExpressionError(
                f"{self.name} has {len(self.shape)} dimensions and was indexed with {len(indices)}"
            )
        return make("load", tuple([as_index(i) for i in indices]), self.dtype, self)

    def __iter__(self) -> Iterator[Expr]:
        raise ExpressionError(f"{self.name} is not iterable; index it with one index a dimension")

    @property
    def size(self) -> Expr:
        """Number of elements."""
        n = const(1)
        for extent in self.shape:
            n = n * extent
        return n

    def __repr__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, eq=False)
class Reducer:
    """A way to combine partial results: associative, commutative, with an identity.

    Attributes:
        name: as printed: sum, prod, max, min, or the user's.
        identity: a number for each value, given its dtype.
        combine: `combine(old values, new values)`: the combined values.
    """

    name: str
    identity: Callable[[str], tuple[Union[int, float], ...]]
    combine: Callable[[Sequence[Expr], Sequence[Expr]], tuple[Expr, ...]]


@dataclass(frozen=True, eq=False)
class Store:
    """targets[k][index] = values[k], or the reducer's combination of both.

    Attributes:
        block: the name of the computation.
        targets: one buffer for each value, of one shape.
        reducer: `None` for a plain store.
        over: the axes of the reduction, as expressions of loop variables.
        begins: the targets do not hold the identity yet; `lower.placed_identities` stores it.
    """

    block: str
    targets: tuple[Buffer, ...]
    index: tuple[Expr, ...]
    values: tuple[Expr, ...]
    reducer: Reducer | None = None
    over: tuple[Expr, ...] = ()
    begins: bool = False

    def __post_init__(self) -> None:
        for target, value in zip(self.targets, self.values, strict=False):  # or no values
            if value.dtype != target.dtype:
                raise ExpressionError(
                    f"{self.block}: {value} is {value.dtype} and {target.name} holds "
                    f"{target.dtype}; cast it: cast(x, {target.dtype!r})"
                )

    def stored(self) -> tuple[Expr, ...]:
        """The values that the targets hold afterwards, as expressions of what they hold before."""
        if self.reducer is None:
            return self.values
        return self.reducer.combine([t[self.index] for t in self.targets], self.values)


@dataclass(frozen=True, eq=False)
class For:
    """`body` for each value of `var`, from its `low` on; `kind` in `KINDS` or `THREADS`."""

    var: Expr
    body: tuple[Statement, ...]
    kind: str = "serial"

    @property
    def extent(self) -> Expr:
        """The number of values that the variable takes."""
        extent: Expr = self.var.attr.extent
        return extent

    @property
    def name(self) -> str:
        """The name of the variable, which names the loop."""
        return str(self.var.attr.name)


@dataclass(frozen=True, eq=False)
class If:
    """`body` where the condition holds."""

    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, eq=False)
class Barrier:
    """All threads of a GPU block arrive here before one goes on.

    Orders what they do to shared and global memory.
    """


class Instruction:
    """A thread's action beside stores, loops and conditions; subclasses are frozen dataclasses."""

    def expressions(self) -> tuple[Expr, ...]:
        """The expressions that stand in it."""
        return ()

    def written(self) -> tuple[Buffer, ...]:
        """The buffers that it writes."""
        return ()

    def read(self) -> tuple[Buffer, ...]:
        """The buffers that it reads, beside those of the loads in its expressions."""
        return ()

    def changed(
        self, expression: Callable[[Expr], Expr], buffer: Callable[[Buffer], Buffer]
    ) -> Instruction:
        """The same of other expressions and buffers."""
        raise NotImplementedError


class Collective(Instruction):
    """An action of the 32 threads of a warp together: all of them arrive.  It orders no memory.

    A warp is 32 threads of a block in the order of their numbers, x + y X + z X Y, where X and Y
    are the extents of threadIdx.x and threadIdx.y.
    """


@dataclass(frozen=True, eq=False)
class Lanes(Collective):
    """A thread gets a value that another one of its warp has.

    Attributes:
        target: a local buffer without dimensions.
    """

    target: Buffer
    value: Expr

    def check(self, what: str, lanes: int) -> None:
        if self.target.shape or self.target.scope not in ("local", "register"):
            raise ExpressionError(f"{what} into {self.target}: not one number of a thread")
        if self.target.dtype != self.value.dtype or not 0 < lanes < WARP:
            raise ExpressionError(
                f"{what} of {self.value} ({self.value.dtype}) by {lanes} into {self.target}: "
                f"another dtype, or not from 1 to {WARP - 1}"
            )

    def expressions(self) -> tuple[Expr, ...]:
        return (self.value,)

    def written(self) -> tuple[Buffer, ...]:
        return (self.target,)

    def changed(
        self, expression: Callable[[Expr], Expr], buffer: Callable[[Buffer], Buffer]
    ) -> Lanes:
        return replace(self, target=buffer(self.target), value=expression(self.value))


@dataclass(frozen=True, eq=False)
class Shuffle(Lanes):
    """target[()] = the value that the thread `delta` further on in the warp has.

    Past the end of the warp it is the thread's own value.

    Attributes:
        delta: from 1 to 31.
    """

    delta: int

    def __post_init__(self) -> None:
        self.check("shuffle", self.delta)

    def __str__(self) -> str:
        return f"{self.target.name}[] = shuffle({self.value}, {self.delta})"


@dataclass(frozen=True, eq=False)
class Exchange(Lanes):
    """target[()] = the value that the thread of lane `lane ^ mask` has: both get the other's.

    Masks of 1, 2, 4, ... in turn give all threads of a warp the same sum, in the same order.

    Attributes:
        mask: from 1 to 31.
    """

    mask: int

    def __post_init__(self) -> None:
        self.check("exchange", self.mask)

    def __str__(self) -> str:
        return f"{self.target.name}[] = exchange({self.value}, {self.mask})"


class Group(Instruction):
    """Statements with a head of their own: `vector.py`.

    Attributes:
        body: the statements inside.
    """

    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """The lines above the body."""
        raise NotImplementedError


Statement = Union[Store, For, If, Barrier, Instruction]


@dataclass(frozen=True, eq=False)
class Func:
    """A function of buffers and sizes.

    For a GPU it begins with a nest of loops bound to `blockIdx.*` and then `threadIdx.*`, each at
    most once; what is inside is done by one thread.  Its local buffers begin undefined: a shared
    one for each block, others for each thread.

    Attributes:
        name: an identifier of C.
        params: the buffers it is called with, in order.
        outputs: those of them that it writes.
        sizes: the variables that shapes mention, in the order of first mention.
        body: statements, in order.
        locals: buffers of its own.
        where: the user's line that it comes from; generated code begins with it.
    """

    name: str
    params: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    sizes: tuple[Expr, ...]
    body: tuple[Statement, ...]
    locals: tuple[Buffer, ...] = ()
    where: str = ""

    def with_body(self, body: Sequence[Statement]) -> Func:
        """The same function around other statements."""
        return replace(self, body=tuple(body))

    def __str__(self) -> str:
        params = ", ".join([*map(str, self.sizes), *map(str, self.params)])
        lines = [f"def {self.name}({params}):"]
        lines += [f"  {b.scope} {b}" for b in self.locals]
        return "\n".join(lines + statement_lines(self.body, 1))


def walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, outer ones before inner ones, in order."""
    for s in statements:
        yield s
        if isinstance(s, (For, If, Group)):
            yield from walk(s.body)


def loops(func: Func) -> list[For]:
    """All loops, outer ones first."""
    return [s for s in walk(func.body) if isinstance(s, For)]


def stores(statements: Sequence[Statement]) -> list[Store]:
    """All stores, in order."""
    return [s for s in walk(statements) if isinstance(s, Store)]


def written(s: Statement) -> tuple[Buffer, ...]:
    """The buffers that a statement writes by itself, without those inside of it."""
    if isinstance(s, Store):
        return s.targets
    return s.written() if isinstance(s, Instruction) else ()


def rebuilt(
    statements: Sequence[Statement], change: Callable[[Statement], Sequence[Statement] | None]
) -> tuple[Statement, ...]:
    """Statements in which `change` replaced some, outermost first; replacements are left alone."""
    out: list[Statement] = []
    for s in statements:
        new = change(s)
        if new is not None:
            out += new
        elif isinstance(s, (For, If)):
            body = rebuilt(s.body, change)
            out.append(s if body == s.body else replace(s, body=body))
        else:
            out.append(s)
    return tuple(out)


def statement_lines(statements: Sequence[Statement], depth: int = 0) -> list[str]:
    """Statements as Python would write them, a line each."""
    lines: list[str] = []
    margin = "  " * depth
    for s in statements:
        if isinstance(s, For):
            how = "" if s.kind == "serial" else f"  # {s.kind}"
            low, extent = s.var.attr.low, s.extent
            bounds = f"{extent}" if not low else f"{low}, {extent + low}"
            lines += [f"{margin}for {s.name} in range({bounds}):{how}"]
            lines += statement_lines(s.body, depth + 1)
        elif isinstance(s, If):
            lines += [f"{margin}if {s.condition}:", *statement_lines(s.body, depth + 1)]
        elif isinstance(s, Group):
            heads = s.heads()
            lines += [margin + head for head in heads]
            lines += statement_lines(s.body, depth + len(heads))
        elif not isinstance(s, Store):
            lines.append(f"{margin}{'barrier()' if isinstance(s, Barrier) else s}")
        else:
            at = f"[{', '.join(map(str, s.index))}]"
            targets = ", ".join([t.name + at for t in s.targets])
            values = ", ".join(map(str, s.values))
            sign = f" {s.reducer.name}= " if s.reducer else " = "
            begins = "  # begins with the identity" if s.begins else ""
            lines.append(f"{margin}{targets}{sign}{values}{begins}")
    return lines
