"""The context in which kernels are compiled, bound and run: inf and nan are values, and silent.

`np.errstate` costs 0.7 us a run, more than many kernels of a small program do together, because it
is made anew each time; what it sets costs 0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import Backend

try:  # what np.errstate sets and resets
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    silence: Callable[[], Any] = partial(_extobj_contextvar.set, _make_extobj(all="ignore"))
    restore: Callable[[Any], object] = _extobj_contextvar.reset
except ImportError:  # another NumPy

    def silence() -> Any:
        """Ignore floating point errors of NumPy in this thread; gives what `restore` takes."""
        return np.seterr(all="ignore")

    def restore(before: Any) -> object:
        """Report them as before."""
        return np.seterr(**before)


Context = Callable[[], AbstractContextManager[object]]


class Silent:
    """A context without NumPy's warnings."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = silence()

    def __exit__(self, *raised: object) -> None:
        restore(self._before)


def around(backends: Sequence[Backend]) -> Context:
    """The context of these backends: silent, and as each of them wants it."""
    wanted = contexts_of(backends)
    return Silent if wanted is None else wanted


def contexts_of(backends: Sequence[Backend]) -> Optional[Context]:
    """The context of these backends, silent too; `None` where no backend has one of its own."""
    wanted = tuple(b.around for b in backends if b.around is not None)
    return partial(_Nested, (Silent, *wanted)) if wanted else None


class _Nested:
    """Contexts inside each other; a tenth of the time of an ExitStack."""

    __slots__ = ("entered", "makers")

    def __init__(self, makers: Sequence[Context]) -> None:
        self.makers = makers
        self.entered: list[AbstractContextManager[object]] = []

    def __enter__(self) -> None:
        for make in self.makers:
            context = make()
            context.__enter__()
            self.entered.append(context)

    def __exit__(self, *raised: Any) -> None:
        while self.entered:
            self.entered.pop().__exit__(*raised)
