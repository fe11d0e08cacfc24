"""Many runs as one call of C: a table of functions and of what they are called with.

Between two of them it asks, every ten milliseconds, whether Ctrl-C was pressed; not while variables
are updated, which must all get their new values or none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from acme_byparts_c.compiler import shared_library
from byparts_graph_ir.backend.kernel import Run

SOURCE = r"""
#include <time.h>
int PyErr_CheckSignals(void);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);
static long milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
void walk(long count, void **table, int asks) {
  void *thread = PyEval_SaveThread();
  long asked = milliseconds();
  for (long i = 0; i < count; i++) {
    if (asks && milliseconds() - asked >= 10) {
      PyEval_RestoreThread(thread);
      if (PyErr_CheckSignals()) return;  /* the exception is set: ctypes raises it */
      thread = PyEval_SaveThread();
      asked = milliseconds();
    }
    ((void (*)(void *))table[2 * i])(table[2 * i + 1]);
  }
  PyEval_RestoreThread(thread);
}
"""


def capture(runs: Sequence[Run], warm: bool) -> Run:
    """All of them as one; nothing is run.

    Args:
        runs: of this backend.
        warm: whether they write nothing that anybody keeps, so that they may stop in the middle.
    """
    flat: list[Any] = []
    for run in runs:
        function, (arguments,) = run.func, run.args  # type: ignore[attr-defined]  # partials
        flat += [ctypes.cast(function, ctypes.c_void_p), ctypes.addressof(arguments)]
    table = (ctypes.c_void_p * len(flat))(*[getattr(x, "value", x) for x in flat])
    setattr(table, "runs", tuple(runs))  # noqa: B010  (whose addresses stand in it)
    return partial(_walk(), len(runs), table, int(warm))


@cache
def _walk() -> Any:
    walk = ctypes.PyDLL(str(shared_library(SOURCE))).walk
    walk.restype, walk.argtypes = None, (ctypes.c_long, ctypes.c_void_p, ctypes.c_int)
    return walk
