"""Builds with `wait=False`: a program for now, and what is made beside it while it runs.

A program, or a family of programs of named dimensions, is built for the backends that need no
compiler; a `Change` says when it takes what is built for all of them (`run/change.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Optional

from byparts_graph_ir.fork import begin, end, make_lock
from byparts_graph_ir.model.frozen import replace
from byparts_runtime.building.discover import Parts, find_fuse
from byparts_runtime.building.family import Family, NoFamily, Sizes
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.run.loaded import Loaded

TYPE_CHECKING = False
if TYPE_CHECKING:  # few programs change
    from byparts_runtime.run.change import Change, Compilation

    SizeChange = Callable[[Sizes, Loaded], Change]


def quick_parts(parts: Parts, options: BuildOptions) -> Optional[tuple[Parts, BuildOptions]]:
    """The parts and options without the backends that are slow to build.

    `None` where none are left in the memory space of the program, or all are; and with a limit or
    `capture=True`, which the first kernels may not meet.
    """
    quick = tuple([b for b in parts.backends if not b.slow_to_build])
    if quick == parts.backends or not quick or quick[0].space.name != parts.space.name:
        return None
    if options.is_limited or options.capture is True:
        return None
    plain = replace(options, backends=quick)
    return replace(parts, backends=quick, fuse=find_fuse(quick)), plain


def change(make: Callable[[], Loaded], loaded: Loaded, parts: Parts) -> Change:
    """The change of a program that runs `loaded` to what `make` builds."""
    from byparts_runtime.run.change import Change, Compilation, ready

    build = partial(_working, lambda: ready(make()))
    return Change(Compilation(build, loaded, _names(parts)), lambda loaded: loaded)


def one_size(alone: Callable[[Sizes], Loaded], parts: Parts) -> SizeChange:
    """The change of programs of a family, each to what is compiled for its size alone.

    A loop of a known number of rounds is faster than one that serves all, so what is called often
    at one size is worth a compiler.

    Args:
        alone: builds the program of one size.
        parts: with all backends.
    """

    def at(sizes: Sizes, loaded: Loaded) -> Change:
        from byparts_runtime.run.change import Change, Compilation, ready

        build = partial(_working, lambda: ready(alone(sizes)))
        names = f"{_names(parts)} for this size alone"
        return Change(Compilation(build, loaded, names), lambda loaded: loaded)

    return at


def is_generated(family: Family) -> bool:
    """Whether some node of it has kernels of a backend that needs a compiler."""
    kernels = family.compiled.kernels
    return any([kernels(node).backend.slow_to_build for node in family.compiled.graph.nodes])


class SizesChange:
    """The change of a family: its programs count together, and change one by one.

    Args:
        make: builds the family for all backends.
        alone: builds the program of one size for all backends, where there is no such family.
        parts: with all backends.
    """

    def __init__(
        self, make: Callable[[], Family], alone: Callable[[Sizes], Loaded], parts: Parts
    ) -> None:
        self._make, self._alone, self._parts = make, alone, parts
        self._compilation: Optional[Compilation] = None
        self._lock = make_lock()

    def at(self, sizes: Sizes, loaded: Loaded) -> Change:
        """The change of the program of one size, which runs `loaded` first."""
        from byparts_runtime.run.change import Change, Compilation

        with self._lock:
            if self._compilation is None:  # the first size decides when
                build = partial(_working, partial(self._first_built, sizes))
                self._compilation = Compilation(build, loaded, _names(self._parts))
            return Change(self._compilation, partial(self._of, sizes))

    def _first_built(self, sizes: Sizes) -> Callable[[Sizes], Loaded]:
        from byparts_runtime.run.change import ready

        try:
            family = self._make()
        except NoFamily:
            return self._alone
        ready(family.at(sizes))
        return family.at

    def _of(self, sizes: Sizes, at: Callable[[Sizes], Loaded]) -> Loaded:
        try:
            return at(sizes)
        except NoFamily:  # not for this size
            return self._alone(sizes)


def _working(make: Callable[[], object]) -> object:
    """Call `make` as a work that a fork waits for."""
    who = object()
    try:
        begin(who)
        return make()
    finally:
        end(who)


def _names(parts: Parts) -> str:
    return " and ".join([repr(b.name) for b in parts.backends if b.slow_to_build])
