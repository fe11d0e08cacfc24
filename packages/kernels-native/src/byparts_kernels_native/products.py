"""Products of matrices: which functions compute them, and which of them a shape takes.

Our own (`matrices.py`) for every dtype; floats also by a CBLAS (`blas.py`).  Small products take
ours, very large ones a library, and others what `choice.py` measured.  Leading axes are a loop
around one product of two matrices.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Kernel, KernelFamily, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import blas, choice, code, dots, narrow
from byparts_kernels_native.generated import Generated, Pairs, generated
from byparts_kernels_native.products_of_sizes import Sizes, table
from byparts_kernels_native.tilings import Matrices, Tiling, packed_bytes, tiling_of
from byparts_op_loops import measured
from byparts_op_loops.narrow import held, takes
from byparts_tensor_ir.compile import default_emitter
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.expression import BYTES
from byparts_tensor_ir.target import target
from byparts_tensor_ir.threads import threads

if TYPE_CHECKING:
    from byparts_tensor_ir.statement import Func

_TINY = 1 << 14  # multiplications; a call of BLAS takes longer than these
_MEASURED = 1 << 28  # multiplications; and bytes of operands: beyond these nothing is measured
_MOST_AXES = 32


@dataclass(frozen=True)
class Product:
    """Products of matrices for each index of leading axes.

    Attributes:
        of: the product of two matrices.
        lead: the extents of the leading axes.
        steps: for a and for b, how many elements lie between one index of each leading axis and
            the next; 0 where all indices share one matrix.
    """

    of: Matrices
    lead: tuple[int, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ((), ())


@dataclass(frozen=True)
class Way:
    """Compiled functions that compute a product of two matrices.

    Attributes:
        name: by which `choice` remembers the fastest way.
        one: the name of a function of (a, b, c, y, workspace, gemm).
        gemm: the address of a product of a library, or 0.
        pack: the name of a function of (b, packed b), called before `one`, which then reads the
            packed b; "" where b is read as it is.
        packed_bytes: of the packed b.
        source: of `one`.
        numbers: what stands at `gemm` where it is no product of a library: kept alive.
    """

    name: str
    one: str
    workspace_bytes: int = 0
    gemm: int = 0
    pack: str = ""
    packed_bytes: int = 0
    source: str = ""
    numbers: Any = None


def matmul(op: Any, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A `MatMul` of a and b, or an `AddMatmul` of c, which has the type of the result, a and b.

    Raises:
        Refused: a dtype that C does not have.
    """
    if not takes(types[0].dtype):
        raise Refused(f"{op.name} of ({', '.join(map(str, types))}): C has no {types[0].dtype}")
    return kernel(_product(op, *types), len(types) - 1 in constants)


def family(op: Any, types: Sequence[TensorType], constants: frozenset[int]) -> KernelFamily:
    """The kernels of `matmul` for all sizes of named dimensions.

    Raises:
        Refused: a dtype, or there is no C++ compiler.
    """
    *c, a, _ = types
    if c and c[0] != op.infer(*types)[0]:
        raise Refused(f"{op.name}: what is added is not as large as the result")
    scale = float(op.scale) if c else None
    one = Matrices(1, 1, 1, a.dtype, op.transpose_a, op.transpose_b, scale)
    code.later(_EACH)
    sizes, constant_b = Sizes(one), len(types) - 1 in constants

    def at(sized: Any, numbers: Sequence[TensorType]) -> Kernel:
        p = _product(sized, *numbers)
        once = constant_b and not p.lead
        numbers_of, bytes = table(p.of, once), sizes.packed_bytes(p.of)
        space, packed = (0, bytes) if once else (bytes, 0)
        at, pack = ctypes.addressof(numbers_of), sizes.packing if once and bytes else ""
        way = Way("all sizes", sizes.product, space, at, pack, packed, sizes.source, numbers_of)

        def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, kept: Any) -> Run:
            added, x, y = (0, *inputs) if p.of.added is None else inputs
            return _run(p, way, (x, y, added, outputs[0]), workspace or 0, kept or 0)

        inplace = () if p.of.added is None else ((0, 0),)
        return Kernel(bind, space, packed, inplace, True, way.source)

    return KernelFamily(at, source=sizes.source)


def _product(op: Any, *types: TensorType) -> Product:
    *c, a, b = types
    m, k = a.dims[-2:][:: -1 if op.transpose_a else 1]
    n = b.dims[-2] if op.transpose_b else b.dims[-1]
    lead_a, lead_b = a.dims[:-2], b.dims[:-2]
    scale = float(op.scale) if c else None
    one = Matrices(m, n, k, a.dtype, op.transpose_a, op.transpose_b, scale)
    if prod(lead_b) == 1 and not op.transpose_a:  # all rows of a at once
        return Product(replace(one, m=prod(lead_a) * m))
    rank = max(len(lead_a), len(lead_b))
    wide = [(1,) * (rank - len(x)) + x for x in (lead_a, lead_b)]
    lead = tuple([y if x == 1 else x for x, y in zip(*wide, strict=True)])
    if 0 in lead:
        return Product(replace(one, m=0))
    sizes = (m * k, k * n)
    steps = tuple([_steps(x, size) for x, size in zip(wide, sizes, strict=True)])
    return Product(one, lead, steps)


def _steps(dims: Sequence[int], size: int) -> tuple[int, ...]:
    """Elements between one index of each axis and the next, where matrices have `size` each."""
    return tuple([0 if d == 1 else prod(dims[i + 1 :]) * size for i, d in enumerate(dims)])


def kernel(p: Product, constant_b: bool) -> Kernel:
    """The kernel for inputs (a, b), or (c, a, b) where something is added.

    Raises:
        Refused: it has leading axes, and there is no C++ compiler.
    """
    if p.lead:
        code.later(_EACH)
    ways = {w.name: w for w in _ways(p, constant_b)}
    key = _key(p, constant_b, ways)
    workspace_bytes = max(w.workspace_bytes for w in ways.values())
    packed_bytes = max(w.packed_bytes for w in ways.values())

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, kept: Any) -> Run:
        name = next(iter(ways)) if len(ways) == 1 else choice.known(key)
        if name not in ways:
            scratch = _Scratch(p, workspace_bytes, packed_bytes)
            calls = {n: _run(p, w, scratch.arguments, *scratch.blocks) for n, w in ways.items()}
            name = choice.fastest(key, calls)
        way = ways[name]
        c, a, b = (0, *inputs) if p.of.added is None else inputs
        return _run(p, way, (a, b, c, outputs[0]), workspace or 0, kept or 0)

    inplace = () if p.of.added is None else ((0, 0),)
    source = "\n".join(w.source for w in ways.values())
    return Kernel(bind, workspace_bytes, packed_bytes, inplace, True, source)


def _run(p: Product, way: Way, arguments: Sequence[int], workspace: int, packed: int) -> Run:
    """A call for arguments (a, b, c, y), after b is packed."""
    a, b, c, y = arguments
    if way.pack:
        code.call(way.pack, [b, packed, workspace, way.gemm])()
        b = packed
    if not p.lead:
        return code.call(way.one, [a, b, c, y, workspace, way.gemm], way.numbers)
    one = (ctypes.c_void_p * 6)(a, b, c, y, workspace, way.gemm)
    size, numbers = BYTES[held(p.of.dtype)], [len(p.lead)]
    y_steps = _steps(p.lead, p.of.m * p.of.n)
    for extent, *steps in zip(p.lead, *p.steps, y_steps, strict=True):
        numbers += [extent, *[step * size for step in steps]]
    axes = (ctypes.c_int64 * len(numbers))(*numbers)
    at = [code.address(way.one), ctypes.addressof(axes), ctypes.addressof(one)]
    return code.call(code.later(_EACH), [*at, a, b, y], axes, one, way.numbers)


# Calls a function of (a, b, c, y, ...) for each index of leading axes, the last one innermost.
_EACH = Source(
    "each",
    f"""extern "C" void each(void **a) {{
  void (*function)(void **) = (void (*)(void **))a[0];
  const int64_t *axes = (const int64_t *)a[1], rank = axes[0];
  void **one = (void **)a[2];
  char *x = (char *)a[3], *w = (char *)a[4], *y = (char *)a[5];
  int64_t at[{_MOST_AXES}] = {{}};
  for (int64_t i = rank; i >= 0;) {{
    one[0] = x, one[1] = w, one[3] = y;
    function(one);
    for (i = rank - 1; i >= 0; --i) {{
      const int64_t *s = axes + 1 + 4 * i;
      x += s[1], w += s[2], y += s[3];
      if (++at[i] < s[0]) break;
      x -= s[0] * s[1], w -= s[0] * s[2], y -= s[0] * s[3], at[i] = 0;
    }}
    if (i < 0) return;
  }}
}}
""",
    frozenset(),
    0,
)


def _key(p: Product, constant_b: bool, ways: Iterable[str]) -> str:
    """The key of a measurement: sizes, flags, leading axes, threads and ways; not the scale."""
    one = p.of
    flags = (one.transpose_a, one.transpose_b, one.added is not None, constant_b)
    about = [one.dtype, one.m, one.n, one.k, *map(int, flags), p.lead, p.steps if p.lead else ""]
    return " ".join(map(str, [*about, threads(), *ways]))


class _Scratch:
    """Memory to measure on, of numbers that are no zeros: pages of zeros are shared."""

    def __init__(self, p: Product, *blocks: int) -> None:
        one, many = p.of, prod(p.lead)
        sizes = [x * y * many for x, y in ((one.m, one.k), (one.k, one.n), (one.m, one.n))]
        sizes = [8 * x for x in (*sizes, sizes[2])] + list(blocks)
        self.memory = [ctypes.create_string_buffer(x + 64) for x in sizes]
        at = [-(-ctypes.addressof(m) // 64) * 64 for m in self.memory]
        for address, size in zip(at, sizes, strict=True):
            ctypes.memset(address, 0x3C, size)
        self.arguments, self.blocks = at[:4], at[4:]


def _ways(p: Product, constant_b: bool) -> list[Way]:
    """The ways to measure, or the only one where a rule decides."""
    one, many = p.of, prod(p.lead)
    work = many * one.m * one.n * one.k
    if dots.wanted(one) and default_emitter() == "c":
        return [_dots(p, constant_b)]
    libraries = [x for x in blas.libraries() if x.gemm(one.dtype) and work]
    if work <= _TINY or default_emitter() == "llvm":
        return [_own(p, constant_b)]
    bytes = 8 * many * (one.m * one.k + one.k * one.n)
    few = narrow.wanted(one)
    if libraries and max(work, bytes) > _MEASURED:
        return [_library(p, libraries[0])]  # it may use several threads
    if not measured.measures():
        if libraries and min(one.m, one.n) > 16 and max(one.m, one.n, one.k) > 64:
            return [_library(p, libraries[0])]
        return [_narrow(p, constant_b) if few else _own(p, constant_b)]
    # All of them also where the answer is known: another process finds the same file compiled.
    ours = [_own(p, constant_b), *([_narrow(p, constant_b)] if few else [])]
    return [*ours, *[_library(p, x) for x in libraries]]


def _own(p: Product, constant_b: bool) -> Way:
    width, once = target().vector_bytes, constant_b and not p.lead
    t = tiling_of(p.of, width, once)
    one = own_product(p.of, t, once)
    size = packed_bytes(p.of, t, width) if once else 0
    pack = own_packing(p.of, t).name if size else ""
    return Way("own", one.name, one.workspace_bytes, 0, pack, size, one.source)


def _dots(p: Product, constant_b: bool) -> Way:
    once = constant_b and not p.lead
    one = dots.product(p.of, once)
    pack, size = (code.later(dots.packing(p.of)), dots.b_bytes(p.of)) if once else ("", 0)
    workspace_bytes = dots.a_bytes(p.of) + (0 if once else dots.b_bytes(p.of))
    return Way("dots", code.later(one), workspace_bytes, 0, pack, size, one.body)


def _narrow(p: Product, constant_b: bool) -> Way:
    size = narrow.b_bytes(p.of)
    once = size > 0 and constant_b and not p.lead
    one = narrow.product(p.of, once)
    pack = code.later(narrow.packing(p.of)) if once else ""
    workspace_bytes = 0 if once else size
    return Way("narrow", code.later(one), workspace_bytes, 0, pack, size * once, one.body)


def own_product(p: Matrices, t: Tiling, packed_apart: bool) -> Generated:
    """`matrices.product`: a function of (a, b, c, y, workspace)."""

    def function() -> tuple[Func, Pairs]:
        from byparts_kernels_native import matrices  # not where the code is on the disk

        return matrices.product(p, t, target().vector_bytes, packed_apart), ((2, 0),)

    return generated(f"product {p} {t} {packed_apart}".encode(), function)


def own_packing(p: Matrices, t: Tiling) -> Generated:
    """`matrices.packing`: a function of (b, packed b, workspace)."""

    def function() -> tuple[Func, Pairs]:
        from byparts_kernels_native import matrices  # not where the code is on the disk

        return matrices.packing(p, t, target().vector_bytes), ()

    return generated(f"packed {p} {t}".encode(), function)


def _library(p: Product, library: blas.Library) -> Way:
    head = 'extern "C" void byparts_product(void **a) '
    source = Source("byparts_product", head + blas.text(p.of, library.integer), frozenset(), 0)
    gemm = library.gemm(p.of.dtype)
    size = blas.workspace_bytes(p.of)
    return Way(library.name, code.later(source), size, gemm, source=source.body)
