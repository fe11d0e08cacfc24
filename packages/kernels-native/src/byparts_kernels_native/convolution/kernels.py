"""Convolution of floats, its gradients, and the transposed one, as contractions of packed panels.

`plan.py` says what is contracted, `contraction.py` how.  Here the function in C: frame
some images, pack panels, multiply, unpack; and for y the choice of what are lanes, its channels or
its pixels: filters are packed for the first, pixels for the second, so few pixels and many channels
ask for the second (`_pixels_are_lanes`).  Filters of one pixel are a product of matrices, and small
square ones are left to `winograd.py` where that takes fewer cycles.  Without it:

f32, CPU GF/s on one thread of an AVX2 machine (peak about 110), and how many times faster than
oneDNN by torch 2.13, which packs at each call, too (`benchmarks/convolutions.py`):

                        y            dx            dw
    64x56x56 * 3x3   72  1.24      69  1.15      73  1.63      batch 1
    128x28x28        70  1.32      70  1.26      73  1.77
    256x14x14        64  1.31      57  1.02      70  1.55
    512x7x7          49  1.13      59  1.42      52  1.51
    512x4x4          68  2.34      65  2.63      39  1.51
    64x56x56 * 3x3   77  1.85      71  1.55      84  2.04      batch 32
    128x28x28        80  1.07      76  1.02      80  1.76
    256x14x14        79  1.07      82  0.99      91  1.56
    512x7x7          77  1.13      79  1.31      68  1.74
    64x56x56 * 1x1   61  3.82      61  2.70
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from byparts_graph_ir import Kernel, KernelFamily, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_kernels_native.convolution.any_size import family
from byparts_kernels_native.convolution.contraction import (
    Contraction,
    namespace,
    run_of_lanes,
    source,
    tables_size,
)
from byparts_kernels_native.convolution.plan import (
    Piece,
    Plan,
    added,
    filter_gradient,
    forward,
    transposed,
)
from byparts_kernels_native.convolution.pointwise import pointwise
from byparts_kernels_native.convolution.winograd import Code, by_winograd
from byparts_kernels_native.functions import whole
from byparts_kernels_native.sharing import scaled
from byparts_op_loops.rules import is_symbolic
from byparts_opset import Conv2d, Conv2dFilterGradient
from byparts_tensor_ir.emit.vectors import C_TYPES
from byparts_tensor_ir.expression import BYTES
from byparts_tensor_ir.target import target
from byparts_tensor_ir.threads import threads

_LONG_SUM = (
    1 << 16
)  # products in a sum over images; blocks of such sums are too many to add in turn
_MOST_PHASES = 16
_LEAST_SHARED = 5_000_000  # operations, which take about 50 us
_MOST_NUMBER = 1 << 31  # tables of offsets are of 32 bits


def convolution(
    op: Any, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """The kernel of a convolution; plain loops if of integers, or empty, or without a C++ compiler.

    Raises:
        Refused: a dtype that C does not have; or there is no kernel for all sizes.
    """
    if is_symbolic(op, types):
        return family(op, types)
    if code.emitter() != "c":
        return whole(op, types, constants)
    product = pointwise(op, types, 1 in constants)
    if product is not None:
        return product
    plan = _plan(op, types)
    if plan is None:
        return whole(op, types, constants)
    dtype = types[0].dtype
    constant = 1 in constants
    fewer = by_winograd(op, types, min(_cycles(plan, dtype, constant)), constant)
    if fewer is not None:
        c = fewer
    elif isinstance(op, Conv2dFilterGradient):
        c = _summed_over_images(plan, dtype)
    else:
        c = _image_by_image(plan, dtype, op.infer(*types)[0].size, constant)
    about = (dtype, target().vector_bytes, c.workspace_bytes, c.shared)
    name, pack = (
        code.later(source("byparts_convolution", text, *about)) if text else ""
        for text in (c.text, c.pack)
    )

    def bind(inputs: Sequence[int], outputs: Sequence[int], memory: Any, kept: Any) -> Run:
        if pack:
            code.call(pack, [0, inputs[1], 0, 0, kept])()
        return code.call(name, [*inputs[:2], *outputs, memory or 0, kept or 0])

    return Kernel(bind, c.workspace_bytes, c.kept_bytes, (), True, c.text)


def _plan(op: Any, types: Sequence[TensorType]) -> Plan | None:
    """The contractions of an op on floats; `None` for what has none."""
    if types[0].dtype not in ("f32", "f64"):
        return None
    sizes = [t.size for t in (*types, *op.infer(*types))]
    if not min(sizes) or max(sizes) * 4 >= _MOST_NUMBER:
        return None
    if isinstance(op, Conv2dFilterGradient):
        return filter_gradient(op, types)
    if isinstance(op, Conv2d):
        return forward(op, types)
    if prod(op.strides) > _MOST_PHASES:
        return None
    return added(op, types, target().vector_bytes // BYTES[types[0].dtype]) or transposed(op, types)


class _Memory:
    """Places in the workspace, and C that declares pointers to them."""

    def __init__(self, begin: str = "(char *)a[3]") -> None:
        self.begin, self.bytes, self.text = begin, 0, ""

    def place(self, name: str, c: str, bytes: int) -> None:
        """Declare a pointer `name` to this many bytes."""
        self.text += f"  {c} *{name} = ({c} *)({self.begin} + {self.bytes});\n"
        self.bytes += -(-bytes // 64) * 64


@dataclass
class _Parts:
    """A loop in parts, each with memory of its own, which threads share.

    Attributes:
        count: of the parts; one where there is little to do.
        memory: of a part.
    """

    count: int
    memory: _Memory

    @classmethod
    def of(cls, plan: Plan, dtype: str, most: int) -> _Parts:
        """Make at most `most` parts, and at most one per thread, with room for framed images."""
        work = 2 * plan.batch * plan.groups * sum(p.c.m * p.c.n * p.c.k for p in plan.pieces)
        memory = _Memory("own")
        elements = plan.images * plan.frame.steps[0] if plan.frame.copy else 0
        memory.place("frame", C_TYPES[dtype], elements * BYTES[dtype])
        return cls(min(most, threads()) if work > scaled(_LEAST_SHARED) else 1, memory)

    def text(self, shared: _Memory, body: str) -> str:
        """C of the loop; its workspace lies behind what all parts use."""
        own = f"char *own = (char *)a[3] + {shared.bytes} + part * INT64_C({self.memory.bytes});"
        loop = f"for (int64_t part = first; part < last; part++) {{\n  {own}\n"
        loop += f"{self.memory.text}{body}  }}"
        if self.count == 1:
            return f"  const int64_t first = 0, last = 1;\n  {loop}\n"
        return f"  in_parallel(0, {self.count}, [&](int64_t first, int64_t last) {{\n  {loop}}});\n"

    def bytes(self, shared: _Memory) -> int:
        """Bytes of the whole workspace: the shared memory, and that of each part."""
        return shared.bytes + self.count * self.memory.bytes


def _image_by_image(plan: Plan, dtype: str, y_elements: int, constant: bool) -> Code:
    """C of a plan whose results are complete after each pass over the sums; threads share images.

    A constant filter is packed once.
    """
    adds = any(p.c.adds for p in plan.pieces)
    swapped = adds or _pixels_are_lanes(plan, dtype, constant)
    pieces = [p.swapped() if swapped else p for p in plan.pieces]
    memory, parts, t = _Memory(), _Parts.of(plan, dtype, plan.batch), C_TYPES[dtype]
    packed = _Memory("(char *)a[4]") if constant and not swapped else memory
    widest = 4 * target().vector_bytes  # bytes of the lanes of a panel
    parts.memory.place("results", t, max([p.c.m for p in pieces], default=0) * widest)
    prepared, once, each, spaces = "", "", "", ""
    for i, p in enumerate(pieces):
        name, space = namespace(p.c, dtype, target().vector_bytes)
        spaces += "" if space in spaces else space
        size = p.c.k * _padded(p.c.n, dtype)
        if swapped:
            parts.memory.place(f"panels{i}", t, p.c.k * widest)
        else:
            packed.place(f"panels{i}", t, size * plan.groups * BYTES[dtype])
        packed.place(f"tables{i}", "int32_t", tables_size(p.c) * 4)
        pack, work = _statements(plan, p, f"{name}::", i, size, swapped)
        prepared += f"  {name}::prepare(tables{i});\n"
        once += "" if swapped else _panels(p.c, dtype, plan.groups, pack)
        each += _panels(p.c, dtype, plan.groups, f"{pack}\n      {work}" if swapped else work)
    zero = f"  memset(y, 0, {y_elements} * sizeof(T));\n" if plan.gaps else ""
    begin, end = (f"{plan.batch} * {k} / {parts.count}" for k in ("part", "(part + 1)"))
    x, y = (f"b * INT64_C({plan.images * step})" for step in (plan.image[0], plan.image[2]))
    loop = (
        f"  for (int64_t b = {begin}; b < {end}; b++) {{\n"
        f"  const T *x = (const T *)a[0] + {x};\n  T *y = (T *)a[2] + {y};\n"
        f"{plan.frame.copy}{each}  }}\n"
    )
    run, first = zero + parts.text(memory, loop), packed.text + prepared + once
    if packed is memory:
        text = _function(spaces, t, first + run)
        return Code(text, parts.bytes(memory), parts.count > 1)
    text, pack = _function(spaces, t, packed.text + run), _function(spaces, t, first)
    return Code(text, parts.bytes(memory), parts.count > 1, pack, packed.bytes)


def _statements(
    plan: Plan, p: Piece, name: str, i: int, size: int, swapped: bool
) -> tuple[str, str]:
    """C for the panel from lane l of group g on: what packs it, and what multiplies by it."""
    images = "frame" if plan.frame.copy else "x"
    s, q = (f"w + {p.s}", f"{images} + {p.q}") if swapped else (f"{images} + {p.s}", f"w + {p.q}")
    of_s, of_q = (plan.group[1], plan.group[0]) if swapped else plan.group[:2]
    panel = f"panels{i}" if swapped else f"panels{i} + g * INT64_C({size}) + l * {p.c.k}"
    y = f"y + {p.y} + g * INT64_C({plan.group[2]})"
    pack = f"{name}pack<J>({q} + g * INT64_C({of_q}), tables{i}, l, {panel});"
    work = f"{name}product<J>({s} + g * INT64_C({of_s}), tables{i}, {panel}, results, true);"
    return pack, f"{work}\n      {name}unpack<J>(results, tables{i}, l, {y});"


def _summed_over_images(plan: Plan, dtype: str) -> Code:
    """C of a plan whose results are sums over all images, as `_image_by_image`.

    Threads share panels, each of which is summed over images in order; each frames all images.
    Where they are long, each pass over some images has sums of its own.
    """
    (p,) = plan.pieces
    name, space = namespace(p.c, dtype, target().vector_bytes)
    panels = len(p.c.panels(target().vector_bytes, _padded(1, dtype)))
    memory, parts = _Memory(), _Parts.of(plan, dtype, plan.groups * panels)
    t, wide = C_TYPES[dtype], _padded(p.c.n, dtype)
    parts.memory.place("panel", t, p.c.k * 4 * target().vector_bytes)
    long = p.c.k * plan.batch > _LONG_SUM
    if long:
        parts.memory.place("sums", t, p.c.m * 4 * target().vector_bytes)
    memory.place("results", t, plan.groups * p.c.m * wide * BYTES[dtype])
    memory.place("tables", "int32_t", tables_size(p.c) * 4)
    images = "frame" if plan.frame.copy else "x"
    s, q, y = (f"g * INT64_C({step})" for step in plan.group)
    own = f"results + (g * {wide} + l) * INT64_C({p.c.m})"
    mine = f"if (turn++ % {parts.count} != part) continue;"
    add = (
        f"T *all = {own};\n      for (int64_t i = 0; i < {p.c.m} * J * {_padded(1, dtype)}; i++)"
        " all[i] = b ? all[i] + sums[i] : sums[i];"
    )
    each = (
        f"{mine}\n      {name}::pack<J>(w + {q}, tables, l, panel);\n"
        f"      {name}::product<J>({images} + {p.s} + {s}, tables, panel, "
        + (f"{own}, b == 0);" if not long else f"sums, true);\n      {add}")
    )
    last = f"{mine}\n      {name}::unpack<J>({own}, tables, l, y + {y});"
    x, w = (f"b * INT64_C({plan.images * step})" for step in plan.image[:2])
    loop = (
        f"  int64_t turn = 0;\n  for (int64_t b = 0; b < {plan.batch}; b++, turn = 0) {{\n"
        f"  const T *x = (const T *)a[0] + {x}, *w = (const T *)a[1] + {w};\n"
        f"{plan.frame.copy}{_panels(p.c, dtype, plan.groups, each)}  }}\n"
        f"{_panels(p.c, dtype, plan.groups, last)}"
    )
    body = f"{memory.text}  {name}::prepare(tables);\n{parts.text(memory, loop)}"
    return Code(_function(space, t, body), parts.bytes(memory), parts.count > 1)


def _padded(n: int, dtype: str) -> int:
    """Lanes of whole vectors."""
    lanes = target().vector_bytes // BYTES[dtype]
    return -(-n // lanes) * lanes


def _panels(c: Contraction, dtype: str, groups: int, statements: str) -> str:
    """Statements for each group g and each panel of J vectors from lane l on."""
    lanes, text, first = target().vector_bytes // BYTES[dtype], "", 0
    widths = c.panels(target().vector_bytes, lanes)
    for j in sorted(set(widths), reverse=True):
        end = first + widths.count(j) * j * lanes
        text += (
            f"    for (int64_t l = {first}; l < {end}; l += {j * lanes}) {{\n"
            f"      enum {{ J = {j} }};\n      {statements}\n    }}\n"
        )
        first = end
    return f"  for (int64_t g = 0; g < {groups}; g++) {{\n{text}  }}\n"


def _function(spaces: str, t: str, body: str) -> str:
    return (
        f'{spaces}extern "C" void byparts_convolution(void **a) {{\n  typedef {t} T;\n'
        f"  const T *x = (const T *)a[0], *w = (const T *)a[1];\n  T *y = (T *)a[2];\n{body}}}\n"
    )


def _pixels_are_lanes(plan: Plan, dtype: str, constant: bool) -> bool:
    """Whether a kernel with pixels as lanes takes fewer cycles than one with channels."""
    of_channels, of_pixels = _cycles(plan, dtype, constant)
    return of_pixels < of_channels


def _cycles(plan: Plan, dtype: str, constant: bool) -> tuple[float, float]:
    """With channels, and with pixels, as lanes: arithmetic on vectors, packing and unpacking."""
    pack = 0.0 if constant else 1.4
    lanes = target().vector_bytes // BYTES[dtype]
    of_channels = of_pixels = 0.0
    for p in plan.pieces:
        m, n, k = p.c.m * plan.batch, p.c.n, p.c.k
        of_channels += m * -(-n // lanes) * k + pack * n * k + 1.4 * m * n
        per = -(-p.c.m // lanes) * plan.batch  # vectors of pixels
        packing = max(0.3, 2.4 / run_of_lanes(p.swapped().c, lanes))
        of_pixels += per * n * k * max(1, 4 / n) + packing * m * k + 0.4 * m * n
    return of_channels, of_pixels
