"""LLVM IR for a function, with the vectors of the C emitter and results that are equal to the bit.

    void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes

What `emit/c.py` says of its code holds here too, but a parallel loop runs on one thread, and an
intrinsic, whose text is C, runs as the loops that say what it computes.  The function proper takes
its buffers as arguments, which is where LLVM learns that they do not overlap; `byparts_NAME`
unpacks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from byparts_tensor_ir.emit.llvm_operations import I32, I64, POINTER, VOID, memory_type, scalar_type
from byparts_tensor_ir.emit.llvm_values import LlvmValues, MaskedLanes
from byparts_tensor_ir.emit.source import LlvmSource as LlvmSource
from byparts_tensor_ir.emit.strategy import (
    EmitError,
    elements_of,
    forget_loads,
    unrounded,
)
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import (
    THREADS,
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    statement_lines,
)
from byparts_tensor_ir.vector import Assign, Rest, Strip, Strips, Unrolled, Vector, VectorLoop
from byparts_tensor_ir.vectorize import vectorized


def emit_llvm(
    func: Func, vector_bytes: int = 64, aliases: Sequence[tuple[Buffer, Buffer]] = ()
) -> LlvmSource:
    """LLVM IR for the function.

    Args:
        func: any function without GPU threads.
        vector_bytes: of a vector register: 16, 32 or 64.
        aliases: pairs of parameters that the caller may give as one block of memory.

    Raises:
        EmitError: a local buffer of unknown size, or a statement that has no code.
    """
    return _Emitter(func, vector_bytes).source({b for pair in aliases for b in pair})


class _Emitter(LlvmValues):
    def __init__(self, func: Func, vector_bytes: int) -> None:
        super().__init__(func, vector_bytes)
        self.inside = False  # of strips, which assign registers again
        self.places: Any = None  # where local memory is reserved

    # -- the function --------------------------------------------------------------------------

    def source(self, aliased: set[Buffer]) -> LlvmSource:
        func = self.func
        kinds = [*[POINTER] * len(func.params), POINTER, *[I64] * len(func.sizes)]
        inner = ir.Function(self.module, ir.FunctionType(VOID, kinds), f"{func.name}.body")
        inner.linkage = "internal"
        inner.attributes.add("noinline")
        inner.attributes.add("nounwind")
        for buffer, argument in zip(func.params, inner.args, strict=False):
            self.memory[buffer] = argument
            if buffer not in aliased:
                argument.add_attribute("noalias")
        workspace = inner.args[len(func.params)]
        workspace.add_attribute("noalias")
        self.numbers.update(zip(func.sizes, inner.args[len(func.params) + 1 :], strict=True))
        self.places = ir.IRBuilder(inner.append_basic_block("places"))
        start = inner.append_basic_block("start")
        self.builder = ir.IRBuilder(start)
        self.place_locals(workspace)
        self.statements(vectorized(func, self.vector_bytes).body)
        self.builder.ret_void()
        self.places.branch(start)
        name = f"byparts_{func.name}"  # no name of the C library
        self.unpacking(inner, name)
        return LlvmSource(name, str(self.module), self.workspace_bytes, frozenset(self.libm))

    def unpacking(self, inner: Any, name: str) -> None:
        """The function with the calling convention of all emitters."""
        outer = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), name)
        builder = ir.IRBuilder(outer.append_basic_block())
        pointers = len(self.func.params) + 1

        def item(base: Any, kind: Any, i: int) -> Any:
            at = builder.gep(base, [I64(i)], inbounds=True, source_etype=kind)
            return builder.load(at, typ=kind)

        args = [item(outer.args[0], POINTER, i) for i in range(pointers)]
        sizes = item(outer.args[0], POINTER, pointers)
        args += [item(sizes, I64, i) for i in range(len(self.func.sizes))]
        builder.call(inner, args)
        builder.ret_void()

    def place_locals(self, workspace: Any) -> None:
        """Reserve the local buffers: on the stack, the large ones in the workspace."""
        for b in self.func.locals:
            if b in self.offsets:
                at = [I64(self.offsets[b])]
                self.memory[b] = self.places.gep(
                    workspace, at, inbounds=True, source_etype=ir.IntType(8)
                )
            else:
                kind = ir.ArrayType(memory_type(b.dtype), max(1, elements_of(b)))
                self.memory[b] = self.reserved(kind)

    def reserved(self, kind: Any) -> Any:
        """Memory for one value of this type, until the function returns."""
        place = self.places.alloca(kind)
        place.align, place.type = 64, POINTER
        return place

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement], lanes: MaskedLanes | None = None) -> None:
        for s in body:
            if isinstance(s, Store):
                self.store(s, lanes)
            elif isinstance(s, Assign):
                self.assign(s, lanes)
            elif isinstance(s, Unrolled):
                self.statements(s.body, lanes)
            elif isinstance(s, VectorLoop):
                self.vector_loop(s)
            elif isinstance(s, Vector):
                self.vector(s)
            elif isinstance(s, Strips):
                self.strips(s)
            elif isinstance(s, If):
                with self.builder.if_then(self.value(s.condition)), self.scope():
                    self.statements(s.body, lanes)
            elif not isinstance(s, For):
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            elif s.kind in THREADS:
                raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
            else:
                self.loop(s, lanes)

    def loop(self, s: For, lanes: MaskedLanes | None) -> None:
        forget_loads(self.scopes, s.body)
        end = self.value(s.extent + s.var.attr.low)
        with self.rounds(s.var, I64(s.var.attr.low), end):
            self.statements(s.body, lanes)

    @contextmanager
    def rounds(self, var: Expr, first: Any, end: Any, step: int = 1) -> Iterator[None]:
        """A loop while `var + step <= end`; afterwards `var` is where it stopped."""
        b = self.builder
        head, body, after = [b.append_basic_block() for _ in range(3)]
        before = b.block
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(I64)
        i.add_incoming(first, before)
        last = i if step == 1 else b.add(i, I64(step - 1))
        b.cbranch(b.icmp_signed("<", last, end), body, after)
        b.position_at_end(body)
        self.numbers[var] = i
        with self.scope():
            yield
        i.add_incoming(b.add(i, I64(step), flags=("nsw",)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def store(self, s: Store, lanes: MaskedLanes | None) -> None:
        values = [self.deep(v, lanes) for v in unrounded(s)]
        for target, x in zip(s.targets, values, strict=True):
            self.write(target, s.index, x, lanes)
        forget_loads(self.scopes, [s])

    # -- vectors -------------------------------------------------------------------------------

    def vector_loop(self, s: VectorLoop) -> None:
        forget_loads(self.scopes, s.loop.body)
        for x in s.once:
            self.value(x)
        self.statements(s.body)

    def strips(self, s: Strips) -> None:
        """The variable goes on from one part to the next."""
        var, extent = s.loop.var, s.loop.extent
        end, at = self.value(extent + var.attr.low), I64(var.attr.low)
        self.inside = True
        for part in s.body:
            if isinstance(part, Strip):
                with self.rounds(var, at, end, part.step):
                    self.statements(part.body)
                at = self.numbers[var]
            elif isinstance(part, Rest):
                self.numbers[var] = at
                if extent.op == "const":
                    (vector,) = part.body
                    assert isinstance(vector, Vector), "the rest is one vector"
                    self.numbers[part.left] = extent.attr % vector.lanes.lanes
                with self.builder.if_then(self.builder.icmp_signed("<", at, end)), self.scope():
                    if extent.op != "const":
                        self.numbers[part.left] = self.builder.sub(end, at)
                    self.statements(part.body)
        self.inside = False

    def vector(self, s: Vector) -> None:
        """The body for one vector, of which `count` lanes are computed."""
        at, mask, known = s.lanes, None, None
        if at.count is not None:
            count = at.count.attr if at.count.op == "const" else self.numbers[at.count]
            known = const(count) if isinstance(count, int) else None
            number = self.builder.trunc(count, I32) if known is None else I32(count)
            iota = ir.Constant(ir.VectorType(I32, at.lanes), list(range(at.lanes)))
            mask = self.builder.icmp_unsigned("<", iota, self.splat(number, at.lanes))
        with self.scope():
            self.statements(s.body, MaskedLanes(at.var, at.base, at.lanes, known, mask))

    def assign(self, s: Assign, lanes: MaskedLanes | None) -> None:
        """Write registers: those that rounds of a loop change have a place in memory."""
        with self.scope():
            values = [
                self.assigned(v, t.attr.lanes, lanes)
                for t, v in zip(s.targets, s.values, strict=True)
            ]
        for t, x in zip(s.targets, values, strict=True):
            if t.attr.changes and t not in self.accumulators and t not in self.numbers:
                kind = ir.VectorType(scalar_type(t.dtype), t.attr.lanes)
                self.accumulators[t] = self.reserved(kind)
                self.builder.store(x, self.accumulators[t])
            elif self.inside:
                self.builder.store(x, self.accumulators[t])
            else:
                self.numbers[t] = x

    def assigned(self, e: Expr, n: int, lanes: MaskedLanes | None) -> Any:
        """The value of a register of n lanes."""
        if e.op == "half":
            x = self.value(e.args[0])
            if n == 1:
                return self.builder.extract_element(x, I32(e.attr))
            picked = ir.Constant(ir.VectorType(I32, n), list(range(e.attr * n, (e.attr + 1) * n)))
            return self.builder.shuffle_vector(x, x, picked)
        x = self.deep(e, lanes)
        return self.splat(x, n) if n > 1 and not isinstance(x.type, ir.VectorType) else x
