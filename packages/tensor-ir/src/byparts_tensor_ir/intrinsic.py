"""Intrinsics: an instruction, or a routine of C, with the tensor expression that is its meaning.

An intrinsic is a kind of loop, beside "vectorize" and "unroll": it says how the loops run that
compute what its reference computes.  The loops stay below it, so that the interpreter, the checks
of later steps, and emitters that do not know intrinsics read them as they are; the emitter of C
writes the intrinsic's text instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from byparts_tensor_ir.expression import INDEX, Expr, ExpressionError, const
from byparts_tensor_ir.index import linear, terms
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.statement import KINDS, Buffer, For, Func, Store, loops
from byparts_tensor_ir.substitute import loads, substituted, variables


class Intrinsic(str):
    """The name of an intrinsic, with what it computes and how C writes it.

    Attributes:
        reference: a function of one nest, whose parameters are the operands.  Of a reduction the
            intrinsic adds to what its output holds.
        code: statements of C++.  For an operand `w` of rank 2 they use `w`, the address of its
            first element, and `w_0`, `w_1`, the elements from one index to the next.
    """

    __slots__ = ("code", "reference")

    reference: Func
    code: str

    def __new__(cls, name: str, reference: Func, code: str) -> Intrinsic:
        """An intrinsic of this name."""
        self = super().__new__(cls, name)
        self.reference, self.code = reference, code
        return self

    def __reduce__(self) -> str:
        raise TypeError("intrinsics are not pickled; keep the program that declares them")


@dataclass(frozen=True)
class Box:
    """The place of an operand: element (i, j, ...) is at `begin` plus i, j, ... along `dims`."""

    buffer: Buffer
    begin: tuple[Expr, ...]
    dims: tuple[int, ...]

    def strides(self) -> tuple[Expr, ...]:
        """Elements from one index to the next, for each dimension of the operand."""
        strides = []
        for d in self.dims:
            step = const(1)
            for extent in self.buffer.shape[d + 1 :]:
                step = step * extent
            strides.append(step)
        return tuple(strides)


class Mismatch(Exception):
    """Loops do not compute what an intrinsic computes; says in which respect."""


def intrinsic(name: str, operands: Sequence[Buffer], code: str) -> Intrinsic:
    """Declare an intrinsic.

    Args:
        name: an identifier.
        operands: placeholders and the one tensor computed from them.
        code: statements of C++, see `Intrinsic`.

    Raises:
        ExpressionError: the name is no identifier or names a kind of loop, several tensors are
            computed, or an axis has no extent of 2 or more.
    """
    reference = lower(operands, name)
    if not name.isidentifier() or name in KINDS:
        raise ExpressionError(f"intrinsic {name!r}: the name is no identifier, or a kind of loop")
    if len(reference.body) != 1 or len(reference.outputs) != 1:
        raise ExpressionError(f"intrinsic {name} computes more than one tensor\n{reference}")
    nest, _ = _nest(reference.body[0])
    small = [x for x in nest if x.var.attr.low or x.extent.op != "const" or x.extent.attr < 2]
    if small:
        raise ExpressionError(
            f"intrinsic {name}: the axis {small[0].name} runs over {small[0].extent} from "
            f"{small[0].var.attr.low}, not over 2 or more from 0"
        )
    return Intrinsic(name, reference, code)


def operand_boxes(loop: For, wanted: Intrinsic) -> tuple[Box, ...]:
    """The places of the intrinsic's operands, if the loop computes the same as the intrinsic.

    The loops may have other names and another order, the operands may be parts of larger buffers
    with more dimensions.

    Raises:
        Mismatch: extents, buffers or values differ.
    """
    (own, store), (theirs, meaning) = _nest(loop), _nest(wanted.reference.body[0])
    if len(own) != len(theirs):
        raise Mismatch(f"{len(own)} loops, not {len(theirs)}")
    if any(x.var.attr.low for x in own):
        raise Mismatch("a loop does not begin at 0")
    reasons: list[Mismatch] = []
    for order in permutations(own):
        pairs = list(zip(order, theirs, strict=True))
        if all(a.extent is b.extent for a, b in pairs):
            try:
                boxes = _Match({b.var: a.var for a, b in pairs}).boxes(meaning, store)
            except Mismatch as error:
                reasons.append(error)
                continue
            return tuple([boxes[p] for p in wanted.reference.params])
    raise reasons[0] if reasons else Mismatch("the extents differ")


def _nest(s: object) -> tuple[list[For], Store]:
    """The loops of a perfect nest, and the store in it."""
    loops: list[For] = []
    while isinstance(s, For):
        loops.append(s)
        if len(s.body) != 1:
            raise Mismatch(f"{s.name} holds {len(s.body)} statements, not one")
        s = s.body[0]
    if not isinstance(s, Store):
        raise Mismatch(f"a condition stands below {loops[-1].name}")
    return loops, s


class _Match:
    """An attempt to read loops as an intrinsic's: each axis is matched with a loop variable."""

    def __init__(self, by: dict[Expr, Expr]) -> None:
        self.by, self.matched = by, dict[Buffer, Box]()

    def boxes(self, meaning: Store, store: Store) -> dict[Buffer, Box]:
        if meaning.reducer is not store.reducer:
            raise Mismatch("the reductions differ")
        self.place(meaning.targets[0], meaning.index, store.targets[0], store.index)
        output = store.targets[0]
        if len(store.values) != 1:
            raise Mismatch("several values are stored")
        self.equal(meaning.values[0], store.values[0])
        if any(load.attr is output for load in loads(store.values[0])):
            raise Mismatch(f"{output.name} is read and written")
        return self.matched

    def equal(self, a: Expr, b: Expr) -> None:
        """The value b is the intrinsic's value a."""
        if a.op == "load" and b.op == "load":
            self.place(a.attr, a.args, b.attr, b.args)
        elif a.op == "load" or (a.op, a.dtype, a.attr, len(a.args)) != (
            *(b.op, b.dtype, b.attr),
            len(b.args),
        ):
            raise Mismatch(f"{b} is not {a}")
        elif a.dtype == INDEX or not a.args:
            if substituted(a, self.by) is not b:
                raise Mismatch(f"{b} is not {a}")
        else:
            for x, y in zip(a.args, b.args, strict=True):
                self.equal(x, y)

    def place(
        self, operand: Buffer, at: Sequence[Expr], buffer: Buffer, index: Sequence[Expr]
    ) -> None:
        """The element of the operand is the element of the buffer; note where it begins."""
        if operand.dtype != buffer.dtype:
            raise Mismatch(f"{buffer} is not of {operand.dtype}")
        begin, dims, left = [], [], iter([self.moving(substituted(i, self.by)) for i in at])
        for d, i in enumerate(index):
            moving, fixed = self.moving(i)
            if moving is not const(0):
                wanted, offset = next(left, (const(0), const(0)))
                if wanted is not moving:
                    raise Mismatch(f"dimension {d} of {buffer.name} is indexed with {i}")
                fixed = fixed - offset
                dims.append(d)
            begin.append(fixed)
        if next(left, None) is not None:
            raise Mismatch(f"{buffer.name} varies along fewer dimensions than {operand}")
        box = Box(buffer, tuple(begin), tuple(dims))
        if self.matched.setdefault(operand, box) != box:
            raise Mismatch(f"two reads of {operand.name} begin at different elements")

    def moving(self, index: Expr) -> tuple[Expr, Expr]:
        """(what varies over the loops, what does not)."""
        inside = set(self.by.values())
        coefficients, constant = terms(index)
        inner = {a: c for a, c in coefficients.items() if variables(a) & inside}
        outer = {a: c for a, c in coefficients.items() if a not in inner}
        return linear(inner), linear(outer, constant)


def intrinsic_loops(func: Func) -> list[For]:
    """The loops that an intrinsic runs."""
    return [s for s in loops(func) if isinstance(s.kind, Intrinsic)]
