"""C for a function: explicit vectors and explicit accumulators, no reassociation by the compiler.

    void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes

Compiled as C++ (GCC's C has no `?:` of vectors), with `-ffp-contract=off`: what rounds once is
written as `fma`.  Vectors are in the function already: `vectorize.py`.

Each subexpression has a name, computed once where it is used; an arm of a `select` that could read
outside its buffer is computed only where it is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from byparts_tensor_ir.emit.c_forms import CForms
from byparts_tensor_ir.emit.source import Source as Source
from byparts_tensor_ir.emit.strategy import (
    EmitError,
    elements_of,
    flat_index,
    forget_loads,
    step_of,
    unrounded,
)
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.emit.vectors import C_TYPES, VALUE_TYPES, literal
from byparts_tensor_ir.expression import BYTES, HALVES, INDEX, Expr, make
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
    loads,
    substituted,
)
from byparts_tensor_ir.vector import (
    Assign,
    Lanes,
    Rest,
    Strip,
    Strips,
    Unrolled,
    Vector,
    VectorLoop,
)
from byparts_tensor_ir.vectorize import vectorized


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
    """Whether the buffer's size is known and too large for its stores to go through the caches."""
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
        self.statements(vectorized(func, self.vector_bytes, CForms().check, texts=True).body)
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
            elif isinstance(s, Assign):
                self.assign(s, lanes)
            elif isinstance(s, If):
                with self.block(f"if ({self.value(s.condition, None)})"):
                    self.statements(s.body, lanes)
            elif isinstance(s, Unrolled):
                self.unrolled(s, lanes)
            elif isinstance(s, VectorLoop):
                self.vector_loop(s)
            elif isinstance(s, Vector):
                self.statements(s.body, s.lanes)
                self.forget_lanes(s.lanes.var)
            elif isinstance(s, Strips):
                self.strips(s)
            elif not isinstance(s, For):
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            elif isinstance(s.kind, Intrinsic):
                self.intrinsic(s, s.kind)
            else:
                self.loop(s, lanes)

    def unrolled(self, s: Unrolled, lanes: Lanes | None) -> None:
        var = s.loop.var.attr
        for one in s.rounds:
            with self.block("") if var in self.at else self.same():
                self.declare(var)  # each round has its own
                self.statements(one, lanes)

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

    # -- vectors -------------------------------------------------------------------------------

    def vector_loop(self, s: VectorLoop) -> None:
        forget_loads(self.scopes, s.loop.body)
        for x in s.once:
            self.value(x, None)
        whole = any(isinstance(x, Strips) for x in s.body)
        with self.block("") if whole else self.same():
            self.statements(s.body)

    def strips(self, s: Strips) -> None:
        """The variable goes on from one part to the next."""
        loop = s.loop
        name, end = loop.name, self.index(loop.extent + loop.var.attr.low)
        self.line(f"int64_t {name} = {loop.var.attr.low};")
        for part in s.body:
            if isinstance(part, Strip):
                step = part.step
                with self.block(f"for (; {name} + {step} <= {end}; {name} += {step})"):
                    self.strip_body(part.body)
            elif isinstance(part, Rest):
                with self.block(f"if ({name} < {end})"):
                    left = self.registers[part.left] = self.fresh(part.left.attr.name)
                    self.line(f"const int64_t {left} = {end} - {name};")
                    self.strip_body(part.body)

    def strip_body(self, body: Sequence[Statement]) -> None:
        """Vectors, each with names of its own."""
        for v in body:
            assert isinstance(v, Vector), "a strip is made of vectors"
            with self.block("") if len(body) > 1 else self.same():
                self.statements(v.body, v.lanes)

    @contextmanager
    def same(self) -> Any:
        yield

    def forget_lanes(self, var: Expr) -> None:
        """After a vector, what depended on its lanes is another value."""
        for scope in self.scopes:
            known = [e for e in scope if isinstance(e, Expr)]
            for e in containing(known, lambda x: x is var) & scope.keys():
                del scope[e]

    def assign(self, s: Assign, lanes: Lanes | None) -> None:
        """Write registers, which are declared where they are first written."""
        self.scopes.append({})
        texts = [
            self.assigned(v, t.attr.lanes, lanes) for t, v in zip(s.targets, s.values, strict=True)
        ]
        for t, text in zip(s.targets, texts, strict=True):
            if t in self.registers:
                self.line(f"{self.registers[t]} = {text};")
                continue
            n, name = t.attr.lanes, self.fresh(t.attr.name)
            kind = self.vector(t.dtype, n) if n > 1 else VALUE_TYPES[t.dtype]
            self.line(f"{kind} {name} = {text};")
            self.registers[t] = name
        self.scopes.pop()

    def assigned(self, e: Expr, n: int, lanes: Lanes | None) -> str:
        """C for the value of a register of n lanes."""
        if e.op == "half":
            name = self.registers[e.args[0]]
            picked = ", ".join([f"{name}[{e.attr * n + i}]" for i in range(n)])
            return f"{{{picked}}}" if n > 1 else picked
        if e.op == "const" and n > 1:
            return f"{literal(e)} - ({self.vector(e.dtype, n)}){{}}"
        return self.deep_value(e, lanes)

    def store(self, s: Store, lanes: Lanes | None) -> None:
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
