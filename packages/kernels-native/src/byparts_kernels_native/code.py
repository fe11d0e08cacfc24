"""Compiled functions: sources wait, and all that wait are compiled together when one is needed."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from byparts_graph_ir import BackendError, Refused
from byparts_graph_ir.backend.progress import report
from byparts_tensor_ir.compile import CompilerError, compiled, default_emitter
from byparts_tensor_ir.emit.source import LlvmSource, Source
from byparts_tensor_ir.threads import processors

sources: dict[str, Source | LlvmSource] = {}  # all, by name
_waiting: dict[str, Source | LlvmSource] = {}
_addresses: dict[str, int] = {}
_refused: dict[str, CompilerError] = {}
_lock = Lock()
# Without the type of their argument: to check it takes longer than the rest of a call.
_FUNCTION = ctypes.CFUNCTYPE(None)
_PYTHON = ctypes.PYFUNCTYPE(None)
_MOST_IN_ONE_FILE = 24  # functions; a file is compiled by one process, which starts in 0.1 s


def emitter() -> str:
    """Name of the emitter that makes code in this process: "c" or "llvm".

    Raises:
        BackendError: neither does.
    """
    try:
        return default_emitter()
    except CompilerError as error:
        raise _failed(error) from error


def later(source: Source | LlvmSource) -> str:
    """Keep a source until `address` compiles it; returns its name, the same for equal code.

    Raises:
        Refused: it is C, and code is made by LLVM.
    """
    if isinstance(source, Source) and emitter() == "llvm":
        raise Refused(f"{source.name} is written in C, and there is no C++ compiler that works")
    key = hashlib.sha256(source.body.encode()).hexdigest()[:16]
    name = f"k{key}"
    with _lock:
        if name not in _addresses and name not in _waiting and name not in _refused:
            _waiting[name] = sources[name] = source.renamed(name)
    return name


def address(name: str) -> int:
    """The address of a function; compiles all that wait, files of C beside each other.

    Raises:
        BackendError: there is no compiler, it fails, or there is no room for what it makes.
    """
    with _lock:
        if name not in _addresses:
            waiting = [s for _, s in sorted(_waiting.items())]
            of_c = [s for s in waiting if isinstance(s, Source)]
            files = -(-len(of_c) // _MOST_IN_ONE_FILE)
            if files:
                _compile([of_c[i::files] for i in range(files)])
            if rest := [s for s in waiting if not isinstance(s, Source)]:
                _compile([rest])
        if name in _waiting:  # somebody's source was refused: find out whose
            _compile([[_waiting[n]] for n in sorted(_waiting)])
        if name in _refused:
            raise _failed(_refused[name]) from _refused[name]
        return _addresses[name]


def _failed(error: CompilerError) -> BackendError:
    return BackendError(f"backend 'native': {error}", "native")


def _compile(files: Sequence[Sequence[Any]]) -> None:
    """Compile files of sources of one kind; where the compiler refuses several, they wait on."""
    what = f"files of native code, {sum(map(len, files))} functions"
    report(0, len(files), what)
    results = list(map(_tried, files)) if len(files) < 2 else _beside(files, what)
    for some, result in zip(files, results, strict=True):
        if isinstance(result, dict):
            _addresses.update(result)
        elif len(some) > 1:
            continue
        else:
            _refused[some[0].name] = result
        for s in some:
            del _waiting[s.name]


def _beside(files: Sequence[Sequence[Any]], what: str) -> list[dict[str, int] | CompilerError]:
    """Compile files beside each other.

    In daemon threads, unlike those of a pool: a process that ends while a program of it is built
    beside (`wait=False`) does not wait for its compilers.
    """
    rest, results = iter(list(enumerate(files))), SimpleQueue[Any]()

    def work() -> None:
        for i, some in rest:
            try:
                results.put((i, _tried(some), None))
            except BaseException as error:  # raised again below
                results.put((i, {}, error))

    for _ in range(min(processors(), len(files))):
        Thread(target=work, daemon=True).start()
    by_file: dict[int, dict[str, int] | CompilerError] = {}
    for _ in files:
        i, result, error = results.get()
        if error is not None:
            raise error
        by_file[i] = result
        report(len(by_file), len(files), what)
    return [by_file[i] for i in range(len(files))]


def _tried(some: Sequence[Any]) -> dict[str, int] | CompilerError:
    try:
        return _compiled(some)
    except CompilerError as error:
        return error


def _compiled(some: Sequence[Any]) -> dict[str, int]:
    if isinstance(some[0], Source):
        return compiled(some)
    from byparts_tensor_ir import jit  # loads 170 MB of LLVM

    return jit.compiled(some)


def call(name: str, pointers: Sequence[int], *kept: Any, python: bool = False) -> partial[None]:
    """A run: one call of the function with these pointers; it keeps more objects alive.

    A `python` function is called with the lock of the interpreter, and may raise.
    """
    table = (ctypes.c_void_p * len(pointers))(*pointers)
    kind = _PYTHON if python else _FUNCTION
    return partial(kind(address(name)), _pointer(table, *kept))


class _Pointer(ctypes.c_void_p):
    """The address of a table, which it keeps alive."""

    kept: Any = None


def _pointer(table: Any, *kept: Any) -> _Pointer:
    """The table as an argument that keeps it, and more, alive."""
    argument = _Pointer(ctypes.addressof(table))
    argument.kept = (table, *kept)
    return argument
