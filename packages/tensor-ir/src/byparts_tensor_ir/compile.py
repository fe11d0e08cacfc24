"""From C to functions in this process: the compiler, its flags, and a cache on disk.

Compiled objects are kept by content: compiler, flags, source.  The cache is private to the user,
safe under several processes (a file appears whole, by rename), checked when read, and bounded.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from byparts_graph_ir import GraphError
from byparts_tensor_ir.emit.c import Source, file_of
from byparts_tensor_ir.emit.vectors import HEADER

FLAGS = (
    *("-x", "c++", "-std=gnu++17", "-O3", "-shared", "-fPIC", "-w"),
    # What C leaves undefined wraps; nothing is rounded otherwise than it is written.
    *("-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fno-exceptions", "-fno-rtti", "-fno-semantic-interposition"),
)
CACHE_BYTES = 256 << 20


class CompilerError(GraphError):
    """No compiler, or it failed; the message has its words and where the source is."""


@lru_cache(maxsize=1)
def compiler() -> tuple[str, str]:
    """(command, what it says of its version) of the C++ compiler.

    `CXX` if set, else the first of g++, clang++, c++ on the path.

    Raises:
        CompilerError: there is none, or it does not run.
    """
    wanted = os.environ.get("CXX")
    names = [wanted] if wanted else ["g++", "clang++", "c++"]
    path = next((p for p in map(shutil.which, names) if p), None)
    if path is None:
        raise CompilerError(
            f"no C++ compiler: none of {', '.join(names)} is on the path; install g++ or clang++, "
            "or set CXX"
        )
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=True
        )
        march = subprocess.run(
            [path, "-march=native", "-E", "-dM", "-x", "c++", os.devnull],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerError(f"the C++ compiler {path} does not run: {error}") from error
    return path, said.stdout + march.stdout


def vector_bytes() -> int:
    """Bytes of a vector register, as the compiler sees this machine: 64, 32 or 16."""
    macros = compiler()[1]
    return 64 if "__AVX512VL__" in macros else 32 if "__AVX2__" in macros else 16


def cache_directory() -> Path:
    """Where compiled objects are kept: `BYPARTS_CACHE`, or below the user's cache directory."""
    told = os.environ.get("BYPARTS_CACHE")
    if told:
        return Path(told)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "byparts"


def compiled(sources: Sequence[Source]) -> dict[str, int]:
    """Compile functions in one file; their addresses by name.

    Raises:
        CompilerError: there is no compiler, or it refuses the source.
    """
    more = os.environ.get("BYPARTS_CXXFLAGS", "").split()  # e.g. -O1, or -fsanitize=address
    command = [*FLAGS, "-march=native", *more]
    if vector_bytes() == 64:
        command.append("-mprefer-vector-width=512")
    if any(s.parallel for s in sources):
        command.append("-fopenmp")
    library = ctypes.CDLL(str(_object(file_of(sources, ""), command)))
    addresses = {}
    for s in sources:
        addresses[s.name] = ctypes.cast(getattr(library, s.name), ctypes.c_void_p).value or 0
    return addresses


def _object(text: str, command: Sequence[str]) -> Path:
    """The shared object of a source: from the cache, or compiled into it."""
    path, version = compiler()
    key = hashlib.sha256("\0".join([version, *command, HEADER, text]).encode()).hexdigest()[:32]
    directory = _writable(cache_directory())
    target = directory / f"{key}.so"
    if _whole(target):
        os.utime(target)
        return target
    with tempfile.TemporaryDirectory(dir=directory) as work:
        source, made = Path(work) / f"{key}.cc", Path(work) / f"{key}.so"
        source.write_text(text)
        _run([path, *command, "-include", str(_header(directory, command)), str(source)], made)
        (Path(work) / "sum").write_text(hashlib.sha256(made.read_bytes()).hexdigest())
        os.replace(made, target)
        os.replace(Path(work) / "sum", directory / f"{key}.sum")
    _trim(directory)
    return target


def _header(directory: Path, command: Sequence[str]) -> Path:
    """The header of all sources, compiled: intrinsics alone take a third of a second to read."""
    path, version = compiler()
    key = hashlib.sha256("\0".join([version, *command, HEADER]).encode()).hexdigest()[:16]
    header, ready = directory / f"{key}.h", directory / f"{key}.h.gch"
    if ready.exists():
        os.utime(ready)
    else:
        with tempfile.TemporaryDirectory(dir=directory) as work:
            text, made = Path(work) / f"{key}.h", Path(work) / f"{key}.h.gch"
            text.write_text(HEADER)
            as_header = ["c++-header" if flag == "c++" else flag for flag in command]
            _run([path, *[f for f in as_header if f != "-shared"], str(text)], made)
            os.replace(text, header)
            os.replace(made, ready)
    return header


def _run(command: Sequence[str], output: Path) -> None:
    """Run the compiler.

    Raises:
        CompilerError: it failed; its words and its source, of which a copy is kept.
    """
    run = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True)
    if run.returncode:
        kept = Path(tempfile.gettempdir()) / f"byparts-{output.stem}.cc"
        shutil.copyfile(command[-1], kept)
        raise CompilerError(f"{command[0]} failed on {kept}:\n{run.stderr[:2000]}")


def _whole(target: Path) -> bool:
    """Whether the object is there and is what was written."""
    try:
        return (
            target.with_suffix(".sum").read_text()
            == hashlib.sha256(target.read_bytes()).hexdigest()
        )
    except OSError:
        return False


@lru_cache(maxsize=8)
def _writable(directory: Path) -> Path:
    """The directory, private to the user; a temporary one where it cannot be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        stat = os.stat(directory)
        shared = stat.st_uid != os.getuid() or stat.st_mode & 0o002  # somebody's code would run
        if shared or not os.access(directory, os.W_OK):
            raise PermissionError(directory)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="byparts-"))
    return directory


def _trim(directory: Path) -> None:
    """Remove what was not used for the longest time, down to `CACHE_BYTES`.

    Objects, and compiled headers, of which there is one of 40 MB for each set of flags.
    """
    files = []
    for p in (*directory.glob("*.so"), *directory.glob("*.gch")):
        try:
            stat = p.stat()
            files.append((stat.st_mtime, stat.st_size, p))
        except OSError:
            continue
    total = sum(size for _, size, _ in files)
    for _, size, p in sorted(files):
        if total <= CACHE_BYTES:
            return
        for one in (p, p.with_suffix(".sum")):
            one.unlink(missing_ok=True)
        total -= size


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
