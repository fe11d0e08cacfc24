"""Values as vectors of GCC and clang, where they vary over lanes, in the form of `lane_forms.py`.

A condition is a vector of 0 and -1, of lanes as wide as what it compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from byparts_tensor_ir.emit.language import Fields, Forms, written
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.emit.vectors import vector_name
from byparts_tensor_ir.expression import HALVES, INDEX, VALUE_BYTES, Expr, const
from byparts_tensor_ir.functions import FUNCTIONS, maximum, minimum
from byparts_tensor_ir.lane_forms import (
    LaneForms,
    halves_of,
    is_padding,
    is_within,
    limit_function,
    remainders,
)
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Buffer
from byparts_tensor_ir.substitute import renewed, substituted
from byparts_tensor_ir.vector import Lanes, lane_mask


class VectorValues:
    """Texts of values in lanes.

    Attributes:
        numbers: the values that are the same in all lanes.
        forms: what varies, and in which form.
        table: forms of operations on vectors.
        used: the vector types (dtype, lanes) so far.
    """

    def __init__(
        self,
        numbers: Values,
        forms: LaneForms,
        table: Forms,
        locals: Iterable[Buffer],
    ) -> None:
        self.numbers, self.forms, self.table = numbers, forms, table
        self.text, self.locals = numbers.text, {*locals}
        self.used: set[tuple[str, int]] = set()

    def deep_value(self, e: Expr, lanes: Lanes | None) -> str:
        """Compute the value as `value` does, operands first, so that Python's stack suffices."""
        for x in self.forms.operands_first(e, lanes):
            self.value(x, lanes)
        return self.value(e, lanes)

    def value(self, e: Expr, lanes: Lanes | None) -> str:
        """The text of a value: a vector where it varies over the lanes, else a number."""
        e = expanded(e)
        if lanes is None or not self.forms.varies(e, lanes):
            return self.numbers.value(e)
        if e.op == "register":
            return self.text.name(e)
        known = self.text.value(e)
        if known is not None:
            return known
        if e.op == "select":
            return self.chosen(e, lanes)
        return self.named(e, self.operation(e, lanes), lanes)

    def named(self, e: Expr, text: str, lanes: Lanes) -> str:
        """The value under a new name."""
        name = self.text.fresh()
        self.text.line(f"const {self.type_of(e, lanes)} {name} = {text};")
        self.text.remember(e, name)
        return name

    def type_of(self, e: Expr, lanes: Lanes) -> str:
        """The type of a value that varies."""
        dtype = f"i{8 * self.forms.mask_bytes(e, lanes)}" if e.dtype == "bool" else e.dtype
        return self.vector(dtype, lanes.lanes)

    def vector(self, dtype: str, lanes: int) -> str:
        """The name of a vector type, which is declared before the function."""
        self.used.add((dtype, lanes))
        return vector_name(dtype, lanes)

    def wide(self, e: Expr, lanes: Lanes) -> str:
        """The value as a vector."""
        text = self.value(e, lanes)
        if self.forms.varies(e, lanes):
            return text
        return f"({text} - ({self.vector(e.dtype, lanes.lanes)}){{}})"

    def mask(self, e: Expr, size: int, lanes: Lanes) -> str:
        """A condition as lanes of 0 and -1 that are `size` bytes wide."""
        if not self.forms.varies(e, lanes):
            v = self.vector(f"i{8 * size}", lanes.lanes)
            return f"((int{8 * size}_t)-({self.numbers.value(e)} != 0) - ({v}){{}})"
        text = self.value(e, lanes)
        if self.forms.mask_bytes(e, lanes) == size:
            return text
        return f"__builtin_convertvector({text}, {self.vector(f'i{8 * size}', lanes.lanes)})"

    # -- choices -------------------------------------------------------------------------------

    def chosen(self, e: Expr, lanes: Lanes) -> str:
        """A select, in the form that it has."""
        form, (condition, a, b) = self.forms.select(e, lanes), e.args
        if form == "rare":
            return self.rare(e, lanes)
        if form == "one":
            return self.one_arm(e, lanes)
        if form == "by lane":
            return self.by_lane(e, lanes)
        if form == "block":
            part = self.forms.part_of_block(e, lanes)
            assert part is not None, "the form says so"
            return self.load(a, part)
        if form == "limit":
            w = self.vector("f32" if e.dtype in HALVES else e.dtype, lanes.lanes)
            both = f"{self.wide(a, lanes)}, {self.wide(b, lanes)}"
            return self.named(e, f"{limit_function(e)}_{w}({both})", lanes)
        if self.forms.varies(condition, lanes):
            test = self.mask(condition, VALUE_BYTES[e.dtype], lanes)
        else:
            test = self.numbers.value(condition)
        return self.named(e, f"{test} ? {self.wide(a, lanes)} : {self.wide(b, lanes)}", lanes)

    def one_arm(self, e: Expr, lanes: Lanes) -> str:
        """A select of which all lanes choose the same arm; the other may read outside."""
        condition, a, b = e.args
        test, name = self.numbers.value(condition), self.text.fresh()
        self.text.line(f"{self.type_of(e, lanes)} {name};")
        for head, arm in ((f"if ({test})", a), ("else", b)):
            with self.text.block(head):
                self.text.line(f"{name} = {self.wide(arm, lanes)};")
        self.text.remember(e, name)
        return name

    def rare(self, e: Expr, lanes: Lanes) -> str:
        """A select whose first arm is computed only if some lane chooses it."""
        condition, a, b = e.args
        name, usual = self.text.fresh(), self.value(b, lanes)
        test, i32 = self.mask(condition, 4, lanes), self.vector("i32", lanes.lanes)
        self.text.line(f"{self.type_of(e, lanes)} {name} = {usual};")
        head = self.numbers.language.statements["rare"]
        with self.text.block(head.format(condition=f"any_{i32}({test})")):
            self.text.line(f"{name} = {test} ? {self.value(a, lanes)} : {usual};")
        self.text.remember(e, name)
        return name

    # -- one lane after the other --------------------------------------------------------------

    def count_of(self, lanes: Lanes) -> str:
        """The number of lanes."""
        return str(lanes.lanes) if lanes.count is None else self.numbers.index(lanes.count)

    def each_lane(self, lane: str, lanes: Lanes) -> AbstractContextManager[None]:
        """A loop over the lanes that count."""
        end = self.count_of(lanes)
        return self.text.block(f"for (int64_t {lane} = 0; {lane} < {end}; ++{lane})")

    def by_lane(self, e: Expr, lanes: Lanes) -> str:
        """The value computed for one lane after the other.

        The loop variable has the extent that it has outside, so that what is known of indices is
        known in a lane too.
        """
        name, lane, at = self.text.fresh(), self.text.fresh("l"), self.text.fresh("i")
        self.text.line(f"{self.vector(e.dtype, lanes.lanes)} {name} = {{}};")
        with self.each_lane(lane, lanes):
            place = self.numbers.index(lanes.base + self.text.number(lane))
            self.text.line(f"const int64_t {at} = {place};")
            by = {lanes.var: renewed(lanes.var, name=at)}
            if lanes.count is not None:  # the loop is over lanes that count
                by[lane_mask(lanes.count)] = const(True, "bool")
            here = substituted(e, by)
            self.text.line(f"{name}[{lane}] = {self.numbers.value(here)};")
        self.text.remember(e, name)
        return name

    def operation_by_lane(self, e: Expr, lanes: Lanes) -> str:
        """An operation that vectors do not have, on one lane of its operands after the other."""
        name, lane = self.text.fresh(), self.text.fresh("l")
        operands = [
            f"{self.value(a, lanes)}[{lane}]"
            if self.forms.varies(a, lanes)
            else self.numbers.value(a)
            for a in e.args
        ]
        self.text.line(f"{self.vector(e.dtype, lanes.lanes)} {name} = {{}};")
        with self.each_lane(lane, lanes):
            self.text.line(f"{name}[{lane}] = {self.numbers.of_texts(e, operands)};")
        return name

    def function_by_lane(self, e: Expr, lanes: Lanes) -> str:
        """A function of the C library of one lane after the other."""
        args = [self.wide(a, lanes) for a in e.args]
        name, lane = self.text.fresh(), self.text.fresh("l")
        self.text.line(f"{self.vector(e.dtype, lanes.lanes)} {name} = {{}};")
        with self.each_lane(lane, lanes):
            inside = [f"{a}[{lane}]" for a in args]
            self.text.line(f"{name}[{lane}] = {self.numbers.of_texts(e, inside)};")
        return name

    # -- operations ----------------------------------------------------------------------------

    def operation(self, e: Expr, lanes: Lanes) -> str:
        """The text of an operation on vectors."""
        n = lanes.lanes
        if e.op == "lane mask":
            return self.lane_mask(e, lanes)
        if e.op == "load":
            return self.load(e, lanes)
        if e is lanes.var:
            iota = ", ".join(map(str, range(n)))
            return f"(({self.vector(INDEX, n)}){{{iota}}} + {self.numbers.index(lanes.base)})"
        if values := remainders(e, lanes):
            return f"({self.vector(INDEX, n)}){{{', '.join(map(str, values))}}}"
        if e.op == "linear":
            pairs = zip(e.args, e.attr[0], strict=True)
            parts = [f"{self.wide(a, lanes)} * {c}" for a, c in pairs]
            return f"({' + '.join(parts)} + {e.attr[1]})"
        if e.op == "mul" and e.dtype == INDEX:  # any number of factors
            return " * ".join([self.wide(a, lanes) for a in e.args])
        if factors := halves_of(e):
            a, b = (self.wide(x, lanes) for x in factors)
            return f"half_product_{self.vector(e.dtype, n)}({a}, {b})"
        if e.op in FUNCTIONS:
            return self.function_by_lane(e, lanes)
        form = self.table.of(e, _BY_LANE)
        if form != _BY_LANE:
            args = self.operands(e, lanes)
            masks = e.dtype == "bool" and e.op != "cast" and e.args[0].dtype == "bool"
            form = self.table.get(("mask", e.op), form) if masks else form
            numbers = self.numbers.language
            return written(form, Fields(e, args, numbers, lambda dtype: self.vector(dtype, n)))
        for x in e.args:
            if x.dtype != "bool":
                self.wide(x, lanes)
        if e.dtype == INDEX or any(a.dtype == "bool" for a in e.args):
            return self.by_lane(e, lanes)
        return self.operation_by_lane(e, lanes)

    def operands(self, e: Expr, lanes: Lanes) -> list[str]:
        """The operands as vectors; conditions with lanes as wide as those of the result."""
        if e.dtype == "bool" and e.op != "cast":
            size = self.forms.mask_bytes(e, lanes)
        else:
            size = VALUE_BYTES[e.dtype]
        return [
            self.mask(a, size, lanes) if a.dtype == "bool" else self.wide(a, lanes) for a in e.args
        ]

    def lane_mask(self, e: Expr, lanes: Lanes) -> str:
        """Whether the lane is one of the first ones."""
        n, count = lanes.lanes, self.numbers.index(e.args[0])
        bits = 8 * self.forms.mask_bytes(e, lanes)
        v, iota = self.vector(f"i{bits}", n), ", ".join(map(str, range(n)))
        return f"(({v}){{{iota}}} < ({v})((int{bits}_t){count} - ({v}){{}}))"

    # -- loads ---------------------------------------------------------------------------------

    def load(self, e: Expr, lanes: Lanes) -> str:
        """The elements of all lanes, in the form that the load has."""
        form = self.forms.load(e, lanes)
        if form.how == "by lane":
            return self.by_lane(e, lanes)
        if form.how == "every second":
            return self.every_second(e, form.first, lanes)
        if form.how == "repeated":
            return self.repeated(e, form.times, form.first, lanes)
        local = e.attr in self.locals  # else what nobody uses is not there
        whole = local and (
            is_within(e.attr, form.first, lanes) or is_padding(e.attr, form.first, lanes)
        )
        text = self.block(e, form.first, None if whole else lanes.count, lanes.lanes)
        if e.dtype != "bool":
            return text
        size = self.forms.mask_bytes(e, lanes)
        return f"(__builtin_convertvector({text}, {self.vector(f'i{8 * size}', lanes.lanes)}) != 0)"

    def block(self, e: Expr, first: Expr, count: Expr | None, n: int) -> str:
        """Neighbours in memory: the first `count` of n, or all."""
        v, place = self.vector(e.dtype, n), f"{e.attr.name} + {self.numbers.index(first)}"
        if count is None:
            return f"load_{v}({place})"
        return f"load_part_{v}({place}, {self.numbers.index(count)})"

    def every_second(self, e: Expr, first: Expr, lanes: Lanes) -> str:
        """Every second element: of two vectors, the second of which ends at the last of them."""
        n, v = lanes.lanes, self.vector(e.dtype, lanes.lanes)
        names = [self.text.fresh(), self.text.fresh()]
        for name, at, less in zip(names, (first, first + (n - 1)), (1, n), strict=True):
            left = None
            if lanes.count is not None:
                left = minimum(maximum(lanes.count * 2 - less, const(0)), const(n))
            self.text.line(f"const {v} {name} = {self.block(e, at, left, n)};")
        picked = [2 * i if 2 * i < n else n + 2 * i - (n - 1) for i in range(n)]
        return f"__builtin_shufflevector({names[0]}, {names[1]}, {', '.join(map(str, picked))})"

    def repeated(self, e: Expr, times: int, first: Expr, lanes: Lanes) -> str:
        """Fewer elements, each in `times` lanes."""
        n = lanes.lanes // times
        count = None if lanes.count is None else (lanes.count + (times - 1)) // times
        name, block = self.text.fresh(), self.block(e, first, count, n)
        self.text.line(f"const {self.vector(e.dtype, n)} {name} = {block};")
        picked = ", ".join([str(lane // times) for lane in range(lanes.lanes)])
        return f"__builtin_shufflevector({name}, {name}, {picked})"

    # -- stores --------------------------------------------------------------------------------

    def store(self, buffer: Buffer, first: Expr, value: Expr, lanes: Lanes, streamed: bool) -> None:
        """Store neighbours: past the caches where it is wanted, or the lanes that count."""
        v = self.vector(buffer.dtype, lanes.lanes)
        if value.dtype == "bool":
            text = f"({v})-{self.mask(value, 1, lanes)}"
        else:
            text = self.wide(value, lanes)
        place = f"{buffer.name} + {self.numbers.index(first)}"
        if streamed and lanes.count is None:
            self.text.line(f"stream_{v}({place}, {text}, stream_{buffer.name});")
        elif lanes.count is None or (buffer in self.locals and is_padding(buffer, first, lanes)):
            self.text.line(f"store_{v}({place}, {text});")
        else:
            count = self.numbers.index(lanes.count)
            self.text.line(f"store_part_{v}({place}, {text}, {count});")

    def scatter(self, buffer: Buffer, flat: Expr, value: Expr, text: str, lanes: Lanes) -> None:
        """Store one lane after the other."""
        lane = self.text.fresh("l")
        here = {lanes.var: lanes.base + self.text.number(lane)}
        at = self.numbers.index(substituted(flat, here))
        picked = f"{text}[{lane}]" if self.forms.varies(value, lanes) else text
        picked += " != 0" if value.dtype == "bool" else ""
        with self.each_lane(lane, lanes):
            stored = self.numbers.stored(buffer.dtype, picked)
            self.text.line(f"{buffer.name}[{at}] = {stored};")


_BY_LANE = "by lane"
