"""From C to functions in this process: the compiler and its flags; objects are kept on disk.

Objects are kept by compiler, flags and source, so a process that finds them runs no compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from byparts_graph_ir import GraphError
from byparts_tensor_ir import threads
from byparts_tensor_ir.cache import cache_directory, keep_source, kept, put, trim
from byparts_tensor_ir.emit.source import Source, file_of
from byparts_tensor_ir.emit.vectors import HEADER
from byparts_tensor_ir.private import is_private, move, working_folder
from byparts_tensor_ir.target import target

FLAGS = (
    *("-x", "c++", "-std=gnu++17", "-O3", "-shared", "-fPIC", "-pipe", "-w"),
    # What C leaves undefined wraps; nothing is rounded otherwise than it is written.
    *("-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    # Joining scalars into vectors makes -1 of the 1 of a comparison (g++ 12: u8 and i16, divided
    # lane by lane); vectors are written out in our code, and loops are vectorized without it.
    "-fno-tree-slp-vectorize",
    *("-fno-exceptions", "-fno-rtti", "-fno-semantic-interposition"),
)
EMITTERS = ("c", "llvm")
_COMPILE_S = 600.0  # one that takes longer hangs
_READ_OFTEN = 5  # objects in the cache, of which each was compiled after the header
_PROBE = 'extern "C" void byparts_probe(void **) {}\n'


class CompilerError(GraphError):
    """No compiler, or it failed; the message has its words and where the source is."""


def compiler() -> tuple[str, str]:
    """(path, what tells it from another version) of the C++ compiler.

    `CXX` if set, else the first of g++, clang++, c++.  Nothing is run: a process that finds its
    code compiled starts in less time than the compiler says its version.

    Raises:
        CompilerError: there is none.
    """
    return _compiler(os.environ.get("CXX", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _compiler(wanted: str, _: str) -> tuple[str, str]:
    names = [wanted] if wanted else ["g++", "clang++", "c++"]
    path = next((p for p in map(shutil.which, names) if p), None)
    if path is None:
        raise CompilerError(
            f"no C++ compiler: none of {', '.join(names)} is on the path; install g++ or clang++, "
            "or set CXX"
        )
    stat = os.stat(path)
    return path, f"{os.path.realpath(path)} {stat.st_size} {stat.st_mtime_ns}"


def default_emitter() -> str:
    """C where a compiler works, else LLVM where llvmlite is installed; or `BYPARTS_EMITTER`.

    Whether a compiler works is found out with an empty function, which is kept like any other.

    Raises:
        CompilerError: there is neither, or not the one that is named; says what to install.
    """
    told = os.environ.get("BYPARTS_EMITTER")
    if told and told not in EMITTERS:
        raise CompilerError(f"BYPARTS_EMITTER={told}: one of {', '.join(EMITTERS)}")
    if told == "llvm":
        return told
    try:
        _probe(*compiler(), os.environ.get("BYPARTS_CXXFLAGS", ""))
    except CompilerError as error:
        if told:
            raise
        if find_spec("llvmlite") is None:
            raise CompilerError(
                f"{error}; or `pip install byparts-tensor-ir[llvm]`, which needs no compiler"
            ) from error
        return "llvm"
    return "c"


@lru_cache(maxsize=8)  # of those that work
def _probe(path: str, version: str, flags: str) -> None:
    # Without the header, which takes a second to compile: a program may never need it.
    loaded(_PROBE, [*FLAGS, *target().compiler_flags], header=False)


def compiled(sources: Sequence[Source]) -> dict[str, int]:
    """Compile functions in one file; their addresses by name.

    Raises:
        CompilerError: there is no compiler, it refuses the source, or there is no room on the disk.
    """
    library = loaded(file_of(sources, ""), [*FLAGS, *target().compiler_flags])
    if any(s.parallel for s in sources):
        try:
            ctypes.c_void_p.in_dll(library, "byparts_parallel").value = _pool()
        except OSError as error:
            raise _not_loaded(error) from error
    return addresses(library, [s.name for s in sources])


def loaded(text: str, command: Sequence[str], header: bool = True) -> ctypes.CDLL:
    """The shared object of a source, compiled by these flags after `HEADER` or not.

    Raises:
        CompilerError: as `compiled`.
    """
    more = os.environ.get("BYPARTS_CXXFLAGS", "").split()  # e.g. -O1, or -fsanitize=address
    try:
        return ctypes.CDLL(str(shared_object(text, [*command, *more], header)))
    except OSError as error:
        raise _not_loaded(error) from error


def addresses(library: ctypes.CDLL, names: Sequence[str]) -> dict[str, int]:
    """The address of each function of a library, by name."""
    return {n: ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for n in names}


def _not_loaded(error: OSError) -> CompilerError:
    return CompilerError(f"compiled code cannot be made or loaded: {error}")


@lru_cache(maxsize=1)
def _pool() -> int:
    """The address of the function that shares a loop among threads."""
    command = [*FLAGS, *target().compiler_flags, "-pthread"]
    return threads.runner(ctypes.CDLL(str(shared_object(threads.POOL, command))))


def _key(command: Sequence[str], text: str) -> str:
    whole = "\0".join([compiler()[1], *command, HEADER, text])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def shared_object(text: str, command: Sequence[str], header: bool = True) -> Path:
    """The shared object of a source, after `HEADER` or not: from the cache, or compiled into it.

    Raises:
        CompilerError: as `compiled`.
    """
    key, directory = _key(command, text), cache_directory()
    target = directory / f"{key}.so"
    if kept(target) is not None:
        return target
    with working_folder(directory) as work:
        source, output = work / f"{key}.cc", work / f"{key}.so"
        source.write_text(text, encoding="utf-8")
        first = ["-include", str(_header(directory, command))] if header else []
        _run([*command, *first, str(source)], output, ("-lm",))
        put(output, target)
    return target


def _header(directory: Path, command: Sequence[str]) -> Path:
    """The header of all sources; compiled where the cache tells that it is read often.

    Intrinsics take 0.3 s to read, and 0.7 s to compile once for all: too much for a first program.
    """
    key = _key(command, "")[:16]
    header, ready = directory / f"{key}.h", directory / f"{key}.h.gch"
    if is_private(ready) and is_private(header):
        os.utime(ready)
        return header
    often = sum(1 for _ in directory.glob("*.so")) >= _READ_OFTEN
    if is_private(header) and not often:
        return header
    with working_folder(directory) as work:
        text, output = work / f"{key}.h", work / f"{key}.h.gch"
        text.write_text(HEADER, encoding="utf-8")
        if often:
            as_header = ["c++-header" if flag == "c++" else flag for flag in command]
            _run([*[f for f in as_header if f != "-shared"], str(text)], output)
        move(text, header)
        if often:
            move(output, ready)
    if often:
        trim(directory)
    return header


def _run(arguments: Sequence[str], output: Path, libraries: Sequence[str] = ()) -> None:
    """Run the compiler; what it writes on the way lies beside the output.

    Raises:
        CompilerError: it failed; its words and its source, of which a copy is kept.
    """
    import subprocess  # not where all code is found compiled

    command = [_driver(compiler()[0]), *arguments, *libraries, "-o", str(output)]
    env = {**os.environ, "TMPDIR": str(output.parent)}
    try:
        run = subprocess.run(command, capture_output=True, env=env, timeout=_COMPILE_S)
    except subprocess.SubprocessError as error:
        raise CompilerError(f"{command[0]} does not end: {error}") from error
    if run.returncode:
        copy = keep_source(f"byparts-{output.stem}.cc", Path(arguments[-1]).read_text("utf-8"))
        words = run.stderr.decode(errors="replace")[:2000]  # in whatever encoding it speaks
        words = words or f"it ended with {run.returncode} and said nothing"
        raise CompilerError(f"{command[0]} failed on {copy}:\n{words}")


def _driver(path: str) -> str:
    """The `gcc` beside a `g++`, for the same code (`-x c++`) without the C++ library.

    Nothing of ours calls that library, and linking it takes 10 of the 50 ms of a small file.
    """
    folder, name = os.path.split(path)
    beside = os.path.join(folder, re.sub(r"(^|-)g\+\+(?=$|-)", r"\1gcc", name))
    return beside if os.access(beside, os.X_OK) else path


def callable_of(source: Source) -> Callable[..., None]:
    """Compile one function: `f(pointers, sizes)` of addresses and numbers."""
    return caller(compiled([source])[source.name], source.workspace_bytes)


def caller(address: int, workspace_bytes: int) -> Callable[..., None]:
    """`f(pointers, sizes)` of compiled code, with a workspace of its own."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    workspace = ctypes.create_string_buffer(workspace_bytes + 64)
    aligned = -(-ctypes.addressof(workspace) // 64) * 64

    def call(pointers: Sequence[int], numbers: Sequence[int] = ()) -> None:
        table = (ctypes.c_int64 * max(1, len(numbers)))(*numbers)
        arguments = (ctypes.c_void_p * (len(pointers) + 2))(
            *pointers, aligned, ctypes.addressof(table)
        )
        function(ctypes.addressof(arguments))

    call.workspace = workspace  # type: ignore[attr-defined]  # lives as long as the function
    return call
