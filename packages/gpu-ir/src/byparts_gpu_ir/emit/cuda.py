"""CUDA C for a function of loops that are bound to blocks and threads.

No header is included: NVRTC has none.  Compiled with `-fmad=false`, so that arithmetic rounds as it
does on a CPU: what rounds once is written as `fmaf`.  Indices are of 32 bits where bounds prove
that they fit.  Buffers begin at multiples of 16 bytes, of 32 where a kernel loads matrices from
them, which whoever launches it checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from byparts_gpu_ir.emit.cuda_indices import CudaIndices
from byparts_gpu_ir.emit.cuda_matrices import FIRST_BYTES, CudaMatrices, is_multiple
from byparts_gpu_ir.emit.cuda_tables import CUDA, HELPERS, RESERVED, TYPES
from byparts_gpu_ir.emit.inline import Inlined, bare
from byparts_gpu_ir.emit.thread import LOCAL, Grid, ThreadCode
from byparts_gpu_ir.wide import WIDEST_BYTES, Wide
from byparts_tensor_ir.access import EmitError, elements_of, flat_index
from byparts_tensor_ir.emit.c_tables import COMPARISONS
from byparts_tensor_ir.expression import BYTES, HALVES, INDEX, Expr, const
from byparts_tensor_ir.matrix import MatrixBox
from byparts_tensor_ir.statement import (
    MATRICES,
    Barrier,
    Buffer,
    Exchange,
    For,
    Func,
    Instruction,
    Shuffle,
    Statement,
    walk,
)
from byparts_tensor_ir.substitute import substituted
from byparts_tensor_ir.transfer import CloseGroup, CopyAsync, WaitGroups

STATIC_SHARED_BYTES = 48 << 10  # more is asked for at the launch
FLAGS = ("-fmad=false",)


@dataclass(frozen=True)
class CudaSource:
    """Emitted CUDA C.

    Attributes:
        name: of the kernel.
        body: the kernel alone, `extern "C" __global__ void NAME(...) {...}`.
        grid: how many blocks there are along x, y, z, or the text of an expression of sizes; 0
            along an axis: nothing is to be launched.
        block: how many threads a block has along x, y, z.
        shared_bytes: of shared memory that the kernel itself declares.
        dynamic_bytes: of shared memory that the launch asks for; 0 if `shared_bytes` is not.
        parameters: names of the arguments, in order: addresses, then sizes of 64 bits.
        alignment: bytes; each address is a multiple of it.
        helpers: names of the functions before the kernel, `cuda_tables.HELPERS`, that it calls.
    """

    name: str
    body: str
    grid: Grid
    block: tuple[int, int, int]
    shared_bytes: int
    dynamic_bytes: int
    parameters: tuple[str, ...]
    alignment: int
    helpers: tuple[str, ...]

    @property
    def text(self) -> str:
        """A whole file."""
        return cuda_file([self])


def cuda_file(sources: Sequence[CudaSource]) -> str:
    """Join the sources of several kernels into one file, with the helpers that they use."""
    used = dict.fromkeys(h for s in sources for h in s.helpers)
    return "\n".join([*[text for name, text in HELPERS.items() if name in used], *_bodies(sources)])


def _bodies(sources: Sequence[CudaSource]) -> list[str]:
    return [s.body for s in sources]


def emit_cuda(func: Func, aliases: Sequence[tuple[Buffer, Buffer]] = ()) -> CudaSource:
    """CUDA C for the function.

    Args:
        func: loops bound to blocks and threads (`nest_of`).
        aliases: pairs of parameters that the caller may give as one block of memory.

    Raises:
        NestError: it is no GPU function.
        EmitError: a buffer that a GPU function cannot have, or a statement that has no CUDA C.
    """
    return _Cuda(func, aliases).source()


class _Cuda:
    """A kernel: what stands around the code of a thread, and what only a GPU has."""

    def __init__(self, func: Func, aliases: Sequence[tuple[Buffer, Buffer]]) -> None:
        self.thread = ThreadCode(func, CUDA, RESERVED, self)
        self.func, self.text, self.values = self.thread.func, self.thread.text, self.thread.values
        self.index = CudaIndices(self.values)
        self.inlined = Inlined(self.values, self.thread.all_statements())
        self.values.index, self.values.operand = self.index.text, self.operand
        self.statements = self.thread.statements
        self.statements.forget, self.statements.rounds = self.forget, self.rounds
        self.statements.compute = self.computed
        self.aliased = {b for pair in aliases for b in pair}
        self.written = self.thread.exchanged - {*self.func.locals}
        for b in self.func.locals:
            if b.scope == "global":
                raise EmitError(f"{func.name}: {b} is global: make it a parameter of the kernel")
        self.shared = [b for b in self.func.locals if b.scope == "shared"]
        self.matrices = CudaMatrices(self.thread)
        boxes = any(isinstance(s, MatrixBox) for s in self.thread.all_statements())
        self.alignment = FIRST_BYTES if boxes else WIDEST_BYTES
        total = sum(self.aligned_bytes(b) for b in self.shared)
        self.dynamic_bytes = total if total > STATIC_SHARED_BYTES else 0
        self.shared_bytes = 0 if self.dynamic_bytes else total

    def source(self) -> CudaSource:
        func = self.func
        self.declare_indices()
        self.declare_shared()
        self.declare_locals()
        self.statements.write(self.thread.nest.body)
        name = f"byparts_{func.name}"
        names = [self.text.name(x) for x in func.sizes]
        sizes = [f"const long long {name}" for name in names]
        params = ",\n    ".join([*map(self.parameter, func.params), *sizes])
        threads = prod(self.thread.outer.block)
        # Without the 1, the assembler may spill so that more of such small blocks run at once.
        least = ", 1" if self.shared and threads < 256 else ""
        head = f'extern "C" __global__ void __launch_bounds__({threads}{least})'
        where = [f"// {func.where}"] if func.where else []
        body = "\n".join([*where, f"{head} {name}(\n    {params}) {{", *self.text.lines, "}\n"])
        return CudaSource(
            name,
            body,
            self.thread.grid,
            self.thread.outer.block,
            self.shared_bytes,
            self.dynamic_bytes,
            tuple([*[self.text.name(p) for p in func.params], *names]),
            self.alignment,
            tuple(sorted(_helpers(body))),
        )

    def parameter(self, p: Buffer) -> str:
        const = "" if p in self.written else "const "
        restrict = "" if p in self.aliased else " __restrict__"
        return f"{const}{TYPES[p.dtype]} *{restrict} {self.text.name(p)}"

    def declare_indices(self) -> None:
        """The numbers of the block and of the thread, by the names of the loops."""
        for kind in ("block", "thread"):
            for axis, s in self.thread.bound(kind):
                low = f" + {s.var.attr.low}" if s.var.attr.low else ""
                bits, name = self.kind_of(s), self.text.give_name(s.var, s.name)
                self.text.line(f"const {bits} {name} = {kind}Idx.{axis}{low};")

    def kind_of(self, s: For) -> str:
        """The type of a loop's variable."""
        end = s.extent + s.var.attr.low
        return "int" if self.index.fits(s.var) and self.index.fits(end) else "long long"

    def declare_shared(self) -> None:
        if not self.dynamic_bytes:
            for b in self.shared:
                self.text.line(f"__shared__ __align__({self.alignment}) {self.declared(b)};")
            return
        memory = self.text.fresh("shared_memory")
        self.text.line(f"extern __shared__ __align__({self.alignment}) unsigned char {memory}[];")
        offset = 0
        for b in self.shared:
            kind = TYPES[b.dtype]
            star = "&" if not b.shape else "*"
            place = f"({kind} *)({memory} + {offset})"
            place = place if b.shape else f"*{place}"
            self.text.line(f"{kind} {star}{self.text.name(b)} = {place};")
            offset += self.aligned_bytes(b)

    def aligned_bytes(self, b: Buffer) -> int:
        """Bytes that a shared buffer takes, with the gap that aligns the next one."""
        size = max(1, elements_of(b)) * BYTES[b.dtype]
        return -(-size // self.alignment) * self.alignment

    def declare_locals(self) -> None:
        for b in self.func.locals:
            if b.scope in MATRICES:
                self.text.line(f"{self.matrices.declared(b)};")
            elif b.scope in LOCAL:
                self.text.line(f"{self.declared(b)};")

    def declared(self, b: Buffer) -> str:
        extent = f"[{max(1, elements_of(b))}]" if b.shape else ""
        return f"{TYPES[b.dtype]} {self.text.name(b)}{extent}"

    # -- statements ----------------------------------------------------------------------------

    @contextmanager
    def rounds(self, s: For) -> Iterator[None]:
        """The braces of a loop, whose variable is an int where it fits."""
        if s.kind in ("unroll", "vectorize") and s.extent.op == "const":
            self.text.line("#pragma unroll")
        low, end = s.var.attr.low, s.extent + s.var.attr.low
        kind, text = self.kind_of(s), self.index.text(end)
        name = self.text.give_name(s.var, s.name)
        form = CUDA.statements["loop"]
        with self.text.block(form.format(kind=kind, name=name, low=low, end=text)):
            yield
        self.text.taken.discard(name)

    def operand(self, e: Expr, a: Expr) -> str:
        """An operand of an operation; indices that are compared need no more than their bits."""
        compared = e.op in COMPARISONS and a.dtype == INDEX
        return self.index.text(a) if compared else self.values.value(a)

    def computed(self, values: Sequence[Expr]) -> list[str]:
        """The texts of values, with names where there are several: no store changes them."""
        texts = self.thread.computed(values)
        if len(values) == 1:
            return texts
        return [self.inlined.held(v, text) for v, text in zip(values, texts, strict=True)]

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """An element of an array, or a variable."""
        if not buffer.shape and buffer.scope != "global":
            return self.text.name(buffer)
        return self.values.plain_element(buffer, index)

    def forget(self, body: Sequence[Statement]) -> None:
        """Forget what these statements change, and other threads after a barrier."""
        self.text.forget_written(body)
        if any(isinstance(x, Barrier) for x in walk(body)):
            self.forget_exchanged()

    def forget_exchanged(self) -> None:
        """After a barrier other threads have written what this one has read."""
        exchanged = self.thread.exchanged
        self.text.forget(lambda x: x.op == "load" and x.attr in exchanged)

    def barrier(self, s: Barrier) -> None:
        self.text.line("__syncthreads();")
        self.forget_exchanged()

    def instruction(self, s: Instruction) -> None:
        if isinstance(s, (CopyAsync, CloseGroup, WaitGroups)):
            return self.transfer(s)
        if not isinstance(s, (Shuffle, Exchange)):
            return self.matrices.write(s)
        how, lanes = ("xor", s.mask) if isinstance(s, Exchange) else ("down", s.delta)
        text = f"__shfl_{how}_sync(0xffffffffu, {bare(self.values.deep_value(s.value))}, {lanes})"
        self.statements.assign(s.target, (), text)
        self.forget([s])

    def transfer(self, s: CopyAsync | CloseGroup | WaitGroups) -> None:
        """Instructions that copy while the thread goes on."""
        if isinstance(s, CloseGroup):
            self.text.line('asm volatile("cp.async.commit_group;" ::: "memory");')
        elif isinstance(s, WaitGroups):
            self.text.line(f'asm volatile("cp.async.wait_group {s.pending};" ::: "memory");')
            self.forget_exchanged()
        else:
            self.copy(s)

    def copy(self, s: CopyAsync) -> None:
        for buffer, index in ((s.target, s.index), (s.source, s.at)):
            if not is_multiple(flat_index(buffer, index), s.count):
                raise EmitError(
                    f"{s}: not always at a multiple of {s.size_bytes} bytes in {buffer.name}"
                )
        kind = "cg" if s.size_bytes == 16 else "ca"  # past the first cache, or through it
        self.text.line(
            'asm volatile("{ .reg .u64 to, from; cvta.to.shared.u64 to, %0; '
            "cvta.to.global.u64 from, %1; "
            f'cp.async.{kind}.shared.global [to], [from], {s.size_bytes}; }}"'
        )
        to, source = self.element(s.target, s.index, True), self.element(s.source, s.at, False)
        self.text.line(f'  :: "l"(&{to}), "l"(&{source}) : "memory");')
        self.forget([s])

    # -- neighbours ----------------------------------------------------------------------------

    def array_type(self, dtype: str) -> str:
        return f"__align__(16) {TYPES[dtype]}"

    def wide_load(self, load: Expr, wide: Wide, array: str, loop: For) -> None:
        kind = f"{_VECTORS[load.dtype]}{wide.width}"
        for k, first in self.firsts(wide, loop):
            at = self.element(load.attr, [substituted(i, first) for i in load.args], False)
            self.text.line(f"*({kind} *){self.lane(array, k)} = *(const {kind} *)&{at};")

    def wide_store(
        self, buffer: Buffer, index: tuple[Expr, ...], wide: Wide, array: str, loop: For
    ) -> None:
        kind = f"{_VECTORS[buffer.dtype]}{wide.width}"
        for k, first in self.firsts(wide, loop):
            at = self.element(buffer, [substituted(i, first) for i in index], True)
            self.text.line(f"*({kind} *)&{at} = *({kind} *){self.lane(array, k)};")

    def firsts(self, wide: Wide, loop: For) -> Iterator[tuple[int, dict[Expr, Expr]]]:
        """The first lane of each piece: its number, and the value of the loop variable there."""
        low = loop.var.attr.low
        for k in range(0, wide.pieces * wide.width, wide.width):
            yield k, {loop.var: const(low + k)}

    def lane(self, array: str, k: int) -> str:
        """C for the address of an element of an array of lanes."""
        return f"({array} + {k})" if k else array


_VECTORS = {"f32": "float", "f64": "double", "i32": "int", "u32": "uint", "i64": "longlong"}
_VECTORS |= dict.fromkeys((*HALVES, "u16"), "ushort")
_VECTORS |= {"u64": "ulonglong", "i16": "short", "i8": "char", "u8": "uchar", "bool": "uchar"}


def _helpers(body: str) -> set[str]:
    """The functions of `HELPERS` that a kernel calls."""
    return {name for name in HELPERS if re.search(rf"\b{name}[<(]", body)}
