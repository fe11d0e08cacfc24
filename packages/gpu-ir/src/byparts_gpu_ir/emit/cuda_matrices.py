"""PTX for the matrices of a warp: `wmma` instructions, which need no header.

Each thread holds part of a matrix, in registers that only these instructions know how to read;
accumulators of one shape are spread over registers alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_gpu_ir.emit.inline import bare
from byparts_gpu_ir.emit.thread import ThreadCode
from byparts_tensor_ir.access import EmitError, flat_index
from byparts_tensor_ir.expression import BYTES, Expr, const
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.matrix import (
    DEPTHS,
    SIDE,
    FillMatrix,
    LoadMatrix,
    Matrix,
    MatrixBox,
    MultiplyAdd,
    ScaleMatrix,
)
from byparts_tensor_ir.statement import Buffer, Instruction, statement_lines, walk

FIRST_BYTES = 32  # the first element of a box is at a multiple of this
ROW_BYTES = 16  # and each of its rows
_LETTERS = {"matrix_a": "a", "matrix_b": "b", "accumulator": "c"}
_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "tf32"}
_REGISTERS = {"f16": 8, "bf16": 4, "f32": 4}


class CudaMatrices:
    """Statements of `matrix.py` as PTX.

    Attributes:
        thread: the code around them.
        depths: accumulator -> the depth of the products that are added to it.
        row_major: buffer of matrices -> whether its rows were neighbours in memory.
    """

    def __init__(self, thread: ThreadCode) -> None:
        """Find what the instructions must agree on.

        Raises:
            EmitError: one buffer holds matrices of two kinds.
        """
        self.thread, self.text, self.values = thread, thread.text, thread.values
        self.depths: dict[Buffer, int] = {}
        self.row_major: dict[Buffer, bool] = {}
        for s in walk(thread.func.body):
            if isinstance(s, MultiplyAdd):
                depth = DEPTHS[s.left.buffer.dtype]
                if self.depths.setdefault(s.target.buffer, depth) != depth:
                    raise EmitError(f"{s}: products of two depths in {s.target.buffer}")
            elif isinstance(s, LoadMatrix) and s.matrix.buffer.scope != "accumulator":
                way = self.row_major.setdefault(s.matrix.buffer, s.row_major)
                if way != s.row_major:
                    raise EmitError(f"{s}: boxes along rows and along columns in one buffer")
        for s in walk(thread.func.body):
            if isinstance(s, ScaleMatrix):
                depth = self.depths.get(s.target.buffer, SIDE)
                if self.depths.setdefault(s.factor.buffer, depth) != depth:
                    raise EmitError(f"{s}: accumulators of products of two depths")

    def declared(self, b: Buffer) -> str:
        """The registers of a buffer of matrices."""
        count = 1
        for extent in b.shape[:-2]:
            count *= int(extent.attr)
        kind = "float" if b.scope == "accumulator" else "unsigned"
        return f"{kind} {self.text.name(b)}[{count * registers(b)}]"

    def write(self, s: Instruction) -> None:
        """Write a statement of matrices.

        Raises:
            EmitError: it is none, or its boxes are not aligned.
        """
        if isinstance(s, FillMatrix):
            self.fill(s)
        elif isinstance(s, MultiplyAdd):
            self.multiply(s)
        elif isinstance(s, ScaleMatrix):
            for part, factor in zip(self.parts(s.target), self.parts(s.factor), strict=True):
                self.text.line(f"{part} *= {factor};")
        elif isinstance(s, MatrixBox):
            self.box(s)
        else:
            raise EmitError(f"{statement_lines([s])[0]} has no CUDA C")

    def parts(self, m: Matrix) -> list[str]:
        """The registers of a thread for a matrix."""
        n = registers(m.buffer)
        flat = const(0)
        for i, extent in zip(m.at, m.buffer.shape, strict=False):
            flat = flat * extent + i
        return [
            f"{self.text.name(m.buffer)}[{bare(self.values.index(flat * n + k))}]" for k in range(n)
        ]

    def fill(self, s: FillMatrix) -> None:
        if s.target.buffer.scope != "accumulator":
            raise EmitError(f"{s}: only an accumulator is filled")
        value = self.values.value(const(s.value, "f32"))
        for part in self.parts(s.target):
            self.text.line(f"{part} = {value};")

    def multiply(self, s: MultiplyAdd) -> None:
        dtype = s.left.buffer.dtype
        sides = [self.side(m.buffer) for m in (s.left, s.right)]
        kinds = "f32.f32" if dtype == "f16" else f"f32.{_TYPES[dtype]}.{_TYPES[dtype]}.f32"
        name = f"wmma.mma.sync.aligned.{'.'.join(sides)}.m16n16k{DEPTHS[dtype]}.{kinds}"
        target, left, right = (self.parts(m) for m in (s.target, s.left, s.right))
        sums = _braces(0, len(target))
        operands = [sums, _braces(8, len(left)), _braces(8 + len(left), len(right)), sums]
        self.assembly(f"{name} {', '.join(operands)};", _all("+f", target), _all("r", left + right))

    def side(self, b: Buffer) -> str:
        return "row" if self.row_major.get(b, True) else "col"

    def box(self, s: MatrixBox) -> None:
        self.check_alignment(s)
        buffer, parts = s.matrix.buffer, self.parts(s.matrix)
        loads = isinstance(s, LoadMatrix)
        letter = _LETTERS[buffer.scope] if loads else "d"
        sums = buffer.scope == "accumulator"
        depth = self.depths.get(buffer, SIDE) if sums else DEPTHS[buffer.dtype]
        kind = "f32" if sums else _TYPES[buffer.dtype]
        how = "row" if s.row_major else "col"
        name = f"wmma.{'load' if loads else 'store'}.{letter}.sync.aligned.{how}.m16n16k{depth}"
        n = len(parts)
        held, at = _braces(0, n), "[place]"
        operands = f"{held}, {at}" if loads else f"{at}, {held}"
        register = "f" if sums else "r"
        place = self.values.element(s.memory, s.index)
        address_and_stride = [f'"l"(&{place})', f'"r"({self.values.index(s.stride)})']
        outputs = _all(f"={register}", parts) if loads else []
        inputs = address_and_stride if loads else [*_all(register, parts), *address_and_stride]
        space = s.memory.scope
        address = f"{{ .reg .u64 place; cvta.to.{space}.u64 place, %{n};"
        text = f"{address} {name}.{space}.{kind} {operands}, %{n + 1}; }}"
        self.assembly(text, outputs, inputs)
        if loads and not sums and buffer.dtype == "f32":
            for part in parts:
                self.text.line(f'asm("cvt.rna.tf32.f32 %0, %0;" : "+r"({part}));')
        self.thread.statements.forget([s])

    def check_alignment(self, s: MatrixBox) -> None:
        size = BYTES[s.memory.dtype]
        first = flat_index(s.memory, s.index)
        if not is_multiple(first, FIRST_BYTES // size) or not is_multiple(
            s.stride, ROW_BYTES // size
        ):
            raise EmitError(
                f"{s}: element {first} of {s.memory} is not always at a multiple of {FIRST_BYTES} "
                f"bytes, or rows of {s.stride} elements not at multiples of {ROW_BYTES}"
            )

    def assembly(self, text: str, outputs: Sequence[str], inputs: Sequence[str]) -> None:
        self.text.line(f'asm volatile("{text}"')
        self.text.line(f"  : {', '.join(outputs)}")
        self.text.line(f'  : {", ".join(inputs)} : "memory");')


def registers(b: Buffer) -> int:
    """The number of registers of a thread that hold its part of one matrix."""
    return 8 if b.scope == "accumulator" else _REGISTERS[b.dtype]


def _braces(first: int, count: int) -> str:
    return f"{{{', '.join([f'%{first + k}' for k in range(count)])}}}"


def _all(constraint: str, parts: Sequence[str]) -> list[str]:
    return [f'"{constraint}"({part})' for part in parts]


def is_multiple(e: Expr, n: int) -> bool:
    """Whether an index is a multiple of n, whatever its variables are."""
    coefficients, constant = terms(e)
    return constant % n == 0 and all(c % n == 0 for c in coefficients.values())
