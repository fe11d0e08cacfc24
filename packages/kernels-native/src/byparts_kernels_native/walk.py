"""Many runs as one call of C: it walks a table of runs, copies, counters and jumps.

A word of the table is an opcode, or an operand of it; addresses are operands too, so nothing is
looked up.  An instruction takes about a nanosecond beside its work.  Where it jumps back, and
between runs, the walk asks for Ctrl-C, every ten milliseconds: at first after each, and then the
less often the faster they are.  A walk that updates variables has no jumps and does not ask.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any

from byparts_graph_ir import CaptureRefused
from byparts_graph_ir.backend.instruction import Add, Counter, Host, Jump, Label, Move, Set
from byparts_graph_ir.backend.kernel import in_c
from byparts_kernels_native import code
from byparts_kernels_native.checked import Checked
from byparts_tensor_ir.emit.source import LlvmSource, Source

_WALK = Source(
    "walk",
    r"""#include <string.h>
#include <time.h>
static int64_t microseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
extern "C" void walk(int64_t *t) {
  int64_t *p = t + 6, done = 0, left = 1, begun = 0;
  void *thread = t[0] ? ((void *(*)())t[0])() : 0;
  for (;;) {
    int64_t *a = p + 1;
    switch (*p) {
      case 0:  // the end
        if (t[0]) ((void (*)(void *))t[1])(thread);
        return;
      case 1:  // run
        ((void (*)(void **))a[0])((void **)a[1]);
        p += 3;
        break;
      case 2:  // counter = value
        *(int64_t *)a[0] = a[1];
        p += 3;
        continue;
      case 3:  // counter += value
        *(int64_t *)a[0] += a[1];
        p += 3;
        continue;
      case 4:  // copy, from and to where counters say
        memcpy((char *)a[0] + *(int64_t *)a[3] * a[4],
               (char *)a[1] + *(int64_t *)a[5] * a[6], a[2]);
        p += 8;
        continue;
      case 5:  // jump if a bool is so
        p = *(char *)a[1] == (char)a[2] ? t + a[0] : p + 4;
        break;
      case 6:  // jump if a < b is so
        p = (*(int64_t *)a[1] < *(int64_t *)a[2]) == a[3] ? t + a[0] : p + 5;
        break;
      case 7: {  // call Python
        ((void (*)(void *))t[1])(thread);
        void *result = ((void *(*)(void *))t[3])((void *)a[0]);
        if (!result) return;  // the error is set
        ((void (*)(void *))t[4])(result);
        thread = ((void *(*)())t[0])();
        p += 2;
      }
    }
    if (--left || !t[0]) continue;
    int64_t now = microseconds();
    if (!done) begun = now;
    left = done = done < 1024 ? 2 * done + 1 : done;
    if (now - begun > 10000) {
      ((void (*)(void *))t[1])(thread);
      if (((int (*)())t[2])()) return;
      thread = ((void *(*)())t[0])();
      done = 0, left = 1;
    }
  }
}
""",
    frozenset(),
    0,
)
_PYTHON = (
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals"),
    *("PyObject_CallNoArgs", "Py_DecRef"),
)
_ZERO = Counter()


def captured(lines: Sequence[Any], warm: bool, *kept: Any) -> partial[None]:
    """Runs, each from `code.call`, and instructions, as one call of C.

    Args:
        lines: the runs, with instructions between them.
        warm: whether it may stop in the middle.
        kept: more that it keeps alive.
    """
    lines = [x for line in lines for x in _instructions(line, warm)]
    words = [_words(line) for line in lines]
    starts = list(accumulate(map(len, words), initial=6))
    labels = {line: at for line, at in zip(lines, starts) if isinstance(line, Label)}  # noqa: B905
    table = [*(_python() if warm else (0,) * 5), 0]
    for of_line in words:
        table += [labels[word] if isinstance(word, Label) else word for word in of_line]
    return code.call(code.later(_source()), [*table, 0], *lines, *kept, python=warm)


def _source() -> Source | LlvmSource:
    if code.emitter() == "llvm":
        from byparts_kernels_native.walk_llvm import WALK

        return WALK
    return _WALK


def _instructions(line: Any, warm: bool) -> tuple[Any, ...]:
    """The line itself, or the instructions of a run that may fail, or is Python.

    Raises:
        CaptureRefused: it may fail, and must not stop in the middle.
    """
    if isinstance(line, partial) and not in_c(line):
        if not warm:
            raise CaptureRefused("a step is Python, and may fail, and an update must not")
        return (Host(line),)
    if not isinstance(line, Checked):
        return (line,)
    if not warm:
        raise CaptureRefused("an index may be out of range, and an update must not fail")
    return line.lines(None)


@cache
def _python() -> tuple[int, ...]:
    """The addresses of the functions of the interpreter."""
    functions = [getattr(ctypes.pythonapi, name) for name in _PYTHON]
    return tuple([ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions])


def _words(line: Any) -> tuple[Any, ...]:
    """The opcode and the operands of an instruction, or of a run from `code.call`."""
    match line:
        case Label():
            return ()
        case Set(counter, value):
            return 2, _address(counter), value
        case Add(counter, by):
            return 3, _address(counter), by
        case Move(target, source, size, to, of):
            (a, by), (b, step) = to or (_ZERO, 0), of or (_ZERO, 0)
            return 4, target, source, size, _address(a), by, _address(b), step
        case Jump(to, None):
            return 6, to, _address(_ZERO), _address(_ZERO), 0
        case Jump(to, (a, b), when):
            return 6, to, _address(a), _address(b), int(when)
        case Jump(to, place, when):
            return 5, to, place, int(when)
        case Host(run):
            return 7, id(run)
    return 1, ctypes.cast(line.func, ctypes.c_void_p).value or 0, line.args[0].value


def _address(counter: Counter) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(counter.memory))
