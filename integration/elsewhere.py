"""Runs native kernels outside of this process: on another CPU, or under a sanitizer.

    calls = recorded_calls(make(), ops)
    results = run_elsewhere(calls, folder, compiler, flags, runner)

A call is a function in C, blocks of memory of exact sizes, and a table of pointers into them, which
is all that a kernel sees.  All calls become one program, which reads them from a file, allocates
each block by itself, so that a read past its end is one past the end of the heap block, and writes
what the blocks then hold.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.cases import APART, Case, cases_of
from byparts_conformance.kernel import within
from byparts_conformance.reference import Reference
from byparts_graph_ir import Backend, MissingRule, Op
from byparts_graph_ir.backend.kernel import in_c
from byparts_kernels_native import code
from byparts_kernels_native.checked import Checked
from byparts_op_loops.function import ERROR_WORDS
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.compile import FLAGS
from byparts_tensor_ir.emit.source import Source, file_of
from byparts_tensor_ir.emit.vectors import HEADER

Array = NDArray[Any]
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
typedef void (*function)(void **);
static function functions[] = {%s};
static int64_t number(FILE *f) {
  int64_t n;
  if (fread(&n, 8, 1, f) != 1) exit(3);
  return n;
}
int main(int, char **argv) {
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  for (int64_t calls = number(in); calls > 0; calls--) {
    function call = functions[number(in)];
    int64_t blocks = number(in);
    char **block = (char **)calloc(blocks + 1, 8);
    int64_t *size = (int64_t *)calloc(blocks + 1, 8);
    for (int64_t b = 0; b < blocks; b++) {
      size[b] = number(in);
      if (posix_memalign((void **)&block[b], 64, size[b])) exit(4);
      if (fread(block[b], 1, size[b], in) != (size_t)size[b]) exit(3);
    }
    int64_t count = number(in);
    void **table = (void **)calloc(count + 1, 8);
    for (int64_t p = 0; p < count; p++) {
      int64_t b = number(in);
      table[p] = b < 0 ? 0 : block[b];
    }
    call(table);
    for (int64_t b = 0; b < blocks; b++) {
      if (fwrite(block[b], 1, size[b], out) != (size_t)size[b]) exit(5);
      free(block[b]);
    }
    free(block), free(size), free(table);
  }
  return fclose(out);
}
"""


@dataclass(frozen=True)
class Call:
    """A kernel of one function on the inputs of a case of the kit.

    Attributes:
        blocks: inputs, outputs, then workspace and the like, as they are before the call.
        table: block by position, -1 for a null pointer.
    """

    case: Case
    source: Source
    blocks: tuple[Array, ...]
    table: tuple[int, ...]

    def given(self, number: int) -> tuple[Array, ...]:
        """The blocks with other inputs, for another `number`."""
        return (*map(_bytes, self.case.arrays(number)), *self.blocks[len(self.case.types) :])

    def wrong(self, after: Sequence[Array], number: int = 0) -> str:
        """What is wrong with the outputs that the call has left in its blocks; or ""."""
        reference, first = Reference(self.case, self.case.arrays(number)), len(self.case.types)
        for o, t in enumerate(self.case.outputs):
            got = after[first + o].view(numpy_dtype(t.dtype)).reshape(t.dims)
            if said := reference.wrong(o, got):
                return f"{self.case}: output {o}: {said}"
        return ""


def recorded_calls(
    backend: Backend, ops: Sequence[type[Op]], columns: Sequence[str] = ("basic",)
) -> list[Call]:
    """The calls of these columns of the kit whose kernel is one function of its arrays.

    Of an op that has no case there, e.g. since it reads integers, all but the long ones.
    """
    return calls_of(backend, [case for op in ops for case in _cases(op, columns)])


def calls_of(backend: Backend, cases: Sequence[Case]) -> list[Call]:
    """The calls of these cases whose kernel is one function of its arrays."""
    with within(backend):
        return [call for case in cases for call in _recorded(backend, case)]


def _cases(op: type[Op], columns: Sequence[str]) -> list[Case]:
    cases = [case for case in cases_of(op) if case.column not in APART]
    return [case for case in cases if case.column in columns] or cases


def _recorded(backend: Backend, case: Case) -> Iterator[Call]:
    try:
        kernel = backend.compile(case.op, case.types)
    except MissingRule:
        return
    inputs = list(map(_bytes, case.arrays()))
    outputs = [np.full(t.size_bytes, 0xFF, "u1") for t in case.outputs]
    more = [np.zeros(n, "u1") for n in (kernel.workspace_bytes, kernel.persistent_bytes)]
    blocks = (*inputs, *outputs, *more, np.zeros(8 * ERROR_WORDS, "u1"))
    given = [a.ctypes.data if a.size else _NOTHING.ctypes.data for a in blocks]
    run: Any = kernel.bind(given[: len(inputs)], given[len(inputs) : -3], *given[-3:-1])
    if isinstance(run, Checked):
        given[-1] = ctypes.addressof(run.error)
        run = run.run
    if not in_c(run):
        return
    names = {address: name for name, address in code._addresses.items()}
    name = names.get(ctypes.cast(run.func, ctypes.c_void_p).value or 0, "")
    table = [pointer or 0 for pointer in run.args[0].kept[0]]
    known = {address: b for b, address in enumerate(given)} | {0: -1}
    source = code.sources.get(name)
    if isinstance(source, Source) and all(pointer in known for pointer in table) and any(table):
        yield Call(case, source, blocks, tuple([known[pointer] for pointer in table]))


_NOTHING = np.zeros(8, "u1")  # where empty arrays are


def _bytes(a: Array) -> Array:
    return np.ascontiguousarray(a).reshape(-1).view("u1")


def called(call: Call, address: int, blocks: Sequence[Array]) -> None:
    """Call a function in this process on these blocks, in the place of the function of the call."""
    pointers = [0 if b < 0 else blocks[b].ctypes.data for b in call.table]
    table = (ctypes.c_void_p * len(pointers))(*pointers)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(table))


def run_elsewhere(
    calls: Sequence[Call],
    folder: Path,
    compiler: str,
    flags: Sequence[str],
    runner: Sequence[str] = (),
) -> list[list[Array]]:
    """The blocks of each call after it, in a program of its own.

    Raises:
        AssertionError: it does not compile, or it ends with an error; with what it said.
    """
    sources = list({call.source.name: call.source for call in calls}.values())
    order = {source.name: i for i, source in enumerate(sources)}
    text, program = folder / "calls.cc", folder / "calls"
    text.write_text(file_of(sources, HEADER) + MAIN % ", ".join(order))
    (folder / "in").write_bytes(b"".join(_written(calls, order)))
    shared = {"-shared", "-fPIC"}
    command = [compiler, *[f for f in FLAGS if f not in shared], *flags, str(text), "-o"]
    _checked([*command, str(program)])
    _checked([*runner, str(program), str(folder / "in"), str(folder / "out")])
    data, at, results = (folder / "out").read_bytes(), 0, []
    for call in calls:
        after = []
        for block in call.blocks:
            after.append(np.frombuffer(data, "u1", block.size, at))
            at += block.size
        results.append(after)
    return results


def _written(calls: Sequence[Call], order: dict[str, int]) -> Iterator[bytes]:
    yield struct.pack("<q", len(calls))
    for call in calls:
        yield struct.pack("<qq", order[call.source.name], len(call.blocks))
        for block in call.blocks:
            yield struct.pack("<q", block.size) + block.tobytes()
        yield struct.pack(f"<{len(call.table) + 1}q", len(call.table), *call.table)


def _checked(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    said = f"{done.stdout[-2000:]}{done.stderr[-6000:]}"
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {said}"
