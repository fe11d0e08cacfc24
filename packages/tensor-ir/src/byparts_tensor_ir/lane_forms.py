"""Forms of values on lanes: what varies, which loads are blocks, which selects take which arms.

    x[j]        neighbours: one block                      x[2 * j]   every second of two blocks
    x[j // s]   s lanes read one element: fewer, repeated  j % s      0, 1, ..., s - 1, 0, 1, ...

`x[j // s]` and `j % s` need a first lane that is a multiple of s, which is so if all else in the
index is.  Anything else is computed one lane after the other.  `LaneForms.check` says before
vectors are made whether statements have a form at all: a vector of bool has none in some places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from byparts_tensor_ir.access import EmitError, flat_index, is_safe, step_of, unrounded
from byparts_tensor_ir.expression import FLOATS, INDEX, VALUE_BYTES, Expr, const, variable
from byparts_tensor_ir.functions import maximum, minimum
from byparts_tensor_ir.guards import room
from byparts_tensor_ir.index import not_negative, terms
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Buffer, Statement, Store, walk
from byparts_tensor_ir.substitute import subexpressions, substituted, variables
from byparts_tensor_ir.vector import Assign, Lanes

_DEEP = 100  # subexpressions; an expression of fewer is not too deep
_HALF = (1 << 32) - 1
_CONDITIONS = ("lt", "le", "eq", "ne", "and", "or", "xor", "not", "cast", "lane mask")


class Varying:
    """Finds and remembers which expressions have another value in each lane."""

    def __init__(self) -> None:
        self.depends: dict[tuple[Expr, Expr], bool] = {}

    def varies(self, e: Expr, lanes: Lanes) -> bool:
        """Whether lanes hold different values of e."""
        key = (e, lanes.var)
        known = self.depends.get(key)
        if known is None:
            if e.op == "register":
                known = e.attr.lanes > 1
            elif e.op == "lane mask":
                known = True
            else:
                known = e is lanes.var or any(self.varies(a, lanes) for a in e.args)
            self.depends[key] = known
        return known

    def operands_first(self, e: Expr, lanes: Lanes | None) -> Iterator[Expr]:
        """The values to compute before that of a long chain, so that Python's stack suffices."""
        order = list(subexpressions(e))
        chooses = any(x.op in ("select", "and", "or") for x in order)  # else all is computed anyway
        if len(order) > _DEEP and (not chooses or is_safe(e)):
            for x in order:
                if lanes is not None:
                    self.varies(x, lanes)
                if x.op not in ("const", "var") and (x.dtype != INDEX or x.op == "load"):
                    yield x


@dataclass(frozen=True)
class Block:
    """Elements of a load in lanes.

    Attributes:
        how: "block", "repeated" or "every second" of neighbours in memory, or "by lane".
        first: the position of the first element.
        times: how many lanes read one element.
    """

    how: str
    first: Expr
    times: int = 1


class LaneForms(Varying):
    """The forms of the values of one function; remembers which have one.

    Attributes:
        vector_bytes: of a vector register.
    """

    def __init__(self, vector_bytes: int) -> None:
        super().__init__()
        self.vector_bytes = vector_bytes
        self.checked: set[Expr] = set()
        self.sizes: dict[tuple[Expr, int], int] = {}  # of masks, by the number of lanes

    def load(self, e: Expr, lanes: Lanes) -> Block:
        """The form of a load that varies.

        Raises:
            EmitError: it is of bool, and not of neighbours.
        """
        flat = flat_index(e.attr, e.args)
        try:
            step = step_of(flat, lanes)
        except EmitError:
            step = -1
        first = substituted(flat, {lanes.var: lanes.base})
        if step == 1:
            return Block("block", first)
        if e.dtype == "bool":
            raise EmitError(f"a strided load of bool: {e}")
        if step == -1 and (repetition := repeated(flat, lanes)):
            return Block("repeated", repetition[1], repetition[0])
        return Block("every second", first) if step == 2 else Block("by lane", first)

    def select(self, e: Expr, lanes: Lanes) -> str:
        """The form of a select that varies.

        It is a "limit" of two floats, "all" where both arms are computed, "one" where all lanes
        choose the same, "block" where it is a part of a block, "rare", or else "by lane".

        Raises:
            EmitError: it is of bool.
        """
        if e.dtype == "bool":
            raise EmitError(f"a select between conditions: {e}")
        condition, a, b = e.args
        if e.attr == "rare":
            return "rare"
        if is_safe(a) and is_safe(b):
            return "limit" if limit_function(e) else "all"
        if not self.varies(condition, lanes):
            return "one"
        return "by lane" if self.part_of_block(e, lanes) is None else "block"

    def part_of_block(self, e: Expr, lanes: Lanes) -> Lanes | None:
        """The lanes for which `i < n` holds, where e is `x[i] if i < n else 0` of neighbours x."""
        condition, a, b = e.args
        left = room(condition)
        if left is None or a.op != "load" or b is not const(0, e.dtype) or e.dtype == "bool":
            return None
        try:
            steps = step_of(left, lanes), step_of(flat_index(a.attr, a.args), lanes)
        except EmitError:
            return None
        if steps != (-1, 1):
            return None
        most = const(lanes.lanes) if lanes.count is None else lanes.count
        count = minimum(maximum(substituted(left, {lanes.var: lanes.base}) + 1, const(0)), most)
        return replace(lanes, count=None if count is most else count)

    def mask_bytes(self, e: Expr, lanes: Lanes) -> int:
        """The bytes of a lane of a condition that varies: those of what it compares."""
        key = e, lanes.lanes
        if key not in self.sizes:
            self.sizes[key] = self._mask_bytes(e, lanes)
        return self.sizes[key]

    def _mask_bytes(self, e: Expr, lanes: Lanes) -> int:
        if e.op in ("lane mask", "load"):
            most = self.vector_bytes // lanes.lanes
            return min(8, most) if e.op == "lane mask" else most
        x = e.args[0]
        if e.op == "cast" or x.dtype != "bool":
            return VALUE_BYTES[x.dtype]
        return max([self.mask_bytes(a, lanes) for a in e.args if self.varies(a, lanes)])

    # -- whether there is a form ---------------------------------------------------------------

    def check(self, body: Sequence[Statement], lanes: Lanes) -> None:
        """Check that the statements of a vector have forms, in the order in which they are printed.

        Raises:
            EmitError: one has none; shows the expression.
        """
        for s in walk(body):
            values = unrounded(s) if isinstance(s, Store) else ()
            for v in s.values if isinstance(s, Assign) else values:
                for x in self.operands_first(v, lanes):
                    self._check_value(x, lanes)
                self._check_value(v, lanes)

    def _check_value(self, e: Expr, lanes: Lanes) -> None:
        e = expanded(e)
        if e in self.checked or not self.varies(e, lanes):
            return
        if e.op == "select":
            self._check_select(e, lanes)
        elif e.op == "load":
            self.load(e, lanes)
        elif e.dtype == "bool" and e.op not in _CONDITIONS:
            raise EmitError(f"{e.op} of conditions in lanes: {e}")
        elif e.op != "lane mask" and remainders(e, lanes) is None:
            for a in e.args:
                self._check_value(a, lanes)
        self.checked.add(e)

    def _check_select(self, e: Expr, lanes: Lanes) -> None:
        condition, a, b = e.args
        form = self.select(e, lanes)
        if form in ("block", "by lane"):
            return  # computed one lane after the other
        for x in (a, b) if form == "one" else (b, condition, a):
            self._check_value(x, lanes)


def is_padding(buffer: Buffer, first: Expr, lanes: Lanes) -> bool:
    """Whether lanes that do not count are the padding behind a local buffer, of whole lines."""
    if lanes.count is None or first.op != "const":
        return False
    return first.attr % lanes.lanes == 0 and buffer.size - first - lanes.count is const(0)


def is_within(buffer: Buffer, first: Expr, lanes: Lanes) -> bool:
    """Whether a buffer has elements for all lanes, also for those that nobody uses."""
    return not_negative(buffer.size - lanes.lanes - first)


def limit_function(e: Expr) -> str:
    """The function that `a if a < b else b`, or with `>`, of floats is; else ""."""
    condition, a, b = e.args
    if condition.op != "lt" or e.dtype not in FLOATS:
        return ""
    if condition.args == (a, b):
        return "lesser"
    return "greater" if condition.args == (b, a) else ""


def halves_of(e: Expr) -> tuple[Expr, ...]:
    """The factors of a product of u64 whose upper halves are not to count; else none."""
    factors = []
    for x in e.args if e.dtype == "u64" and e.op == "mul" else ():
        if x.op == "const" and x.attr <= _HALF:
            factors.append(x)
        elif x.op == "and" and x.args[1].op == "const" and x.args[1].attr == _HALF:
            factors.append(x.args[0])
    return tuple(factors) if len(factors) == 2 else ()


def repeated(flat: Expr, lanes: Lanes) -> tuple[int, Expr] | None:
    """(s, index of the first element) where lane l reads element `l // s` from there on.

    `None`: the index is not of that kind.
    """
    varying = [x for x in subexpressions(flat) if lanes.var in variables(x)]
    quotients = [x for x in varying if x.op == "floordiv"]
    if len(quotients) != 1 or not _begins_whole(quotients[0], lanes):
        return None
    (quotient,) = quotients
    s = int(quotient.args[1].attr)
    at = variable("element")
    other = substituted(flat, {quotient: at})
    if lanes.var in variables(other) or lanes.lanes <= s:
        return None
    try:
        step = step_of(other, Lanes(at, at, lanes.lanes))
    except EmitError:
        return None
    first = substituted(quotient, {lanes.var: lanes.base})
    return (s, substituted(other, {at: first})) if step == 1 else None


def remainders(e: Expr, lanes: Lanes) -> list[int] | None:
    """The values of `i % s` in all lanes; `None` where they are not the same in each vector."""
    if e.op != "mod" or not _begins_whole(e, lanes):
        return None
    s = int(e.args[1].attr)
    return [lane % s for lane in range(lanes.lanes)]


def _begins_whole(e: Expr, lanes: Lanes) -> bool:
    """Whether e, a quotient or remainder by s, is of a multiple of s in lane 0 of each vector."""
    inside, divisor = e.args
    if divisor.op != "const" or divisor.attr < 2 or lanes.lanes % divisor.attr:
        return False
    coefficients, constant = terms(inside)
    low = lanes.var.attr.low if lanes.var.op == "var" else 1
    rest = [c for a, c in coefficients.items() if a is not lanes.var]
    of_lane = coefficients.get(lanes.var) == 1
    return of_lane and not any(c % divisor.attr for c in (*rest, constant + low))
