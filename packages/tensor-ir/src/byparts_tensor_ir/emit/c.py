"""C++ for a function: explicit vectors and explicit accumulators, no reassociation by the compiler.

    void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes

Compiled as C++ (GCC's C has no `?:` of vectors), with `-ffp-contract=off`: what rounds once is
written as `fma`.  Vectors are in the function already: `vectorize.py`.

Each subexpression has a name, computed once where it is used; an arm of a `select` that could read
outside its buffer is computed only where it is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_tensor_ir.access import EmitError, elements_of, flat_index, step_of, unrounded
from byparts_tensor_ir.emit.c_tables import CPP, VECTORS
from byparts_tensor_ir.emit.function import Function
from byparts_tensor_ir.emit.source import Source as Source
from byparts_tensor_ir.emit.statements import Statements
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.emit.vector_values import VectorValues
from byparts_tensor_ir.emit.vectors import literal
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.intrinsic import Intrinsic, operand_boxes
from byparts_tensor_ir.lane_forms import LaneForms
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.statement import Buffer, For, Func, Statement, Store, walk
from byparts_tensor_ir.substitute import expressions, loads, substituted
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
    """C++ for the function.

    Args:
        func: any function without GPU threads.
        vector_bytes: of a vector register: 16, 32 or 64.
        aliases: pairs of parameters that the caller may give as one block of memory.

    Raises:
        EmitError: a local buffer of unknown size, or a statement that has no C.
    """
    func, forms = without_guards(placed_identities(func)), LaneForms(vector_bytes)
    printer = _Cpp(func, forms, {b for pair in aliases for b in pair})
    return printer.source(vectorized(func, vector_bytes, forms.check, texts=True).body)


_STREAMED_BYTES = 16 << 20  # of a tensor, of which a cache keeps little until it is read again


def _is_large(buffer: Buffer) -> bool:
    """Whether the buffer's size is known and too large for its stores to go through the caches."""
    known = all(d.op == "const" for d in buffer.shape)
    return known and elements_of(buffer) * BYTES[buffer.dtype] >= _STREAMED_BYTES


class _Cpp:
    """The code of one function; hands statements of vectors to `VectorValues`."""

    def __init__(self, func: Func, forms: LaneForms, aliased: set[Buffer]) -> None:
        self.func, self.function = func, Function(func, CPP, aliased)
        self.text = self.function.text
        self.function.after_parameters = self.stream_flags
        self.numbers = Values(CPP, self.text)
        self.vectors = VectorValues(self.numbers, forms, VECTORS, func.locals)
        self.parallel = self.shared = False  # whether it has a parallel loop; whether in one
        self.lanes: Lanes | None = None  # of the vector that is being written
        read = {load.attr for s in walk(func.body) for e in expressions(s) for load in loads(e)}
        self.streamed = {b for b in func.outputs if _is_large(b) and b not in read}
        self.statements = Statements(self.numbers)
        self.statements.inside = lambda s: self.function.declare(s.var)
        self.statements.forms |= {
            **{Store: self.store, Assign: self.assign, Unrolled: self.unrolled, For: self.loop},
            **{VectorLoop: self.vector_loop, Vector: self.vector, Strips: self.strips},
        }

    # -- the function --------------------------------------------------------------------------

    def source(self, body: Sequence[Statement]) -> Source:
        """The code around these statements, and theirs."""
        self.function.begin()
        self.statements.write(body)
        self.end_streams()
        used, size = frozenset(self.vectors.used), self.function.placement.workspace_bytes
        return Source(self.function.name, self.function.whole(), used, size, self.parallel)

    def stream_flags(self) -> None:
        """Whether outputs go past the caches."""
        func = self.func
        inputs = [p.name for p in func.params if p not in func.outputs]
        for p in func.params:
            if p in self.streamed:  # what lies over an input is in the caches already
                apart = " && ".join([f"(void *){p.name} != {x}" for x in inputs] or ["true"])
                self.text.line(f"const bool stream_{p.name} = {apart};")

    def end_streams(self) -> None:
        """Stores past the caches are seen by whoever runs next."""
        if self.streamed:
            self.text.line("stream_end();")

    # -- loops ---------------------------------------------------------------------------------

    def unrolled(self, s: Unrolled) -> None:
        """The rounds, each with local buffers of its own."""
        own = s.loop.var in self.function.placement.within
        for one in s.rounds:
            with self.text.block("") if own else self.text.same_block():
                self.function.declare(s.loop.var)
                self.statements.write(one)

    def loop(self, s: For) -> None:
        """A loop: of an intrinsic, shared among threads, or plain."""
        if isinstance(s.kind, Intrinsic):
            self.intrinsic(s, s.kind)
        elif "Idx" in s.kind:
            raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
        elif s.kind != "parallel" or self.shared or self.lanes is not None:
            self.statements.loop(s)
        else:
            self.parallel_loop(s)

    def parallel_loop(self, s: For) -> None:
        """A loop whose rounds threads share: each calls a function of the first and the last."""
        self.text.forget_written(s.body)
        low, end = s.var.attr.low, self.numbers.index(s.extent + s.var.attr.low)
        self.shared = self.parallel = True
        first, last = self.text.fresh("first"), self.text.fresh("last")
        head = f"in_parallel({low}, {end}, [&](int64_t {first}, int64_t {last})"
        with self.text.block(head, ");"):
            self.function.parameters()  # again: what is captured is not `restrict`
            with self.statements.between(self.statements.head(s, first, last), s):
                self.statements.write(s.body)
            self.end_streams()
        self.shared = False

    def intrinsic(self, s: For, kind: Intrinsic) -> None:
        """The intrinsic's text, as the body of a function of its operands that is called here."""
        self.text.forget_written(s.body)
        names, values, index = [], [], self.numbers.index
        for p, box in zip(kind.reference.params, operand_boxes(s, kind), strict=True):
            const_ = "" if p in kind.reference.outputs else "const "
            names.append(f"{const_}{CPP.types[p.dtype]} *__restrict {p.name}")
            values.append(f"{box.buffer.name} + {index(flat_index(box.buffer, box.begin))}")
            names += [f"int64_t {p.name}_{d}" for d in range(len(box.dims))]
            values += [index(step) for step in box.strides()]
        with self.text.block(f"[]({', '.join(names)})", f"({', '.join(values)});  // {kind}"):
            for line in kind.code.strip("\n").splitlines():
                self.text.line(line)

    # -- vectors -------------------------------------------------------------------------------

    def vector_loop(self, s: VectorLoop) -> None:
        """Values that are the same in all rounds, then the vectors."""
        self.text.forget_written(s.loop.body)
        for x in s.once:
            self.numbers.value(x)
        whole = any(isinstance(x, Strips) for x in s.body)
        with self.text.block("") if whole else self.text.same_block():
            self.statements.write(s.body)

    def strips(self, s: Strips) -> None:
        """The variable goes on from one part to the next."""
        loop = s.loop
        name, end = loop.name, self.numbers.index(loop.extent + loop.var.attr.low)
        self.text.line(f"int64_t {name} = {loop.var.attr.low};")
        for part in s.body:
            if isinstance(part, Strip):
                step = part.step
                with self.text.block(f"for (; {name} + {step} <= {end}; {name} += {step})"):
                    self.strip_body(part.body)
            elif isinstance(part, Rest):
                with self.text.block(f"if ({name} < {end})"):
                    left = self.text.names[part.left] = self.text.fresh(part.left.attr.name)
                    self.text.line(f"const int64_t {left} = {end} - {name};")
                    self.strip_body(part.body)

    def strip_body(self, body: Sequence[Statement]) -> None:
        """Vectors, each with names of its own."""
        for v in body:
            assert isinstance(v, Vector), "a strip is made of vectors"
            with self.text.block("") if len(body) > 1 else self.text.same_block():
                self.in_lanes(v)

    def vector(self, s: Vector) -> None:
        """A vector; after it, what depended on its lanes is another value."""
        self.in_lanes(s)
        self.text.forget(lambda x: x is s.lanes.var)

    def in_lanes(self, s: Vector) -> None:
        """The statements of a vector."""
        self.lanes, outer = s.lanes, self.lanes
        self.statements.write(s.body)
        self.lanes = outer

    def assign(self, s: Assign) -> None:
        """Write registers, which are declared where they are first written."""
        self.text.scopes.append({})
        pairs = zip(s.targets, s.values, strict=True)
        texts = [self.assigned(v, t.attr.lanes) for t, v in pairs]
        for t, text in zip(s.targets, texts, strict=True):
            if t in self.text.names:
                self.text.line(f"{self.text.names[t]} = {text};")
                continue
            n, name = t.attr.lanes, self.text.fresh(t.attr.name)
            kind = self.vectors.vector(t.dtype, n) if n > 1 else CPP.value_types[t.dtype]
            self.text.line(f"{kind} {name} = {text};")
            self.text.names[t] = name
        self.text.scopes.pop()

    def assigned(self, e: Expr, n: int) -> str:
        """The value of a register of n lanes."""
        if e.op == "half":
            name = self.text.names[e.args[0]]
            picked = ", ".join([f"{name}[{e.attr * n + i}]" for i in range(n)])
            return f"{{{picked}}}" if n > 1 else picked
        if e.op == "const" and n > 1:
            return f"{literal(e)} - ({self.vectors.vector(e.dtype, n)}){{}}"
        return self.vectors.deep_value(e, self.lanes)

    def store(self, s: Store) -> None:
        """A store of numbers, or in all lanes of a vector."""
        lanes = self.lanes
        if lanes is None:
            self.statements.store(s)
            return
        values = unrounded(s)
        texts = [self.vectors.deep_value(v, lanes) for v in values]
        for target, value, text in zip(s.targets, values, texts, strict=True):
            flat = flat_index(target, s.index)
            if step_of(flat, lanes) == 1:
                first = substituted(flat, {lanes.var: lanes.base})
                self.vectors.store(target, first, value, lanes, target in self.streamed)
            else:
                self.vectors.scatter(target, flat, value, text, lanes)
        self.text.forget_written([s])
