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
    MOST_UNROLLED_VECTORS,
    EmitError,
    accumulators_of,
    element_of,
    elements_of,
    forget_loads,
    unrounded,
    values_of_some,
)
from byparts_tensor_ir.expression import INDEX, Expr, const, make
from byparts_tensor_ir.statement import (
    THREADS,
    Buffer,
    For,
    Func,
    If,
    Reducer,
    Statement,
    Store,
    statement_lines,
)
from byparts_tensor_ir.substitute import in_statements
from byparts_tensor_ir.tensor import identity_values

Names = tuple[Expr, ...]  # a name for each value of a reducer


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
        self.reducing: dict[Any, Names] = {}  # element -> accumulators of this vector
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
        self.statements(func.body)
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
            elif isinstance(s, If):
                with self.builder.if_then(self.value(s.condition)), self.scope():
                    self.statements(s.body, lanes)
            elif not isinstance(s, For):
                raise EmitError(f"{statement_lines([s])[0]} outside of GPU code")
            elif s.kind in THREADS:
                raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
            elif s.kind == "vectorize" and lanes is None:
                self.vectorized(s)
            elif s.kind == "unroll" and s.extent.op == "const":
                for i in range(s.extent.attr):
                    at = const(s.var.attr.low + i)
                    self.statements(in_statements(s.body, {s.var: at}), lanes)
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
        into = self.reducing.get(element_of(s))
        if into is not None and lanes is not None:
            self.accumulate(s, into, lanes)
            return
        values = [self.deep(v, lanes) for v in unrounded(s)]
        for target, x in zip(s.targets, values, strict=True):
            self.write(target, s.index, x, lanes)
        forget_loads(self.scopes, [s])

    # -- vectorized loops ----------------------------------------------------------------------

    def vectorized(self, s: For) -> None:
        """Whole vectors, then the rest with a mask; numbers where there is no vector form."""
        try:
            reductions = self.lane_reductions(s)
        except EmitError:
            self.loop(s, None)
            return
        forget_loads(self.scopes, s.body)
        for x in self.uniform(s):  # computed once, before the loop
            self.value(x)
        lanes, extent = self.lanes_of(s.body), s.extent
        few = extent.op == "const" and extent.attr <= lanes * MOST_UNROLLED_VECTORS
        if few and not reductions:
            low = s.var.attr.low
            for first in range(low, low + extent.attr, lanes):
                self.vector(s, const(first), lanes, min(lanes, low + extent.attr - first))
        else:
            self.vector_loop(s, lanes, reductions)

    def vector(self, s: For, base: Expr, lanes: int, count: Any) -> None:
        """The body for one vector, of which `count` lanes are computed."""
        mask = known = None
        if count is not None and count != lanes:
            known = const(count) if isinstance(count, int) else None
            number = self.builder.trunc(count, I32) if known is None else I32(count)
            iota = ir.Constant(ir.VectorType(I32, lanes), list(range(lanes)))
            mask = self.builder.icmp_unsigned("<", iota, self.splat(number, lanes))
        with self.scope():
            self.statements(s.body, MaskedLanes(s.var, base, lanes, known, mask))

    def vector_loop(self, s: For, lanes: int, reductions: dict[Any, Store]) -> None:
        extent, low = s.extent, s.var.attr.low
        number = extent.attr if extent.op == "const" else None
        many = accumulators_of(extent, lanes) if reductions else 1
        accumulators = [
            {element: self.accumulator(r, lanes) for element, r in reductions.items()}
            for _ in range(many)
        ]
        end, at = self.value(extent + low), I64(low)
        for step in dict.fromkeys((many, 1)):
            if many > step and number is not None and number % (lanes * many) < lanes:
                continue  # no whole vector is left
            var = self.named(INDEX)
            with self.rounds(var, at, end, lanes * step):
                for k in range(step):
                    self.reducing = accumulators[k]
                    self.vector(s, var + k * lanes, lanes, None)
            at = self.numbers[var]
        if number is None or number % lanes:
            base = self.named(INDEX)
            self.numbers[base] = at
            self.reducing = accumulators[0]
            with self.builder.if_then(self.builder.icmp_signed("<", at, end)), self.scope():
                left = self.builder.sub(end, at) if number is None else number % lanes
                self.vector(s, base, lanes, left)
        self.reducing = {}
        for element, r in reductions.items():
            self.finish_reduction(r, [parts[element] for parts in accumulators], lanes)

    # -- reductions over lanes -----------------------------------------------------------------

    def accumulator(self, store: Store, lanes: int) -> Names:
        """Vectors that hold the identity."""
        assert store.reducer is not None
        names = []
        for identity in identity_values(store.reducer, store.targets):
            name = self.named(identity.dtype, lanes)
            place = self.reserved(ir.VectorType(scalar_type(identity.dtype), lanes))
            self.builder.store(self.splat(self.value(identity), lanes), place)
            self.accumulators[name] = place
            names.append(name)
        return tuple(names)

    def accumulate(self, s: Store, into: Names, lanes: MaskedLanes) -> None:
        """Combine the values of a store with accumulators; lanes that are off add the identity."""
        assert s.reducer is not None
        values = s.values
        if lanes.mask is not None:
            values = values_of_some(s, make("lane mask", (), "bool"))
        with self.scope():
            combined = [self.deep(v, lanes) for v in s.reducer.combine(into, values)]
            for name, x in zip(into, combined, strict=True):
                self.builder.store(x, self.accumulators[name])

    def finish_reduction(self, store: Store, parts: Sequence[Names], lanes: int) -> None:
        """Combine the vectors, then their lanes, then what the target holds."""
        assert store.reducer is not None
        first = parts[0]
        for other in parts[1:]:
            first = self.combined(store.reducer, first, other, lanes)
        while lanes > 1:  # halves, so that all lanes are combined in log2(lanes) steps
            lanes //= 2
            low, high = self.half(first, lanes, 0), self.half(first, lanes, 1)
            first = self.combined(store.reducer, low, high, lanes)
        self.store(Store(store.block, store.targets, store.index, first, store.reducer), None)

    def combined(self, reducer: Reducer, first: Names, second: Names, lanes: int) -> Names:
        """Names of the combination of two partial results."""
        none = make("name", (), INDEX, ("", 0))
        inside = MaskedLanes(none, none, lanes) if lanes > 1 else None
        with self.scope():
            values = [self.of(v, inside) for v in reducer.combine(first, second)]
        return self.bound(first, values, lanes)

    def half(self, names: Names, lanes: int, which: int) -> Names:
        """Names of one half of the lanes."""
        lane_numbers = range(which * lanes, (which + 1) * lanes)
        picked = ir.Constant(ir.VectorType(I32, lanes), list(lane_numbers))
        values = []
        for name in names:
            x = self.value(name)
            if lanes > 1:
                values.append(self.builder.shuffle_vector(x, x, picked))
            else:
                values.append(self.builder.extract_element(x, I32(which)))
        return self.bound(names, values, lanes)

    def bound(self, like: Names, values: Sequence[Any], lanes: int) -> Names:
        """New names of these values."""
        names = tuple([self.named(x.dtype, lanes if lanes > 1 else 0) for x in like])
        self.numbers.update(zip(names, values, strict=True))
        return names
