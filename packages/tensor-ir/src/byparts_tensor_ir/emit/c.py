"""C for a function: explicit vectors and explicit accumulators, no reassociation by the compiler.

    void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes

Compiled as C++ (GCC's C has no `?:` of vectors), with `-ffp-contract=off`: what rounds once is
written as `fma`.  A vectorized loop of any extent becomes whole vectors and one masked rest.  A
reduction over the lanes keeps vectors of partial results and combines them after the loop.

Each subexpression has a name, computed once where it is used; an arm of a `select` that could read
outside its buffer is computed only where it is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from byparts_tensor_ir.emit.source import Source as Source
from byparts_tensor_ir.emit.strategy import (
    MOST_UNROLLED_VECTORS,
    Element,
    EmitError,
    Lanes,
    accumulators_of,
    element_of,
    elements_of,
    flat_index,
    forget_loads,
    step_of,
    unrounded,
    values_of_some,
)
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.emit.vectors import C_TYPES, VALUE_TYPES, literal
from byparts_tensor_ir.expression import BYTES, HALVES, INDEX, Expr, const, make
from byparts_tensor_ir.intrinsic import Intrinsic, operand_boxes
from byparts_tensor_ir.statement import (
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    statement_lines,
    walk,
)
from byparts_tensor_ir.substitute import (
    containing,
    expressions,
    in_statements,
    loads,
    substituted,
)
from byparts_tensor_ir.tensor import identity_values


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


_STREAMED_BYTES = 16 << 20  # of a tensor, of which a cache keeps little until it is read again


def _is_large(buffer: Buffer) -> bool:
    """Whether its size is known, and so large that its stores should leave the caches alone."""
    known = all(d.op == "const" for d in buffer.shape)
    return known and elements_of(buffer) * BYTES[buffer.dtype] >= _STREAMED_BYTES


class _Emitter(Values):
    def __init__(
        self, func: Func, vector_bytes: int, aliases: Sequence[tuple[Buffer, Buffer]]
    ) -> None:
        super().__init__(func, vector_bytes)
        self.taken |= {b.name for b in (*func.params, *func.locals)} | {str(x) for x in func.sizes}
        self.taken |= {s.name for s in walk(self.func.body) if isinstance(s, For)}
        self.aliased = {b for pair in aliases for b in pair}
        self.reducing: dict[Element, tuple[Expr, ...]] = {}
        self.parallel = self.shared = False  # whether it has a parallel loop; whether in one
        self.at: dict[Any, list[Buffer]] = {}
        read = {
            load.attr for s in walk(self.func.body) for e in expressions(s) for load in loads(e)
        }
        self.streamed = {b for b in func.outputs if _is_large(b) and b not in read}

    # -- the function --------------------------------------------------------------------------

    def source(self) -> Source:
        func, n = self.func, len(self.func.params)
        self.parameters()
        for i, size in enumerate(func.sizes):
            self.line(f"const int64_t {size.attr.name} = ((const int64_t *)a[{n + 1}])[{i}];")
        self.place_locals()
        self.declare(None)
        self.statements(func.body)
        self.end_streams()
        name = f"byparts_{func.name}"  # no name of the C library
        body = "\n".join([f'extern "C" void {name}(void **a) {{', *self.lines, "}\n"])
        return Source(name, body, frozenset(self.vectors), self.workspace_bytes, self.parallel)

    def parameters(self) -> None:
        for i, p in enumerate(self.func.params):
            kind = C_TYPES[p.dtype] if p in self.func.outputs else f"const {C_TYPES[p.dtype]}"
            restrict = "" if p in self.aliased else " __restrict"
            self.line(f"{kind} *{restrict} {p.name} = ({kind} *)a[{i}];")
        inputs = [p.name for p in self.func.params if p not in self.func.outputs]
        for p in self.func.params:
            if p in self.streamed:  # what lies over an input is in the caches already
                apart = " && ".join([f"(void *){p.name} != {x}" for x in inputs] or ["true"])
                self.line(f"const bool stream_{p.name} = {apart};")

    def end_streams(self) -> None:
        """Stores past the caches are seen by whoever runs next."""
        if self.streamed:
            self.line("stream_end();")

    def place_locals(self) -> None:
        """Decide where each local buffer is declared: in the innermost loop around all its uses."""
        workspace = f"(char *)a[{len(self.func.params)}]"
        for b in self.func.locals:
            if b in self.offsets:
                kind = C_TYPES[b.dtype]
                place = f"({kind} *)({workspace} + {self.offsets[b]})"
                self.line(f"{kind} *__restrict {b.name} = {place};")
            else:
                around = [] if b.scope == "global" else self.around(b)
                self.at.setdefault(around[-1].var.attr if around else None, []).append(b)

    def declare(self, place: Any) -> None:
        """Declare the local buffers that live here."""
        for b in self.at.get(place, ()):
            n = elements_of(b)
            if b.shape:  # whole blocks: `past_the_end`
                n = -(-n * BYTES[b.dtype] // 64) * 64 // BYTES[b.dtype]
            self.line(f"{C_TYPES[b.dtype]} {b.name}[{max(1, n)}] __attribute__((aligned(64)));")

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement], lanes: Lanes | None = None) -> None:
        for s in body:
            if isinstance(s, Store):
                self.store(s, lanes)
            elif isinstance(s, If):
                with self.block(f"if ({self.value(s.condition, None)})"):
                    self.statements(s.body, lanes)
            elif not isinstance(s, For):
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            elif s.kind == "vectorize" and lanes is None:
                self.vectorized(s)
            elif isinstance(s.kind, Intrinsic):
                if lanes is not None:
                    raise EmitError(f"{s.kind} below a vectorized loop")
                self.intrinsic(s, s.kind)
            elif s.kind == "unroll" and s.extent.op == "const":
                for i in range(s.extent.attr):
                    at = const(s.var.attr.low + i)
                    with self.block("") if s.var.attr in self.at else self.same():
                        self.declare(s.var.attr)  # each round has its own
                        self.statements(in_statements(s.body, {s.var: at}), lanes)
            else:
                self.loop(s, lanes)

    def loop(self, s: For, lanes: Lanes | None) -> None:
        forget_loads(self.scopes, s.body)
        if "Idx" in s.kind:
            raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
        low, end = str(s.var.attr.low), self.index(s.extent + s.var.attr.low)
        if s.kind != "parallel" or self.shared or lanes is not None:
            self.rounds(s, low, end, lanes)
            return
        self.shared = self.parallel = True
        first, last = self.fresh("first"), self.fresh("last")
        with self.block(f"in_parallel({low}, {end}, [&](int64_t {first}, int64_t {last})"):
            self.parameters()  # again: what is captured is not `restrict`
            self.rounds(s, first, last, lanes)
            self.end_streams()
        self.lines[-1] += ");"
        self.shared = False

    def rounds(self, s: For, low: str, end: str, lanes: Lanes | None) -> None:
        """The loop from `low` to `end`."""
        with self.block(f"for (int64_t {s.name} = {low}; {s.name} < {end}; ++{s.name})"):
            self.declare(s.var.attr)
            self.statements(s.body, lanes)

    def intrinsic(self, s: For, kind: Intrinsic) -> None:
        """The intrinsic's text, as the body of a function of its operands that is called here."""
        forget_loads(self.scopes, s.body)
        names, values = [], []
        for p, box in zip(kind.reference.params, operand_boxes(s, kind), strict=True):
            const_ = "" if p in kind.reference.outputs else "const "
            names.append(f"{const_}{C_TYPES[p.dtype]} *__restrict {p.name}")
            values.append(f"{box.buffer.name} + {self.index(flat_index(box.buffer, box.begin))}")
            names += [f"int64_t {p.name}_{d}" for d in range(len(box.dims))]
            values += [self.index(step) for step in box.strides()]
        with self.block(f"[]({', '.join(names)})"):
            for line in kind.code.strip("\n").splitlines():
                self.line(line)
        self.lines[-1] += f"({', '.join(values)});  // {kind}"

    def vectorized(self, s: For) -> None:
        """Whole vectors, then the rest with a mask; scalars where there is no vector form."""
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
        forget_loads(self.scopes, s.body)
        for x in self.uniform(s):  # computed once, before the loop
            self.value(x, None)
        low, extent = s.var.attr.low, s.extent
        if extent.op == "const" and extent.attr <= lanes * MOST_UNROLLED_VECTORS and not reductions:
            for first in range(low, low + extent.attr, lanes):
                rest = low + extent.attr - first
                inside = Lanes(s.var, const(first), lanes, const(rest) if rest < lanes else None)
                self.statements(s.body, inside)
                self.scopes.append({})
                self.forget_lanes(s.var)
            return
        many = accumulators_of(extent, lanes) if reductions else 1
        accumulators = {
            element: [self.accumulator(r, lanes) for _ in range(many)]
            for element, r in reductions.items()
        }
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
                        inside = Lanes(s.var, s.var + k * lanes, lanes)
                        with self.block("") if step > 1 else self.same():
                            self.lane_body(s.body, inside, accumulators, k)
            if not (extent.op == "const" and extent.attr % lanes == 0):
                with self.block(f"if ({name} < {end})"):
                    count = self.fresh("n")
                    self.line(f"const int64_t {count} = {end} - {name};")
                    left = make("name", (), INDEX, (count, 0))
                    self.lane_body(s.body, Lanes(s.var, s.var, lanes, left), accumulators, 0)
            for element, parts in accumulators.items():
                self.finish_reduction(reductions[element], parts, lanes)

    @contextmanager
    def same(self) -> Any:
        yield

    def forget_lanes(self, var: Expr) -> None:
        """After a vector, what depended on its lanes is another value."""
        self.scopes.pop()
        for scope in self.scopes:
            known = [e for e in scope if isinstance(e, Expr)]
            for e in containing(known, lambda x: x is var) & scope.keys():
                del scope[e]

    def lane_body(
        self, body: Sequence[Statement], lanes: Lanes, accumulators: dict[Element, Any], k: int
    ) -> None:
        """The body for one vector; reductions over lanes go to the k-th accumulators."""
        self.reducing = {r: parts[k] for r, parts in accumulators.items()}
        self.statements(body, lanes)
        self.reducing = {}

    def accumulator(self, store: Store, lanes: int) -> tuple[Expr, ...]:
        """Vectors that hold the identity."""
        assert store.reducer is not None
        made = []
        for identity in identity_values(store.reducer, store.targets):
            name = self.fresh("acc")
            v = self.vector(identity.dtype, lanes)
            self.line(f"{v} {name} = {literal(identity)} - ({v}){{}};")
            made.append(make("name", (), identity.dtype, (name, lanes)))
        return tuple(made)

    def finish_reduction(self, store: Store, parts: Sequence[tuple[Expr, ...]], lanes: int) -> None:
        """Combine the vectors, then their lanes, then what the target holds."""
        assert store.reducer is not None
        first = parts[0]
        for other in parts[1:]:
            whole = Lanes(make("name", (), INDEX, ("", 0)), const(0), lanes)
            self.assign(first, store.reducer.combine(first, other), whole)
        while lanes > 1:  # halves, so that all lanes are combined in log2(lanes) steps
            lanes //= 2
            halves: list[tuple[Expr, ...]] = []
            for half in range(2):
                names = []
                for x in first:
                    name, dtype = self.fresh("h"), x.dtype
                    picked = ", ".join(f"{x.attr[0]}[{half * lanes + i}]" for i in range(lanes))
                    v = self.vector(dtype, lanes) if lanes > 1 else VALUE_TYPES[dtype]
                    value = f"{{{picked}}}" if lanes > 1 else picked
                    self.line(f"{v} {name} = {value};")
                    names.append(make("name", (), dtype, (name, lanes)))
                halves.append(tuple(names))
            inside = Lanes(make("name", (), INDEX, ("", 0)), const(0), lanes) if lanes > 1 else None
            self.assign(halves[0], store.reducer.combine(*halves), inside)
            first = halves[0]
        self.store(Store(store.block, store.targets, store.index, first, store.reducer), None)

    def assign(self, targets: Sequence[Expr], values: Sequence[Expr], lanes: Lanes | None) -> None:
        """Write accumulators anew."""
        self.scopes.append({})
        texts = [self.deep_value(v, lanes) for v in values]
        for t, text in zip(targets, texts, strict=True):
            self.line(f"{t.attr[0]} = {text};")
        self.scopes.pop()

    def store(self, s: Store, lanes: Lanes | None) -> None:
        into = self.reducing.get(element_of(s))
        if into is not None and lanes is not None:
            assert s.reducer is not None
            values = s.values
            if lanes.count is not None:
                values = values_of_some(s, make("lane mask", (lanes.count,), "bool"))
            self.assign(into, s.reducer.combine(into, values), lanes)
            return
        values = unrounded(s)
        texts = [self.deep_value(v, lanes) for v in values]
        for target, value, text in zip(s.targets, values, texts, strict=True):
            self.write(target, s.index, text, value, lanes)
        forget_loads(self.scopes, [s])

    def write(
        self, buffer: Buffer, index: tuple[Expr, ...], text: str, value: Expr, lanes: Lanes | None
    ) -> None:
        flat = flat_index(buffer, index)
        to = f"to_{buffer.dtype}" if buffer.dtype in HALVES else ""
        if lanes is None:
            text = f"{to}({text})" if to else text
            self.line(f"{buffer.name}[{self.index(flat)}] = {text};")
            return
        step = step_of(flat, lanes)
        first = substituted(flat, {lanes.var: lanes.base})
        base = self.index(first)
        v = self.vector(buffer.dtype, lanes.lanes)
        if step == 1 and value.dtype == "bool":
            text = f"({v})-{self.mask(value, 1, lanes)}"
        elif step == 1:
            text = self.wide(value, lanes)
        if step == 1:
            part, count = self.part(lanes)
            if buffer in self.streamed and not part:
                to = f"{buffer.name} + {base}, {text}, stream_{buffer.name}"
                self.line(f"stream_{v}({to});")
                return
            if self.past_the_end(buffer, first, lanes):
                part = count = ""
            self.line(f"store{part}_{v}({buffer.name} + {base}, {text}{count});")
            return
        lane = self.fresh("l")
        at = self.index(
            substituted(flat, {lanes.var: lanes.base + make("name", (), INDEX, (lane, 0))})
        )
        picked = f"{text}[{lane}]" if self.varies(value, lanes) else text
        picked += " != 0" if value.dtype == "bool" else ""
        with self.block(f"for (int64_t {lane} = 0; {lane} < {self.count_of(lanes)}; ++{lane})"):
            picked = f"{to}({picked})" if to else picked
            self.line(f"{buffer.name}[{at}] = {picked};")
