"""`compile`: a function of arrays as programs, traced once for each structure of its arguments.

The first call is traced for the sizes that it meets.  A call with other sizes is traced for all
sizes: dimensions that differ become names, and one program of named dimensions serves each size
from then on.  Where the function asks for the number of such a size, or names do not fit, it is
compiled for each size.

Cells that the function reads become variables of the program, cells it assigns become updates, and
arrays from outside become constants of the call.  Plain fields of modules that were read are part
of what the program depends on (`depends_on`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any, Generic, Optional, ParamSpec, TypeVar, overload
from warnings import warn

import numpy as np

from byparts_eager.array import Array
from byparts_eager.cell import Cell, changes
from byparts_eager.state import state, training
from byparts_eager.trace import Frame
from byparts_eager.traced_program import TracedProgram, trace
from byparts_eager.tree import flatten
from byparts_graph_ir import TensorType, Value
from byparts_graph_ir.fork import make_lock
from byparts_runtime.arrays.dtypes import type_of

P = ParamSpec("P")
T = TypeVar("T")
_MANY = 8  # programs of one structure, when a warning says so


@overload
def compile(f: Callable[P, T], **options: Any) -> Compiled[P, T]: ...
@overload
def compile(f: None = None, **options: Any) -> Callable[[Callable[P, T]], Compiled[P, T]]: ...
def compile(f: Any = None, **options: Any) -> Any:
    """Make a function of arrays a function that runs programs; a decorator.

        @compile(backends=("native", "numpy"))
        def step(x, labels): ...

    The result has `programs`, the programs made so far.  Within another compiled function, and
    while gradients of it are taken, it is the function itself.

    Args:
        f: takes and gives trees of arrays; what else it takes (numbers, strings, modules) is
            compared, and another one is compiled anew.
        options: of `build`: backends, budget_bytes, passes and more.

    Raises:
        GraphError: while calling: the function asks for numbers of traced values.
    """
    return Compiled(f, options) if f is not None else lambda f: Compiled(f, options)


class Compiled(Generic[P, T]):
    """A compiled function; what `compile` gives.  Several threads may call it."""

    def __init__(self, function: Callable[P, T], options: Mapping[str, Any]) -> None:
        self._function, self._options = function, dict(options)
        self._families: dict[Any, _Family] = {}
        self._name = getattr(function, "__qualname__", repr(function))
        self._lock = make_lock()
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> T:
        """Run the program for arguments like these, made at the first call."""
        if state.frame is not None or state.recorders:  # part of what is traced or recorded
            return self._function(*args, **keywords)
        for x in args:
            if x.__class__ is not Array and x.__class__ is not np.ndarray:
                leaves, structure = flatten((args, keywords) if keywords else args)
                break
        else:
            leaves, structure = args, (flatten(keywords) if keywords else len(args))  # type: ignore[assignment]
            if keywords:
                leaves, structure = flatten((args, keywords))
        family = self._families.get((structure, training()))
        if family is not None:
            program = family.find(leaves)
            if program is not None:
                return program(leaves)  # type: ignore[no-any-return]  # the tree of the function
        return self._made(leaves, structure, args, keywords)(leaves)  # type: ignore[no-any-return]

    @property
    def programs(self) -> tuple[Any, ...]:
        """The programs, in the order in which they were made."""
        families = self._families.values()
        return tuple([p.program for family in families for p in family.programs])

    def _made(self, leaves: Any, structure: Any, args: Any, keywords: Any) -> TracedProgram:
        with self._lock:
            family = self._families.setdefault((structure, training()), _Family())
            program = family.find(leaves)  # another thread may have made it
            if program is None:
                types = [_type_of(v) for v in leaves]
                _, tree = flatten((args, keywords))
                program = family.add(self._function, types, tree, self._options)
                if len(self.programs) == _MANY:
                    self._warn(family)
            return program

    def _warn(self, family: _Family) -> None:
        why = f" ({family.why_not})" if family.why_not else ""
        warn(
            f"{self._name} was compiled {_MANY} times, for other sizes or numbers each{why};"
            " pass numbers that change as arrays",
            RuntimeWarning,
            stacklevel=4,
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind a compiled method, as Python binds functions."""
        return self if instance is None else _Method(self, instance)


class _Method:
    """A compiled method of an instance."""

    __slots__ = ("_compiled", "_instance")

    def __init__(self, compiled: Compiled[Any, Any], instance: Any) -> None:
        self._compiled, self._instance = compiled, instance

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._compiled(self._instance, *args, **keywords)


class _Family:
    """The programs of one structure of arguments, for all sizes and dtypes."""

    def __init__(self) -> None:
        self.programs: list[TracedProgram] = []
        self._by_types: dict[Any, list[TracedProgram]] = {}
        self._named: list[TracedProgram] = []
        self.why_not = ""  # names for sizes cannot be traced

    def find(self, leaves: Sequence[Any]) -> Optional[TracedProgram]:
        """The program for leaves of these types, if it is still true."""
        key = tuple([v.kind.type if v.__class__ is Array else _key(v) for v in leaves])
        for program in self._by_types.get(key, ()):
            if program.checked_at == changes() or program.still_holds():
                return program
        for program in self._named:
            if program.takes([_type_of(v) for v in leaves]) and program.still_holds():
                self._by_types.setdefault(key, []).append(program)
                return program
        return None

    def add(
        self, function: Any, types: Sequence[TensorType], structure: Any, options: Any
    ) -> TracedProgram:
        """Trace and build the program for these types: for all sizes, if others came before."""
        names = None if self.why_not else self._with_names(types)
        program = None
        if names is not None:
            try:
                program = trace(function, names, structure, options)
                self._named.append(program)
            except Exception as error:  # whatever the function does with a number; tried again
                self.why_not = str(error)
        if program is None:
            program = trace(function, types, structure, options)
            key = tuple(types)
            self._by_types.setdefault(key, []).append(program)
        self.programs.append(program)
        return program

    def _with_names(self, types: Sequence[TensorType]) -> Optional[list[TensorType]]:
        """The types with names for the dimensions that differ from an earlier program's.

        Dimensions that had equal sizes in both calls get one name.
        """
        for program in reversed(self.programs):
            known = program.types
            if len(known) != len(types) or not all(map(_alike, known, types)):
                continue
            names: dict[Any, str] = {}
            result = []
            for a, b in zip(known, types, strict=True):
                dims = [
                    m if m == n else names.setdefault((m, n), f"n{len(names)}" if names else "n")
                    for m, n in zip(a.shape or (), b.shape or (), strict=True)
                ]
                result.append(TensorType(b.dtype, tuple(dims)))
            return result if names else None
        return None


def _alike(a: TensorType, b: TensorType) -> bool:
    """Whether two types differ in sizes alone."""
    return a.dtype == b.dtype and a.rank == b.rank


def _type_of(leaf: Any) -> TensorType:
    return leaf.type if isinstance(leaf, Value) else type_of(np.asarray(leaf))


def _key(leaf: Any) -> TensorType:
    return type_of(leaf) if leaf.__class__ is np.ndarray else _type_of(leaf)


def shapes_from_call(call: Callable[..., Any], args: Any, keywords: Any = None) -> None:
    """Find the types of the open cells that a call reads, by tracing it; nothing is computed.

    Args:
        call: the function.
        args: its arguments; arrays and values, or types in their places.
        keywords: its arguments by name.

    Raises:
        GraphError: nothing tells the shape of some cell.
    """
    from byparts_eager.traced_program import find_shapes

    leaves, structure = flatten((tuple(map(_stand_in, args)), keywords or {}))
    find_shapes(call, [_type_of(v) for v in leaves], structure)


def _stand_in(argument: Any) -> Any:
    """An input in the place of a type."""
    return Frame().input(argument) if isinstance(argument, TensorType) else argument


__all__ = ["Cell", "Compiled", "compile", "shapes_from_call"]
