"""Emulated kernels: their source, files of several, and how they are compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Union

from byparts_gpu_ir.emit.shadow import CHECKS
from byparts_tensor_ir import compile
from byparts_tensor_ir.emit.vectors import NUMBERS
from byparts_tensor_ir.target import target

MODES = ("forward", "reversed", "checked")
FLAGS = (
    # Most kernels are compiled to run once: -O2 compiles for twice as long.
    *("-x", "c++", "-std=gnu++17", "-Og", "-shared", "-fPIC", "-pipe", "-w"),
    # An oracle wants a dull compiler: gcc 12 miscompiled a kernel with more than -O2 and these.
    *("-fno-tree-vectorize", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off"),
    *("-fno-math-errno", "-fno-trapping-math", "-fno-exceptions", "-fno-rtti"),
)
# Of matrices, as arrays of f32: exact products, added in order, rounded once; and tf32.
_MATRIX_CODE = """static __attribute__((noinline, unused)) void multiply_add(
    float *sum, const float *left, const float *right, int rows, int depth, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double total = sum[i * columns + j];
      for (int k = 0; k < depth; ++k)
        total += (double)left[i * depth + k] * right[k * columns + j];
      sum[i * columns + j] = (float)total;
    }
}
INLINE float to_tf32(float x) { return x != x ? x : float_of((bits_of(x) + 0x1000) & -0x2000); }
"""
# Copies that a thread has begun and not waited for, by the number of their group.
_COPY_CODE = """
typedef struct {
  char *to;
  const char *from;
  int64_t bytes, group, to_region, from_region, to_flat, from_flat, count;
} Copy;
typedef struct { Copy *items; int64_t count, room, group; } Queue;
static __attribute__((noinline, unused)) void push_copy(Queue *q, Copy copy) {
  if (q->count == q->room)
    q->room = 2 * q->room + 8,
    q->items = (Copy *)__builtin_realloc(q->items, q->room * sizeof(Copy));
  copy.group = q->group, q->items[q->count++] = copy;
}
static __attribute__((noinline, unused)) void put_off(Queue *q, void *to, const void *from,
                                                     int64_t bytes) {
  push_copy(q, (Copy){(char *)to, (const char *)from, bytes});
}
static __attribute__((noinline, unused)) void arrive(Queue *q, int64_t pending) {
  int64_t kept = 0;
  for (int64_t i = 0; i < q->count; ++i) {
    const Copy copy = q->items[i];
    if (copy.group < q->group - pending) memcpy(copy.to, copy.from, copy.bytes);
    else q->items[kept++] = copy;
  }
  q->count = kept;
}
static __attribute__((noinline, unused)) void drop_copies(Queue *q, int64_t threads) {
  for (int64_t t = 0; t < threads; ++t) __builtin_free(q[t].items), q[t] = (Queue){};
}
"""
HEADER = (
    "#include <stdint.h>\n#define memcpy __builtin_memcpy\n" + NUMBERS + _MATRIX_CODE + _COPY_CODE
)


@dataclass(frozen=True)
class EmulatedSource:
    """Emitted C of an emulated kernel.

    Attributes:
        name: of the C function.
        body: C of the function alone.
        mode: one of `MODES`.
        statements: as printed, by their numbers in fault records.
        buffers: as printed, by their numbers in fault records.
        grid: how many blocks there are along x, y, z; the text of an expression of sizes.
        block: how many threads a block has along x, y, z.
        workspace_bytes: that the argument after buffers and sizes points to: a fault record of a
            checked kernel, which it writes.
    """

    name: str
    body: str
    mode: str
    statements: tuple[str, ...]
    buffers: tuple[str, ...]
    grid: tuple[Union[int, str], ...]
    block: tuple[int, int, int]
    workspace_bytes: int

    @property
    def text(self) -> str:
        """A whole file."""
        return emulated_file([self])

    def renamed(self, name: str) -> EmulatedSource:
        """The same kernel under another name."""
        body = self.body.replace(f"void {self.name}(", f"void {name}(")
        return replace(self, name=name, body=body)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> EmulatedSource:
        """From the JSON of its fields."""
        lists = {k: tuple(v) for k, v in record.items() if isinstance(v, list)}
        return cls(**{**record, **lists})


def emulated_file(sources: Sequence[EmulatedSource]) -> str:
    """Join the sources of several emulated kernels into one C file."""
    checks = CHECKS if any(s.mode == "checked" for s in sources) else ""
    return "\n".join([HEADER + checks, *[s.body for s in sources]])


def emulation_flags() -> tuple[str, ...]:
    """Flags of the host compiler.  `-mfma` lets a*b+c be rounded once, as the GPU does."""
    return (*FLAGS, *[f"-m{f}" for f in target().features if f == "fma"])


def shared_object(text: str) -> Path:
    """The shared object of a file of emulated kernels: from the cache, or compiled into it.

    Raises:
        CompilerError: there is no compiler, or it refuses the source.
    """
    return compile.shared_object(text, emulation_flags(), header=False)
