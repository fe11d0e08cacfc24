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

from byparts_tensor_ir.access import EmitError, elements_of, unrounded
from byparts_tensor_ir.emit.llvm_operations import (
    I32,
    I64,
    POINTER,
    VOID,
    LlvmOperations,
    memory_type,
    scalar_type,
)
from byparts_tensor_ir.emit.llvm_values import LlvmValues, MaskedLanes
from byparts_tensor_ir.emit.source import LlvmSource as LlvmSource
from byparts_tensor_ir.emit.text import forget_written
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.placement import placement
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
    func = without_guards(placed_identities(func))
    printer = _Llvm(func, {b for pair in aliases for b in pair})
    return printer.source(vectorized(func, vector_bytes).body)


class _Llvm:
    """The code of one function.

    Attributes:
        values: the values computed so far.
        places: where local memory is reserved.
        inside: whether in strips, which assign registers again.
    """

    def __init__(self, func: Func, aliased: set[Buffer]) -> None:
        module = ir.Module(name=func.name)
        self.func, self.placement, self.inside = func, placement(func), False
        self.function = self.declared(module, aliased)
        self.places = ir.IRBuilder(self.function.append_basic_block("places"))
        self.start = self.function.append_basic_block("start")
        self.builder = ir.IRBuilder(self.start)
        self.operations = LlvmOperations(module, self.builder)
        self.values = LlvmValues(self.operations)
        self.numbers, self.accumulators = self.values.numbers, self.values.accumulators
        self.forms: dict[type[Any], Any] = {
            **{Store: self.store, Assign: self.assign, Unrolled: self.unrolled, If: self.condition},
            **{VectorLoop: self.vector_loop, Vector: self.vector, Strips: self.strips},
            For: self.loop,
        }

    # -- the function --------------------------------------------------------------------------

    def declared(self, module: Any, aliased: set[Buffer]) -> Any:
        """The function proper, without its instructions."""
        func = self.func
        kinds = [*[POINTER] * len(func.params), POINTER, *[I64] * len(func.sizes)]
        inner = ir.Function(module, ir.FunctionType(VOID, kinds), f"{func.name}.body")
        inner.linkage = "internal"
        inner.attributes.add("noinline")
        inner.attributes.add("nounwind")
        for buffer, argument in zip(func.params, inner.args, strict=False):
            if buffer not in aliased:
                argument.add_attribute("noalias")
        inner.args[len(func.params)].add_attribute("noalias")
        return inner

    def source(self, body: Sequence[Statement]) -> LlvmSource:
        """The module: the function of these statements, and the one that is called."""
        func, inner = self.func, self.function
        self.values.memory.update(zip(func.params, inner.args, strict=False))
        self.numbers.update(zip(func.sizes, inner.args[len(func.params) + 1 :], strict=True))
        self.place_locals(inner.args[len(func.params)])
        self.statements(body)
        self.builder.ret_void()
        self.places.branch(self.start)
        name = f"byparts_{func.name}"  # no name of the C library
        self.unpacking(inner, name)
        text, libm = str(self.operations.module), frozenset(self.operations.libm)
        return LlvmSource(name, text, self.placement.workspace_bytes, libm)

    def unpacking(self, inner: Any, name: str) -> None:
        """The function with the calling convention of all emitters."""
        outer = ir.Function(self.operations.module, ir.FunctionType(VOID, [POINTER]), name)
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
            if b in self.placement.offsets:
                at = [I64(self.placement.offsets[b])]
                self.values.memory[b] = self.places.gep(
                    workspace, at, inbounds=True, source_etype=ir.IntType(8)
                )
            else:
                kind = ir.ArrayType(memory_type(b.dtype), max(1, elements_of(b)))
                self.values.memory[b] = self.reserved(kind)

    def reserved(self, kind: Any) -> Any:
        """Memory for one value of this type, until the function returns."""
        place = self.places.alloca(kind)
        place.align, place.type = 64, POINTER
        return place

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement], lanes: MaskedLanes | None = None) -> None:
        """Write statements, in these lanes."""
        for s in body:
            form = next((f for kind, f in self.forms.items() if isinstance(s, kind)), None)
            if form is None:
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            form(s, lanes)

    def unrolled(self, s: Unrolled, lanes: MaskedLanes | None) -> None:
        self.statements(s.body, lanes)

    def condition(self, s: If, lanes: MaskedLanes | None) -> None:
        with self.builder.if_then(self.values.value(s.condition)), self.values.scope():
            self.statements(s.body, lanes)

    def loop(self, s: For, lanes: MaskedLanes | None) -> None:
        if s.kind in THREADS:
            raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
        forget_written(self.values.scopes, s.body)
        end = self.values.value(s.extent + s.var.attr.low)
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
        with self.values.scope():
            yield
        i.add_incoming(b.add(i, I64(step), flags=("nsw",)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def store(self, s: Store, lanes: MaskedLanes | None) -> None:
        values = [self.values.deep(v, lanes) for v in unrounded(s)]
        for target, x in zip(s.targets, values, strict=True):
            self.values.write(target, s.index, x, lanes)
        forget_written(self.values.scopes, [s])

    # -- vectors -------------------------------------------------------------------------------

    def vector_loop(self, s: VectorLoop, lanes: MaskedLanes | None) -> None:
        forget_written(self.values.scopes, s.loop.body)
        for x in s.once:
            self.values.value(x)
        self.statements(s.body)

    def strips(self, s: Strips, lanes: MaskedLanes | None) -> None:
        """The variable goes on from one part to the next."""
        var, extent = s.loop.var, s.loop.extent
        end, at = self.values.value(extent + var.attr.low), I64(var.attr.low)
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
                with (
                    self.builder.if_then(self.builder.icmp_signed("<", at, end)),
                    self.values.scope(),
                ):
                    if extent.op != "const":
                        self.numbers[part.left] = self.builder.sub(end, at)
                    self.statements(part.body)
        self.inside = False

    def vector(self, s: Vector, outer: MaskedLanes | None) -> None:
        """The body for one vector, of which `count` lanes are computed."""
        at, mask, known = s.lanes, None, None
        if at.count is not None:
            count = at.count.attr if at.count.op == "const" else self.numbers[at.count]
            known = const(count) if isinstance(count, int) else None
            number = self.builder.trunc(count, I32) if known is None else I32(count)
            iota = ir.Constant(ir.VectorType(I32, at.lanes), list(range(at.lanes)))
            mask = self.builder.icmp_unsigned("<", iota, self.operations.splat(number, at.lanes))
        with self.values.scope():
            self.statements(s.body, MaskedLanes(at.var, at.base, at.lanes, known, mask))

    def assign(self, s: Assign, lanes: MaskedLanes | None) -> None:
        """Write registers: those that rounds of a loop change have a place in memory."""
        with self.values.scope():
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
            x = self.values.value(e.args[0])
            if n == 1:
                return self.builder.extract_element(x, I32(e.attr))
            picked = ir.Constant(ir.VectorType(I32, n), list(range(e.attr * n, (e.attr + 1) * n)))
            return self.builder.shuffle_vector(x, x, picked)
        x = self.values.deep(e, lanes)
        return self.operations.splat(x, n) if n > 1 and not isinstance(x.type, ir.VectorType) else x
