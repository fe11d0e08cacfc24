"""C for values: expressions as named scalars, or as vectors where they vary over lanes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from byparts_tensor_ir.emit.idioms import halves_of, limit_function
from byparts_tensor_ir.emit.patterns import remainders, repeated
from byparts_tensor_ir.emit.strategy import (
    EmitError,
    Strategy,
    flat_index,
    is_safe,
    step_of,
)
from byparts_tensor_ir.emit.vectors import C_TYPES, VALUE_TYPES, literal, vector_name
from byparts_tensor_ir.expression import FLOATS, HALVES, INDEX, VALUE_BYTES, Expr, const, make
from byparts_tensor_ir.functions import FUNCTIONS, maximum, minimum
from byparts_tensor_ir.guards import room
from byparts_tensor_ir.index import not_negative
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Buffer, Func
from byparts_tensor_ir.substitute import renewed, substituted
from byparts_tensor_ir.vector import Lanes, lane_mask


class Values(Strategy):
    """Lines of C so far, and the names of the values computed in them.

    Attributes:
        lines: so far.
        scopes: expression -> name, of each open block.
        vectors: the vector types (dtype, lanes) used.
        masks: name or text of a mask -> bytes of one of its lanes.
        registers: register -> name.
    """

    def __init__(self, func: Func, vector_bytes: int) -> None:
        super().__init__(func, vector_bytes)
        self.lines: list[str] = []
        self.depth = 1
        self.scopes: list[dict[Expr, str]] = [{}]
        self.vectors: set[tuple[str, int]] = set()
        self.count = 0
        self.masks: dict[str, int] = {}
        self.registers: dict[Expr, str] = {}
        self.taken: set[str] = set()  # names of buffers, sizes and loops

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines between braces, with names of their own."""
        self.line(f"{head} {{".lstrip())
        self.depth += 1
        self.scopes.append({})
        yield
        self.scopes.pop()
        self.depth -= 1
        self.line("}")

    def fresh(self, stem: str = "t") -> str:
        """A name that nothing in the function has."""
        self.count += 1
        while f"{stem}{self.count}" in self.taken:
            self.count += 1
        return f"{stem}{self.count}"

    def deep_value(self, e: Expr, lanes: Lanes | None) -> str:
        """Compute the value as `value` does, operands first, so that Python's stack suffices."""
        for x in self.operands_first(e, lanes):
            self.value(x, lanes)
        return self.value(e, lanes)

    def value(self, e: Expr, lanes: Lanes | None) -> str:
        """The name of e's value: a vector where it varies over the lanes, else a scalar."""
        e = expanded(e)
        if lanes is not None and not self.varies(e, lanes):
            return self.value(e, None)
        if e.op == "const":
            return literal(e)
        if e.op in ("name", "register"):
            return self.index(e)
        if lanes is None and (e.op == "var" or (e.dtype == INDEX and e.op in _INDEX_OPS)):
            return self.index(e)
        for scope in reversed(self.scopes):
            if e in scope:
                return scope[e]
        if e.op == "select":
            return self.chosen(e, lanes)
        text = self.scalar(e) if lanes is None else self.vectors_of(e, lanes)
        return self.named(e, text, lanes)

    def named(self, e: Expr, text: str, lanes: Lanes | None) -> str:
        name = self.fresh()
        self.line(f"const {self.type_of(e, lanes, text)} {name} = {text};")
        self.scopes[-1][e] = name
        if text in self.masks:
            self.masks[name] = self.masks[text]
        return name

    def type_of(self, e: Expr, lanes: Lanes | None, text: str = "") -> str:
        if lanes is None:
            return VALUE_TYPES[e.dtype]
        if e.dtype == "bool":
            size = self.masks[text]
            return self.vector(f"i{8 * size}", lanes.lanes)
        return self.vector(e.dtype, lanes.lanes)

    def vector(self, dtype: str, lanes: int) -> str:
        self.vectors.add((dtype, lanes))
        return vector_name(dtype, lanes)

    def value_vector(self, dtype: str, lanes: int) -> str:
        """The type whose arithmetic it is: of halves that of f32."""
        return self.vector("f32" if dtype in HALVES else dtype, lanes)

    def chosen(self, e: Expr, lanes: Lanes | None) -> str:
        """A select: both arms, or only the chosen one where the other may read outside."""
        if e.dtype == "bool" and lanes is not None:
            raise EmitError(f"a select between conditions: {e}")
        condition, a, b = e.args
        if e.attr == "rare":
            return self.rare(e, lanes)
        uniform = lanes is None or not self.varies(condition, lanes)
        if is_safe(a) and is_safe(b):
            if lanes is not None and (limit := limit_function(e)):
                v = self.value_vector(e.dtype, lanes.lanes)
                return self.named(
                    e, f"{limit}_{v}({self.wide(a, lanes)}, {self.wide(b, lanes)})", lanes
                )
            if uniform and lanes is not None:
                c = self.value(condition, None)
                return self.named(e, f"{c} ? {self.wide(a, lanes)} : {self.wide(b, lanes)}", lanes)
            if lanes is None:
                texts = [self.value(x, None) for x in e.args]
                return self.named(e, f"{texts[0]} ? {texts[1]} : {texts[2]}", None)
            mask = self.mask(condition, VALUE_BYTES[e.dtype], lanes)
            return self.named(e, f"{mask} ? {self.wide(a, lanes)} : {self.wide(b, lanes)}", lanes)
        if not uniform and lanes is not None:
            inside = self.lanes_inside(e, lanes)
            return self.load(a, inside) if inside else self.lane_by_lane(e, lanes)
        name = self.fresh()
        test = self.value(condition, None)
        self.line(f"{self.type_of(e, lanes)} {name};")
        for head, arm in ((f"if ({test})", a), ("else", b)):
            with self.block(head):
                text = self.value(arm, None) if lanes is None else self.wide(arm, lanes)
                self.line(f"{name} = {text};")
        self.scopes[-1][e] = name
        return name

    def rare(self, e: Expr, lanes: Lanes | None) -> str:
        """A select whose first arm is computed only if some lane chooses it."""
        condition, a, b = e.args
        name, usual = self.fresh(), self.value(b, lanes)
        test = self.value(condition, None) if lanes is None else self.mask(condition, 4, lanes)
        self.line(f"{self.type_of(e, lanes)} {name} = {usual};")
        some = test if lanes is None else f"any_{self.vector('i32', lanes.lanes)}({test})"
        with self.block(f"if (__builtin_expect({some}, 0))"):
            text = self.value(a, lanes)
            self.line(f"{name} = {text if lanes is None else f'{test} ? {text} : {usual}'};")
        self.scopes[-1][e] = name
        return name

    def lanes_inside(self, e: Expr, lanes: Lanes) -> Lanes | None:
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
        return Lanes(lanes.var, lanes.base, lanes.lanes, None if count is most else count)

    def lane_by_lane(self, e: Expr, lanes: Lanes) -> str:
        """The value computed for one lane after the other.

        The loop variable has the extent that it has outside, so that what is known of indices is
        known in a lane too.
        """
        name, lane, at = self.fresh(), self.fresh("l"), self.fresh("i")
        v = self.vector(e.dtype, lanes.lanes)
        self.line(f"{v} {name} = {{}};")
        with self.block(f"for (int64_t {lane} = 0; {lane} < {self.count_of(lanes)}; ++{lane})"):
            first = make("name", (), INDEX, (lane, 0))
            self.line(f"const int64_t {at} = {self.index(lanes.base + first)};")
            by = {lanes.var: renewed(lanes.var, name=at)}
            if lanes.count is not None:  # the loop is over lanes that count
                by[lane_mask(lanes.count)] = const(True, "bool")
            here = substituted(e, by)
            self.line(f"{name}[{lane}] = {self.value(here, None)};")
        self.scopes[-1][e] = name
        return name

    def operation_by_lane(self, e: Expr, lanes: Lanes) -> str:
        """An operation that vectors do not have, on one lane of its operands after the other."""
        name, lane = self.fresh(), self.fresh("l")
        operands = [
            f"{self.value(a, lanes)}[{lane}]" if self.varies(a, lanes) else self.value(a, None)
            for a in e.args
        ]
        numbers = [
            make("name", (), a.dtype, (text, 0)) for a, text in zip(e.args, operands, strict=True)
        ]
        self.line(f"{self.vector(e.dtype, lanes.lanes)} {name} = {{}};")
        with self.block(f"for (int64_t {lane} = 0; {lane} < {self.count_of(lanes)}; ++{lane})"):
            number = self.scalar(make(e.op, tuple(numbers), e.dtype, e.attr))
            self.line(f"{name}[{lane}] = {number};")
        return name

    def count_of(self, lanes: Lanes) -> str:
        """C for the number of lanes."""
        return str(lanes.lanes) if lanes.count is None else self.index(lanes.count)

    def part(self, lanes: Lanes) -> tuple[str, str]:
        """Suffixes of the name and arguments of a load or store: empty unless lanes are counted."""
        return ("", "") if lanes.count is None else ("_part", f", {self.index(lanes.count)}")

    def wide(self, e: Expr, lanes: Lanes) -> str:
        """The value as a vector."""
        text = self.value(e, lanes)
        if self.varies(e, lanes):
            return text
        v = self.vector(e.dtype, lanes.lanes)
        return f"({text} - ({v}){{}})"

    def mask(self, e: Expr, size: int, lanes: Lanes) -> str:
        """A condition as lanes of 0 and -1 that are `size` bytes wide."""
        if not self.varies(e, lanes):
            v = self.vector(f"i{8 * size}", lanes.lanes)
            return f"((int{8 * size}_t)-({self.value(e, None)} != 0) - ({v}){{}})"
        text = self.value(e, lanes)
        return self.converted(text, f"i{8 * size}", lanes)

    def converted(self, mask: str, dtype: str, lanes: Lanes) -> str:
        if self.masks[mask] == VALUE_BYTES[dtype]:
            return mask
        return f"__builtin_convertvector({mask}, {self.vector(dtype, lanes.lanes)})"

    def vectors_of(self, e: Expr, lanes: Lanes) -> str:
        """C for an operation on vectors."""
        op, n = e.op, lanes.lanes
        if op == "lane mask":
            count = self.index(e.args[0])
            size = 8 if n * 8 <= self.vector_bytes else self.vector_bytes // n
            v = self.vector(f"i{8 * size}", n)
            iota = ", ".join(map(str, range(n)))
            return self.mask_text(
                f"(({v}){{{iota}}} < ({v})((int{8 * size}_t){count} - ({v}){{}}))", size
            )
        if op == "load":
            return self.load(e, lanes)
        if e is lanes.var:
            v = self.vector(INDEX, n)
            iota = ", ".join(map(str, range(n)))
            return f"(({v}){{{iota}}} + {self.index(lanes.base)})"
        if found := remainders(e, lanes):
            return f"({self.vector(INDEX, n)}){{{', '.join(map(str, found))}}}"
        if op == "linear":
            parts = [f"{self.wide(a, lanes)} * {c}" for a, c in zip(e.args, e.attr[0], strict=True)]
            return f"({' + '.join(parts)} + {e.attr[1]})"
        if e.dtype == "bool":
            return self.vector_condition(e, lanes)
        if op == "mul" and (halves := halves_of(e)):
            a, b = (self.wide(x, lanes) for x in halves)
            return f"half_product_{self.vector(e.dtype, n)}({a}, {b})"
        args = [self.wide(a, lanes) for a in e.args if a.dtype != "bool"]
        v = self.vector(e.dtype, n)
        if op in _OPERATORS:  # a product of indices has any number of factors
            return f" {_OPERATORS[op]} ".join(args)
        if op in ("fma", "sqrt", "rint", "floor", "ceil", "trunc"):
            return f"{op}_{self.value_vector(e.dtype, n)}({', '.join(args)})"
        if op in ("shl", "shr"):
            return self.vector_shift(args[0], args[1], e, n)
        if op == "neg":
            return f"-{args[0]}"
        if op in ("min", "max"):
            a, b = args
            if e.dtype in FLOATS:
                v = self.value_vector(e.dtype, n)
                return (
                    f"({a} != {a}) ? {a} : {'lesser' if op == 'min' else 'greater'}_{v}({a}, {b})"
                )
            return f"({a} {'<' if op == 'min' else '>'} {b}) ? {a} : {b}"
        if op == "abs":
            return (
                f"({args[0]} < 0 ? -{args[0]} : {args[0]})"
                if e.dtype not in FLOATS
                else self.absolute(args[0], e, n)
            )
        if op == "cast":
            return self.vector_cast(e, lanes)
        if op == "bitcast":
            return self.vector_bitcast(e, args[0], n)
        if op in FUNCTIONS:
            return self.called(e, args, lanes)
        if e.dtype == INDEX or any(a.dtype == "bool" for a in e.args):
            return self.lane_by_lane(e, lanes)
        return self.operation_by_lane(e, lanes)

    def called(self, e: Expr, args: list[str], lanes: Lanes) -> str:
        """A function of the C library of one lane after the other."""
        name, lane = self.fresh(), self.fresh("l")
        self.line(f"{self.vector(e.dtype, lanes.lanes)} {name} = {{}};")
        inside = ", ".join([f"{a}[{lane}]" for a in args])
        f = "f" if e.dtype == "f32" else ""
        with self.block(f"for (int64_t {lane} = 0; {lane} < {self.count_of(lanes)}; ++{lane})"):
            self.line(f"{name}[{lane}] = {e.op}{f}({inside});")
        return name

    def vector_bitcast(self, e: Expr, text: str, lanes: int) -> str:
        (x,) = e.args
        for half, how in ((x.dtype, "to"), (e.dtype, "from")):
            if half in HALVES:
                return f"{how}_{self.vector(half, lanes)}({text})"
        return f"({self.vector(e.dtype, lanes)}){text}"

    def vector_shift(self, a: str, b: str, e: Expr, lanes: int) -> str:
        """Shift a by b bits.  From the dtype's width on, the result is 0, or all sign bits."""
        v, bits = self.vector(e.dtype, lanes), 8 * VALUE_BYTES[e.dtype]
        inside = f"(({b} >= 0) & ({b} < {bits}))"
        if e.op == "shr" and e.dtype[0] == "i":
            return f"{a} >> ({inside} ? {b} : {bits - 1} - ({v}){{}})"
        return f"{inside} ? {a} {'<<' if e.op == 'shl' else '>>'} {b} : ({v}){{}}"

    def absolute(self, text: str, e: Expr, lanes: int) -> str:
        bits = f"i{8 * VALUE_BYTES[e.dtype]}"
        i, v = self.vector(bits, lanes), self.vector(e.dtype, lanes)
        most = (1 << (8 * VALUE_BYTES[e.dtype] - 1)) - 1
        return f"({v})(({i}){text} & {most}{'LL' if bits == 'i64' else ''})"

    def vector_condition(self, e: Expr, lanes: Lanes) -> str:
        op = e.op
        if op not in ("not", "cast") and e.args[0].dtype == "bool":
            size = max([self.masks[self.value(a, lanes)] for a in e.args if self.varies(a, lanes)])
            a, b = (self.mask(x, size, lanes) for x in e.args)
            sign = {"and": "&", "or": "|", "xor": "^", "ne": "^", "eq": "=="}
            sign |= {"lt": "& ~", "le": "| ~"}  # b and not a; b or not a
            return self.mask_text(f"({b} {sign[op]} {a})", size)
        if op == "not":
            size = self.masks[self.value(e.args[0], lanes)]
            return self.mask_text(f"~{self.mask(e.args[0], size, lanes)}", size)
        if op == "cast":
            x = e.args[0]
            return self.mask_text(f"({self.value(x, lanes)} != 0)", VALUE_BYTES[x.dtype])
        a, b = (self.wide(x, lanes) for x in e.args)
        return self.mask_text(f"({a} {_COMPARISONS[op]} {b})", VALUE_BYTES[e.args[0].dtype])

    def mask_text(self, text: str, size: int) -> str:
        self.masks[text] = size
        return text

    def vector_cast(self, e: Expr, lanes: Lanes) -> str:
        v, (x,) = self.vector(e.dtype, lanes.lanes), e.args
        if x.dtype in HALVES:  # a value of f32
            return self.value(x, lanes)
        if e.dtype in HALVES:
            return f"rounded_{v}({self.value(x, lanes)})"
        if x.dtype == "bool":
            size = VALUE_BYTES[e.dtype]
            mask = self.mask(x, size, lanes)
            whole = f"-(({self.vector(f'i{8 * size}', lanes.lanes)}){mask})"
            return (
                f"({v}){whole}"
                if e.dtype not in FLOATS
                else f"__builtin_convertvector({whole}, {v})"
            )
        if x.dtype in FLOATS and e.dtype not in FLOATS and VALUE_BYTES[e.dtype] < 4:
            wide = self.vector("i32", lanes.lanes)
            whole = f"__builtin_convertvector({self.value(x, lanes)}, {wide})"
            return f"__builtin_convertvector({whole}, {v})"
        if x.dtype in FLOATS and e.dtype == "u64":
            return self.operation_by_lane(e, lanes)
        if x.dtype in FLOATS and e.dtype == "u32":  # of a negative number modulo 2^bits
            wide = self.vector("i64", lanes.lanes)
            whole = f"__builtin_convertvector({self.value(x, lanes)}, {wide})"
            return f"__builtin_convertvector({whole}, {v})"
        return f"__builtin_convertvector({self.value(x, lanes)}, {v})"

    def load(self, e: Expr, lanes: Lanes) -> str:
        flat = flat_index(e.attr, e.args)
        try:
            step = step_of(flat, lanes)
        except EmitError:
            step = -1
        if step == -1 and (found := repeated(flat, lanes)) and e.dtype != "bool":
            return self.repeated(e, *found, lanes)
        if step != 1:
            if e.dtype == "bool":
                raise EmitError(f"a strided load of bool: {e}")
            return self.every_second(e, flat, lanes) if step == 2 else self.lane_by_lane(e, lanes)
        at = substituted(flat, {lanes.var: lanes.base})
        v = self.vector(e.dtype, lanes.lanes)
        part, count = self.part(lanes)
        unused = e.attr in self.func.locals and not_negative(e.attr.size - lanes.lanes - at)
        if unused or self.past_the_end(e.attr, at, lanes):
            part = count = ""  # reads lanes that nobody uses, so that the buffer is registers
        text = f"load{part}_{v}({e.attr.name} + {self.index(at)}{count})"
        if e.dtype != "bool":
            return text
        size = self.vector_bytes // lanes.lanes
        wide = self.vector(f"i{8 * size}", lanes.lanes)
        return self.mask_text(f"(__builtin_convertvector({text}, {wide}) != 0)", size)

    def every_second(self, e: Expr, flat: Expr, lanes: Lanes) -> str:
        """Every second element: of two vectors, the second of which ends at the last of them."""
        n, v = lanes.lanes, self.vector(e.dtype, lanes.lanes)
        first = substituted(flat, {lanes.var: lanes.base})
        names = [self.fresh(), self.fresh()]
        for name, at, less in zip(names, (first, first + (n - 1)), (1, n), strict=True):
            part = count = ""
            if lanes.count is not None:
                left = minimum(maximum(lanes.count * 2 - less, const(0)), const(n))
                part, count = "_part", f", {self.index(left)}"
            self.line(
                f"const {v} {name} = load{part}_{v}({e.attr.name} + {self.index(at)}{count});"
            )
        picked = [2 * i if 2 * i < n else n + 2 * i - (n - 1) for i in range(n)]
        return f"__builtin_shufflevector({names[0]}, {names[1]}, {', '.join(map(str, picked))})"

    def repeated(self, e: Expr, times: int, first: Expr, lanes: Lanes) -> str:
        """Fewer elements, each in `times` lanes."""
        n = lanes.lanes // times
        v, part, count = self.vector(e.dtype, n), "", ""
        if lanes.count is not None:
            part, count = "_part", f", {self.index((lanes.count + (times - 1)) // times)}"
        name = self.fresh()
        self.line(f"const {v} {name} = load{part}_{v}({e.attr.name} + {self.index(first)}{count});")
        picked = ", ".join([str(lane // times) for lane in range(lanes.lanes)])
        return f"__builtin_shufflevector({name}, {name}, {picked})"

    def past_the_end(self, buffer: Buffer, at: Expr, lanes: Lanes) -> bool:
        """Whether lanes that do not count are padding of a local buffer, which has whole lines."""
        if buffer not in self.func.locals or lanes.count is None or at.op != "const":
            return False
        return at.attr % lanes.lanes == 0 and buffer.size - at - lanes.count is const(0)

    def scalar(self, e: Expr) -> str:
        """C for an operation on numbers."""
        op = e.op
        if op == "load":
            element = f"{e.attr.name}[{self.index(flat_index(e.attr, e.args))}]"
            return f"from_{e.dtype}({element})" if e.dtype in HALVES else element
        args = [self.value(a, None) for a in e.args]
        if op in _OPERATORS:
            return self.narrow(f" {_OPERATORS[op]} ".join(args), e)
        if op in _COMPARISONS:
            return f"{args[0]} {_COMPARISONS[op]} {args[1]}"
        if op in ("floordiv", "mod"):
            name = "floordiv" if op == "floordiv" else "floormod"
            return f"{name}<{VALUE_TYPES[e.dtype]}>({', '.join(args)})"
        if op in ("shl", "shr"):
            name = "shift_left" if op == "shl" else "shift_right"
            return f"{name}<{VALUE_TYPES[e.dtype]}>({', '.join(args)})"
        if op == "not":
            return f"!{args[0]}"
        if op == "neg":
            return self.narrow(f"-{args[0]}", e)
        if op in ("min", "max"):
            a, b = args
            test = f"{a} {'<' if op == 'min' else '>'} {b}"
            test = f"{test} || {a} != {a}" if e.dtype in FLOATS else test
            return f"({test}) ? {a} : {b}"
        if op == "cast":
            if e.dtype == "bool":
                return f"{args[0]} != 0"
            if e.dtype in HALVES or e.args[0].dtype in HALVES:  # a value of f32
                return f"rounded_{e.dtype}({args[0]})" if e.dtype in HALVES else args[0]
            if (
                e.dtype[0] == "u" and e.args[0].dtype in FLOATS
            ):  # of a negative number modulo 2^bits
                return f"({C_TYPES[e.dtype]})unsigned_of({args[0]})"
            return f"({VALUE_TYPES[e.dtype]}){args[0]}"
        if op == "bitcast":
            return self.bitcast(e, args[0])
        if op == "abs" and e.dtype not in FLOATS:
            return self.narrow(f"({args[0]} < 0 ? -{args[0]} : {args[0]})", e)
        name = "fabs" if op == "abs" else op
        f = "f" if VALUE_TYPES[e.dtype] == "float" else ""
        return (
            f"__builtin_{name}{f}({', '.join(args)})"
            if op in _BUILTIN
            else f"{name}{f}({', '.join(args)})"
        )

    def bitcast(self, e: Expr, text: str) -> str:
        (x,) = e.args
        if x.dtype in HALVES:
            return f"({C_TYPES[e.dtype]})to_{x.dtype}({text})"
        if e.dtype in HALVES:
            return f"from_{e.dtype}((uint16_t){text})"
        return f"__builtin_bit_cast({C_TYPES[e.dtype]}, {text})"

    def narrow(self, text: str, e: Expr) -> str:
        """C computes small integers as int."""
        return f"({C_TYPES[e.dtype]})({text})" if VALUE_BYTES[e.dtype] < 4 else text

    # -- indices -------------------------------------------------------------------------------

    def index(self, e: Expr) -> str:
        """C for an index."""
        if e.op == "const":
            return str(e.attr)
        if e.op == "var":
            return str(e.attr.name)
        if e.op == "name":
            return str(e.attr[0])
        if e.op == "register":
            return self.registers[e]
        if e.op == "linear":
            parts = [
                self.index(a) + (f" * {c}" if c != 1 else "")
                for a, c in zip(e.args, e.attr[0], strict=True)
            ]
            return f"({' + '.join([*parts, str(e.attr[1])] if e.attr[1] else parts)})"
        if e.op == "mul":
            return f"({' * '.join(map(self.index, e.args))})"
        if e.op in ("floordiv", "mod"):
            a, b = (self.index(x) for x in e.args)
            if not_negative(e.args[0]) and not_negative(e.args[1]):
                return f"({a} {'/' if e.op == 'floordiv' else '%'} {b})"
            return f"floor{'div' if e.op == 'floordiv' else 'mod'}<int64_t>({a}, {b})"
        if e.op in ("min", "max"):
            return f"{'least' if e.op == 'min' else 'most'}({', '.join(map(self.index, e.args))})"
        return self.value(e, None)


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_INDEX_OPS = ("linear", "mul", "floordiv", "mod", "min", "max")
_BUILTIN = ("sqrt", "abs", "floor", "ceil", "rint", "trunc", "fma")
