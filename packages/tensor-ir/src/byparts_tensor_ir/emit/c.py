"""C for a function: explicit vectors and explicit accumulators, no reassociation by the compiler.

    void NAME(void **a);   a: the buffers in order, then the workspace, then `int64_t *` of the sizes

Compiled as C++ (GCC's C has no `?:` of vectors), with `-ffp-contract=off`: what rounds once is
written as `fma`.  A vectorized loop of any extent becomes whole vectors and one masked rest.  A
reduction over the lanes keeps vectors of partial results and combines them after the loop.

Each subexpression has a name, computed once where it is used; an arm of a `select` that could read
outside its buffer is computed only where it is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from byparts_tensor_ir.emit.vectors import C_TYPES, HEADER, vector_name, vector_types
from byparts_tensor_ir.expression import BYTES, FLOATS, INDEX, Expr, const, make
from byparts_tensor_ir.functions import select
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.index import not_negative, terms
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import (
    Barrier,
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    stores,
    walk,
)
from byparts_tensor_ir.substitute import (
    expressions,
    in_statements,
    loads,
    subexpressions,
    substituted,
    variables,
)
from byparts_tensor_ir.tensor import identity_values

_MOST_UNROLLED_VECTORS = 8  # a constant vectorized loop of more vectors stays a loop
_ACCUMULATORS = 4  # vectors of partial results: an addition takes 4 cycles
_STACK_BYTES = 1 << 16  # larger local buffers stand in the workspace


class EmitError(NotImplementedError):
    """What the emitter cannot write; the message shows the statement."""


@dataclass(frozen=True)
class _Lanes:
    """The lanes of a vectorized loop: its variable is `base` + 0, 1, ..., `count` - 1.

    Attributes:
        var: the loop variable.
        base: the value in lane 0.
        lanes: of a whole vector.
        count: C for how many lanes there are, `None` for all.
    """

    var: Expr
    base: Expr
    lanes: int
    count: str | None = None


@dataclass(frozen=True)
class Source:
    """Emitted code.

    Attributes:
        name: of the C function.
        body: C of the function alone.
        vectors: the vector types (dtype, lanes) that it uses.
        workspace_bytes: that its argument after the buffers must point to.
        parallel: whether it has OpenMP loops.
    """

    name: str
    body: str
    vectors: frozenset[tuple[str, int]]
    workspace_bytes: int
    parallel: bool = False

    @property
    def text(self) -> str:
        """A whole file."""
        return file_of([self])


def file_of(sources: Sequence[Source]) -> str:
    """One C file of several functions."""
    used = {v for s in sources for v in s.vectors}
    return "\n".join([HEADER + vector_types(used), *[s.body for s in sources]])


def emit_c(
    func: Func, vector_bytes: int = 64, aliases: Sequence[tuple[Buffer, Buffer]] = ()
) -> Source:
    """C for the function.

    Args:
        func: any function without GPU threads.
        vector_bytes: of a vector register: 16, 32 or 64.
        aliases: pairs of parameters that the caller may give as one block of memory.

    Raises:
        EmitError: a local buffer of unknown size, or a statement that has no C.
    """
    return _Emitter(func, vector_bytes, aliases).source()


class _Emitter:
    def __init__(
        self, func: Func, vector_bytes: int, aliases: Sequence[tuple[Buffer, Buffer]]
    ) -> None:
        self.func = without_guards(placed_identities(func))
        self.vector_bytes, self.aliased = vector_bytes, {b for pair in aliases for b in pair}
        self.lines: list[str] = []
        self.depth = 1
        self.scopes: list[dict[Any, str]] = [{}]
        self.vectors: set[tuple[str, int]] = set()
        self.count = 0
        self.parallel = False
        self.depends: dict[tuple[Expr, Expr], bool] = {}
        self.workspace = 0
        self.at: dict[Any, list[Buffer]] = {}
        self.masks: dict[str, tuple[int, int]] = {}  # name of a mask -> (bytes of a lane, lanes)

    # -- the function --------------------------------------------------------------------------

    def source(self) -> Source:
        func, n = self.func, len(self.func.params)
        for i, p in enumerate(func.params):
            constant = "" if p in func.outputs else "const "
            restrict = "" if p in self.aliased else " __restrict"
            self.line(
                f"{constant}{C_TYPES[p.dtype]} *{restrict} {p.name} = ({constant}{C_TYPES[p.dtype]} *)a[{i}];"
            )
        for i, size in enumerate(func.sizes):
            self.line(f"const int64_t {size.attr.name} = ((const int64_t *)a[{n + 1}])[{i}];")
        self.place_locals()
        self.declare(None)
        self.statements(func.body)
        body = "\n".join([f'extern "C" void {func.name}(void **a) {{', *self.lines, "}\n"])
        return Source(func.name, body, frozenset(self.vectors), self.workspace, self.parallel)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Any:
        """Lines between braces, with names of their own."""
        self.line(head + " {")
        self.depth += 1
        self.scopes.append({})
        yield
        self.scopes.pop()
        self.depth -= 1
        self.line("}")

    def fresh(self, stem: str = "t") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def place_locals(self) -> None:
        """Decide where each local buffer is declared: in the innermost loop around all its uses."""
        for b in self.func.locals:
            elements = 1
            for d in b.shape:
                if d.op != "const":
                    raise EmitError(f"local buffer {b}: its size is not a number")
                elements *= d.attr
            size = elements * BYTES[b.dtype]
            place = None if b.scope == "global" else self.common_loop(b)
            if size > _STACK_BYTES or (b.scope == "global" and size > 1024):
                if any(s.kind == "parallel" for s in self.around(b)):
                    raise EmitError(f"{b} of {size:,} bytes is inside of a parallel loop")
                self.line(
                    f"{C_TYPES[b.dtype]} *__restrict {b.name} = ({C_TYPES[b.dtype]} *)((char *)a[{len(self.func.params)}] + {self.workspace});"
                )
                self.workspace += -(-size // 64) * 64
            else:
                self.at.setdefault(place, []).append(b)

    def around(self, buffer: Buffer) -> list[For]:
        """The loops around all uses of a buffer, outermost first."""

        def uses(s: Statement) -> bool:
            held = {load.attr for e in expressions(s) for load in loads(e)}
            return buffer in held or (isinstance(s, Store) and buffer in s.targets)

        common: list[For] = []
        body: Sequence[Statement] = self.func.body
        while True:
            users = [s for s in body if any(uses(x) for x in walk([s]))]
            if len(users) != 1 or not isinstance(users[0], (For, If)):
                return common
            if isinstance(users[0], For):
                if users[0].kind == "vectorize":
                    return common
                common.append(users[0])
            body = users[0].body

    def common_loop(self, buffer: Buffer) -> Any:
        around = self.around(buffer)
        return around[-1].var.attr if around else None

    def declare(self, place: Any) -> None:
        """Declare the local buffers that live here."""
        for b in self.at.get(place, ()):
            n = 1
            for d in b.shape:
                n *= d.attr
            self.line(f"{C_TYPES[b.dtype]} {b.name}[{max(1, n)}] __attribute__((aligned(64)));")

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement], lanes: _Lanes | None = None) -> None:
        for s in body:
            if isinstance(s, Store):
                self.store(s, lanes)
            elif isinstance(s, If):
                if lanes is not None and self.varies(s.condition, lanes):
                    raise EmitError(f"a condition on the lanes of a vector: {s.condition}")
                with self.block(f"if ({self.value(s.condition, None)})"):
                    self.statements(s.body, lanes)
            elif isinstance(s, Barrier):
                raise EmitError("a barrier outside of GPU code")
            elif s.kind == "vectorize" and lanes is None:
                self.vectorized(s)
            elif s.kind == "unroll" and s.extent.op == "const":
                for i in range(s.extent.attr):
                    at = const(s.var.attr.low + i)
                    self.declare(s.var.attr)
                    self.statements(in_statements(s.body, {s.var: at}), lanes)
            else:
                self.loop(s, lanes)

    def loop(self, s: For, lanes: _Lanes | None) -> None:
        if "Idx" in s.kind:
            raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
        if s.kind == "parallel":
            self.parallel = True
            self.line("#pragma omp parallel for")
        name, low, end = s.name, s.var.attr.low, self.index(s.extent + s.var.attr.low)
        with self.block(f"for (int64_t {name} = {low}; {name} < {end}; ++{name})"):
            self.declare(s.var.attr)
            self.statements(s.body, lanes)

    def vectorized(self, s: For) -> None:
        """Whole vectors, then the rest with a mask; or scalars where the loop has no vector form."""
        try:
            held = (
                list(self.lines),
                self.count,
                set(self.vectors),
                [dict(x) for x in self.scopes],
                self.depth,
            )
            self.vector_loop(s)
        except EmitError:
            self.lines, self.count, self.vectors, self.scopes, self.depth = held
            self.loop(For(s.var, s.body, "serial"), None)

    def vector_loop(self, s: For) -> None:
        lanes = self.lanes_of(s.body)
        reductions = self.lane_reductions(s)
        self.hoist(s, lanes)
        low, extent = s.var.attr.low, s.extent
        if (
            extent.op == "const"
            and extent.attr <= lanes * _MOST_UNROLLED_VECTORS
            and not reductions
        ):
            for first in range(low, low + extent.attr, lanes):
                left = low + extent.attr - first
                inside = _Lanes(s.var, const(first), lanes, str(left) if left < lanes else None)
                self.statements(s.body, inside)
                self.scopes.append({})
                self.forget_lanes(s.var)
            return
        many = (
            _ACCUMULATORS
            if reductions and not (extent.op == "const" and extent.attr < 4 * lanes)
            else 1
        )
        accumulators = {r: [self.accumulator(r, lanes) for _ in range(many)] for r in reductions}
        name, end = s.name, self.index(extent + low)
        with self.block(""):
            self.line(f"int64_t {name} = {low};")
            for step in dict.fromkeys((many, 1)):
                whole = (
                    extent.op == "const"
                    and (extent.attr % (lanes * many)) < lanes
                    and step == 1
                    and many > 1
                )
                if whole:
                    continue
                with self.block(
                    f"for (; {name} + {lanes * step} <= {end}; {name} += {lanes * step})"
                ):
                    for k in range(step):
                        inside = _Lanes(s.var, s.var + k * lanes, lanes)
                        with self.block("") if step > 1 else self.same():
                            self.lane_body(s.body, inside, accumulators, k)
            if not (extent.op == "const" and extent.attr % lanes == 0):
                with self.block(f"if ({name} < {end})"):
                    count = self.fresh("n")
                    self.line(f"const int64_t {count} = {end} - {name};")
                    self.lane_body(s.body, _Lanes(s.var, s.var, lanes, count), accumulators, 0)
            for r, parts in accumulators.items():
                self.finish_reduction(r, parts, lanes)

    @contextmanager
    def same(self) -> Any:
        yield

    def forget_lanes(self, var: Expr) -> None:
        """After a vector, what depended on its lanes is another value."""
        self.scopes.pop()
        for scope in self.scopes:
            for e in [e for e in scope if isinstance(e, Expr) and var in variables(e)]:
                del scope[e]

    def lane_body(
        self, body: Sequence[Statement], lanes: _Lanes, accumulators: dict[Store, Any], k: int
    ) -> None:
        """The body for one vector; reductions over lanes go to the k-th accumulators."""
        self.reducing = {r: parts[k] for r, parts in accumulators.items()}
        self.statements(body, lanes)
        self.reducing = {}

    reducing: dict[Store, tuple[Expr, ...]] = {}

    def lanes_of(self, body: Sequence[Statement]) -> int:
        """As many lanes as the widest element has in a register."""
        widest = 1
        for s in walk(body):
            if isinstance(s, Store):
                widest = max([widest, *[BYTES[t.dtype] for t in s.targets]])
                for v in s.values:
                    for e in subexpressions(expanded(v)):
                        if e.dtype != INDEX or e.op == "load":
                            widest = max(widest, BYTES[e.dtype])
                    if v.dtype == INDEX:
                        widest = 8
        return self.vector_bytes // widest

    def lane_reductions(self, loop: For) -> list[Store]:
        """The reductions whose target does not depend on the lane."""
        found = []
        for s in stores(loop.body):
            if any(loop.var in variables(i) for i in s.index):
                continue
            inner = {x.var for x in walk(loop.body) if isinstance(x, For)}
            if s.reducer is None or any(variables(i) & inner for i in s.index):
                raise EmitError(
                    f"all lanes of {loop.name} store to one element of {s.targets[0].name}"
                )
            found.append(s)
        return found

    def accumulator(self, store: Store, lanes: int) -> tuple[Expr, ...]:
        """Vectors that hold the identity."""
        assert store.reducer is not None
        made = []
        for identity in identity_values(store.reducer, store.targets):
            name = self.fresh("acc")
            v = self.vector(identity.dtype, lanes)
            self.line(f"{v} {name} = {self.literal(identity)} - ({v}){{}};")
            made.append(make("name", (), identity.dtype, (name, lanes)))
        return tuple(made)

    def finish_reduction(self, store: Store, parts: Sequence[tuple[Expr, ...]], lanes: int) -> None:
        """Combine the vectors, then their lanes, then what the target holds."""
        assert store.reducer is not None
        first = parts[0]
        for other in parts[1:]:
            inside = _Lanes(make("name", (), INDEX, ("", 0)), const(0), lanes)
            self.assign(first, store.reducer.combine(first, other), inside)
        while lanes > 1:  # halves, so that all lanes are combined in log2(lanes) steps
            lanes //= 2
            halves: list[tuple[Expr, ...]] = []
            for half in range(2):
                names = []
                for x in first:
                    name, dtype = self.fresh("h"), x.dtype
                    picked = ", ".join(f"{x.attr[0]}[{half * lanes + i}]" for i in range(lanes))
                    v = self.vector(dtype, lanes) if lanes > 1 else C_TYPES[dtype]
                    value = f"{{{picked}}}" if lanes > 1 else picked
                    self.line(f"{v} {name} = {value};")
                    names.append(make("name", (), dtype, (name, lanes)))
                halves.append(tuple(names))
            inside = (
                _Lanes(make("name", (), INDEX, ("", 0)), const(0), lanes) if lanes > 1 else None
            )
            self.assign(halves[0], store.reducer.combine(*halves), inside)
            first = halves[0]
        self.store(Store(store.block, store.targets, store.index, first, store.reducer), None)

    def assign(self, targets: Sequence[Expr], values: Sequence[Expr], lanes: _Lanes | None) -> None:
        """Write accumulators anew."""
        self.scopes.append({})
        texts = [self.value(v, lanes) for v in values]
        for t, text in zip(targets, texts, strict=True):
            self.line(f"{t.attr[0]} = {text};")
        self.scopes.pop()

    def store(self, s: Store, lanes: _Lanes | None) -> None:
        into = self.reducing.get(s)
        if into is not None and lanes is not None:
            assert s.reducer is not None
            values = s.values
            if lanes.count is not None:
                identity = identity_values(s.reducer, s.targets)
                inside = make("lane mask", (), "bool", (lanes.count, lanes.lanes))
                values = tuple(
                    make("select", (inside, v, i), v.dtype)
                    for v, i in zip(values, identity, strict=True)
                )
            self.assign(into, s.reducer.combine(into, values), lanes)
            return
        texts = [self.value(v, lanes) for v in s.stored()]
        for target, value, text in zip(s.targets, s.stored(), texts, strict=True):
            self.write(target, s.index, text, value, lanes)
        for scope in self.scopes:  # what was read from the targets may have changed
            for e in [
                e
                for e in scope
                if isinstance(e, Expr) and any(x.attr in s.targets for x in loads(e))
            ]:
                del scope[e]

    def write(
        self, buffer: Buffer, index: tuple[Expr, ...], text: str, value: Expr, lanes: _Lanes | None
    ) -> None:
        flat = self.flat(buffer, index)
        if lanes is None:
            self.line(f"{buffer.name}[{self.index(flat)}] = {text};")
            return
        step = self.step(flat, lanes)
        base = self.index(substituted(flat, {lanes.var: lanes.base}))
        v = self.vector(buffer.dtype, lanes.lanes)
        if step == 0:
            raise EmitError(f"all lanes store to one element of {buffer.name}")
        if step == 1 and value.dtype == "bool":
            text = f"({v})-{self.mask(value, 1, lanes)}"
        elif step == 1:
            text = self.wide(value, lanes)
        if step == 1:
            part, count = ("_part", f", {lanes.count}") if lanes.count else ("", "")
            self.line(f"store{part}_{v}({buffer.name} + {base}, {text}{count});")
            return
        lane = self.fresh("l")
        at = self.index(
            substituted(flat, {lanes.var: lanes.base + make("name", (), INDEX, (lane, 0))})
        )
        picked = f"{text}[{lane}]" if self.varies(value, lanes) else text
        picked += " != 0" if value.dtype == "bool" else ""
        with self.block(
            f"for (int64_t {lane} = 0; {lane} < {lanes.count or lanes.lanes}; ++{lane})"
        ):
            self.line(f"{buffer.name}[{at}] = {picked};")

    # -- values --------------------------------------------------------------------------------

    def hoist(self, loop: For, count: int) -> None:
        """Compute before the loop what is the same in all lanes and rounds."""
        stored = {t for s in stores(loop.body) for t in s.targets}
        inner = {x.var for x in walk(loop.body) if isinstance(x, For)} | {loop.var}
        for s in loop.body:
            if not isinstance(s, Store):
                continue
            for v in s.values:
                self.hoist_in(expanded(v), inner, stored)

    def hoist_in(self, e: Expr, inner: set[Expr], stored: set[Buffer]) -> None:
        for x in subexpressions(e):
            if x.op in ("const", "var", "name") or x.dtype == INDEX:
                continue
            free = variables(x)
            if free & inner or any(y.attr in stored for y in loads(x)) or not self.safe(x):
                continue
            self.value(x, None)

    def varies(self, e: Expr, lanes: _Lanes) -> bool:
        """Whether lanes hold different values of e."""
        key = (e, lanes.var)
        known = self.depends.get(key)
        if known is None:
            if e.op == "name":
                known = e.attr[1] > 0
            elif e.op == "lane mask":
                known = True
            else:
                known = e is lanes.var or any(self.varies(a, lanes) for a in e.args)
            self.depends[key] = known
        return known

    def safe(self, e: Expr) -> bool:
        """Whether all loads in e are inside of their buffers, whatever is chosen."""
        for load in loads(e):
            for i, extent in zip(load.args, load.attr.shape, strict=True):
                if not not_negative(i) or not not_negative(extent - 1 - i):
                    return False
        return True

    def value(self, e: Expr, lanes: _Lanes | None) -> str:
        """The name of e's value: a vector where it varies over the lanes, else a scalar."""
        e = expanded(e)
        if lanes is not None and not self.varies(e, lanes):
            return self.value(e, None)
        if e.op == "const":
            return self.literal(e)
        if e.op == "name":
            return str(e.attr[0])
        if lanes is None and (e.op == "var" or (e.dtype == INDEX and e.op in _INDEX_OPS)):
            return self.index(e)
        for scope in reversed(self.scopes):
            if e in scope:
                return scope[e]
        if e.op == "select":
            return self.chosen(e, lanes)
        text = self.scalar(e) if lanes is None else self.vectors_of(e, lanes)
        return self.named(e, text, lanes)

    def named(self, e: Expr, text: str, lanes: _Lanes | None) -> str:
        name = self.fresh()
        self.line(f"const {self.type_of(e, lanes, text)} {name} = {text};")
        self.scopes[-1][e] = name
        if text in self.masks:
            self.masks[name] = self.masks[text]
        return name

    def type_of(self, e: Expr, lanes: _Lanes | None, text: str = "") -> str:
        if lanes is None:
            return "int" if e.dtype == "bool" else C_TYPES[e.dtype]
        if e.dtype == "bool":
            size, _ = self.masks[text]
            return self.vector(f"i{8 * size}", lanes.lanes)
        return self.vector(e.dtype, lanes.lanes)

    def vector(self, dtype: str, lanes: int) -> str:
        self.vectors.add((dtype, lanes))
        return vector_name(dtype, lanes)

    def chosen(self, e: Expr, lanes: _Lanes | None) -> str:
        """A select: both arms where that reads nothing outside, else only the arm that is chosen."""
        condition, a, b = e.args
        uniform = lanes is None or not self.varies(condition, lanes)
        if self.safe(a) and self.safe(b):
            if uniform and lanes is not None:
                c = self.value(condition, None)
                return self.named(e, f"{c} ? {self.wide(a, lanes)} : {self.wide(b, lanes)}", lanes)
            if lanes is None:
                texts = [self.value(x, None) for x in e.args]
                return self.named(e, f"{texts[0]} ? {texts[1]} : {texts[2]}", None)
            mask = self.mask(condition, BYTES[e.dtype], lanes)
            return self.named(e, f"{mask} ? {self.wide(a, lanes)} : {self.wide(b, lanes)}", lanes)
        if not uniform and lanes is not None:
            return self.lane_by_lane(e, lanes)
        name = self.fresh()
        test = self.value(condition, None)
        self.line(f"{self.type_of(e, lanes)} {name};")
        for head, arm in ((f"if ({test})", a), ("else", b)):
            with self.block(head):
                text = self.value(arm, None) if lanes is None else self.wide(arm, lanes)
                self.line(f"{name} = {text};")
        self.scopes[-1][e] = name
        return name

    def lane_by_lane(self, e: Expr, lanes: _Lanes) -> str:
        """The value computed for one lane after the other."""
        name, lane = self.fresh(), self.fresh("l")
        v = self.vector(e.dtype, lanes.lanes)
        self.line(f"{v} {name} = {{}};")
        with self.block(
            f"for (int64_t {lane} = 0; {lane} < {lanes.count or lanes.lanes}; ++{lane})"
        ):
            at = lanes.base + make("name", (), INDEX, (lane, 0))
            self.line(f"{name}[{lane}] = {self.value(substituted(e, {lanes.var: at}), None)};")
        self.scopes[-1][e] = name
        return name

    def wide(self, e: Expr, lanes: _Lanes) -> str:
        """The value as a vector."""
        text = self.value(e, lanes)
        if self.varies(e, lanes):
            return text
        v = self.vector(e.dtype, lanes.lanes)
        return f"({text} - ({v}){{}})"

    def mask(self, e: Expr, size: int, lanes: _Lanes) -> str:
        """A condition as lanes of 0 and -1 that are `size` bytes wide."""
        if not self.varies(e, lanes):
            v = self.vector(f"i{8 * size}", lanes.lanes)
            return f"((int{8 * size}_t)-({self.value(e, None)} != 0) - ({v}){{}})"
        text = self.value(e, lanes)
        return self.converted(text, f"i{8 * size}", lanes)

    def converted(self, mask: str, dtype: str, lanes: _Lanes) -> str:
        if self.masks[mask][0] == BYTES[dtype]:
            return mask
        return f"__builtin_convertvector({mask}, {self.vector(dtype, lanes.lanes)})"

    def vectors_of(self, e: Expr, lanes: _Lanes) -> str:
        """C for an operation on vectors."""
        op, n = e.op, lanes.lanes
        if op == "lane mask":
            count, _ = e.attr
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
        if op == "linear":
            parts = [f"{self.wide(a, lanes)} * {c}" for a, c in zip(e.args, e.attr[0], strict=True)]
            return f"({' + '.join(parts)} + {e.attr[1]})"
        if e.dtype == "bool":
            return self.vector_condition(e, lanes)
        args = [self.wide(a, lanes) for a in e.args if a.dtype != "bool"]
        v = self.vector(e.dtype, n)
        if op in _OPERATORS:
            return f"{args[0]} {_OPERATORS[op]} {args[1]}"
        if op in ("fma", "sqrt", "rint", "floor", "ceil", "trunc"):
            return f"{op}_{v}({', '.join(args)})"
        if op == "neg":
            return f"-{args[0]}"
        if op in ("min", "max"):
            a, b = args
            test = f"{a} {'<' if op == 'min' else '>'} {b}"
            test = f"({test}) | ({a} != {a})" if e.dtype in FLOATS else test
            return f"({test}) ? {a} : {b}"
        if op == "abs":
            return (
                f"({args[0]} < 0 ? -{args[0]} : {args[0]})"
                if e.dtype not in FLOATS
                else self.absolute(args[0], e, n)
            )
        if op == "cast":
            return self.vector_cast(e, lanes)
        if op == "bitcast":
            return f"({v}){args[0]}"
        return self.lane_by_lane(e, lanes)

    def absolute(self, text: str, e: Expr, lanes: int) -> str:
        bits = f"i{8 * BYTES[e.dtype]}"
        i, v = self.vector(bits, lanes), self.vector(e.dtype, lanes)
        return f"({v})(({i}){text} & {(1 << (8 * BYTES[e.dtype] - 1)) - 1}{'LL' if bits == 'i64' else ''})"

    def vector_condition(self, e: Expr, lanes: _Lanes) -> str:
        op = e.op
        if op in ("and", "or", "xor", "eq", "ne") and e.args[0].dtype == "bool":
            size = max(
                [self.masks[self.value(a, lanes)][0] for a in e.args if self.varies(a, lanes)]
            )
            a, b = (self.mask(x, size, lanes) for x in e.args)
            sign = {"and": "&", "or": "|", "xor": "^", "ne": "^", "eq": "=="}[op]
            return self.mask_text(f"({a} {sign} {b})", size)
        if op == "not":
            size = self.masks[self.value(e.args[0], lanes)][0]
            return self.mask_text(f"~{self.mask(e.args[0], size, lanes)}", size)
        if op == "cast":
            x = e.args[0]
            return self.mask_text(f"({self.value(x, lanes)} != 0)", BYTES[x.dtype])
        a, b = (self.wide(x, lanes) for x in e.args)
        return self.mask_text(f"({a} {_COMPARISONS[op]} {b})", BYTES[e.args[0].dtype])

    def mask_text(self, text: str, size: int) -> str:
        self.masks[text] = (size, 0)
        return text

    def vector_cast(self, e: Expr, lanes: _Lanes) -> str:
        v, (x,) = self.vector(e.dtype, lanes.lanes), e.args
        if x.dtype == "bool":
            size = BYTES[e.dtype]
            mask = self.mask(x, size, lanes)
            whole = f"-(({self.vector(f'i{8 * size}', lanes.lanes)}){mask})"
            return whole if e.dtype not in FLOATS else f"__builtin_convertvector({whole}, {v})"
        if x.dtype in FLOATS and e.dtype not in FLOATS and BYTES[e.dtype] < 4:
            wide = self.vector("i32", lanes.lanes)
            return f"__builtin_convertvector(__builtin_convertvector({self.value(x, lanes)}, {wide}), {v})"
        return f"__builtin_convertvector({self.value(x, lanes)}, {v})"

    def load(self, e: Expr, lanes: _Lanes) -> str:
        flat = self.flat(e.attr, e.args)
        try:
            step = self.step(flat, lanes)
        except EmitError:
            step = -1
        if step != 1:
            if e.dtype == "bool":
                raise EmitError(f"a strided load of bool: {e}")
            return self.lane_by_lane(e, lanes)
        base = self.index(substituted(flat, {lanes.var: lanes.base}))
        v = self.vector(e.dtype, lanes.lanes)
        part, count = ("_part", f", {lanes.count}") if lanes.count else ("", "")
        text = f"load{part}_{v}({e.attr.name} + {base}{count})"
        if e.dtype != "bool":
            return text
        size = self.vector_bytes // lanes.lanes
        wide = self.vector(f"i{8 * size}", lanes.lanes)
        return self.mask_text(f"(__builtin_convertvector({text}, {wide}) != 0)", size)

    def scalar(self, e: Expr) -> str:
        """C for an operation on numbers."""
        op = e.op
        if op == "load":
            return f"{e.attr.name}[{self.index(self.flat(e.attr, e.args))}]"
        args = [self.value(a, None) for a in e.args]
        if op in _OPERATORS:
            return self.narrow(f"{args[0]} {_OPERATORS[op]} {args[1]}", e)
        if op in _COMPARISONS:
            return f"{args[0]} {_COMPARISONS[op]} {args[1]}"
        if op in ("floordiv", "mod"):
            return f"({C_TYPES[e.dtype]})floor{'div' if op == 'floordiv' else 'mod'}({', '.join(args)})"
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
            return f"{args[0]} != 0" if e.dtype == "bool" else f"({C_TYPES[e.dtype]}){args[0]}"
        if op == "bitcast":
            return f"__builtin_bit_cast({C_TYPES[e.dtype]}, {args[0]})"
        if op == "abs" and e.dtype not in FLOATS:
            return self.narrow(f"({args[0]} < 0 ? -{args[0]} : {args[0]})", e)
        name = {"abs": "fabs", **_LIBM}.get(op, op)
        f = "f" if e.dtype == "f32" else ""
        return (
            f"__builtin_{name}{f}({', '.join(args)})"
            if op in _BUILTIN
            else f"{name}{f}({', '.join(args)})"
        )

    def narrow(self, text: str, e: Expr) -> str:
        """C computes small integers as int."""
        return f"({C_TYPES[e.dtype]})({text})" if BYTES[e.dtype] < 4 else text

    def literal(self, e: Expr) -> str:
        x = e.attr
        if e.dtype not in FLOATS:
            if e.dtype == INDEX:
                return f"INT64_C({x})" if x > -(1 << 63) else "INT64_MIN"
            return (
                f"({C_TYPES[e.dtype]}){int(x)}"
                if BYTES[e.dtype] < 4 and e.dtype != "bool"
                else f"{int(x)}{'u' if e.dtype[0] == 'u' else ''}"
            )
        f = "f" if e.dtype == "f32" else ""
        if isnan(x):
            return f'__builtin_nan{f}("")'
        if not isfinite(x):
            return f"{'-' if x < 0 else ''}__builtin_inf{f}()"
        return f"{x.hex()}{f}" if x != int(x) or abs(x) > 1e6 else f"{x!r}{f}"

    # -- indices -------------------------------------------------------------------------------

    def flat(self, buffer: Buffer, index: Sequence[Expr]) -> Expr:
        """The position of an element."""
        at = const(0)
        for i, extent in zip(index, buffer.shape, strict=True):
            at = at * extent + i
        return at

    def step(self, flat: Expr, lanes: _Lanes) -> int:
        """How far apart the elements of two neighbouring lanes are.

        Raises:
            EmitError: it is not the same for all.
        """
        coefficients, _ = terms(flat)
        if any(lanes.var in variables(a) for a in coefficients if a is not lanes.var):
            raise EmitError(f"{flat} is not affine in {lanes.var}")
        return coefficients.get(lanes.var, 0)

    def index(self, e: Expr) -> str:
        """C for an i64 expression."""
        if e.op == "const":
            return str(e.attr)
        if e.op == "var":
            return str(e.attr.name)
        if e.op == "name":
            return str(e.attr[0])
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
            return f"floor{'div' if e.op == 'floordiv' else 'mod'}({a}, {b})"
        if e.op in ("min", "max"):
            return f"{'least' if e.op == 'min' else 'most'}({', '.join(map(self.index, e.args))})"
        return self.value(e, None)


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_OPERATORS |= {"shl": "<<", "shr": ">>"}
_COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_INDEX_OPS = ("linear", "mul", "floordiv", "mod", "min", "max")
_BUILTIN = ("sqrt", "abs", "floor", "ceil", "rint", "trunc", "fma")
_LIBM: dict[str, str] = {}
