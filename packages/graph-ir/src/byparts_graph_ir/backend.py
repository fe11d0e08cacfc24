"""What a kernel part gives: a table of kernels, and the memory space they compute in.

A kernel rule is called once for each node, when a program is built, with the op and the arrays of
its inputs and outputs, already placed; it returns a callable of no arguments that computes.
`return partial(np.tanh, x, y)` is a whole kernel.  Running a program is calling those in order.
Backends of one space look at the same memory, each through its own `view`.
"""

from __future__ import annotations

from functools import partial

from byparts_graph_ir.errors import GraphError, MissingRule
from byparts_graph_ir.graph import Node, Op
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_graph_ir.pipeline import Pass
from byparts_graph_ir.table import Table
from byparts_graph_ir.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, NoReturn, Protocol, TypeAlias
else:

    class Protocol:
        """Stands for that of `typing`, which is slow to import."""

        _is_protocol = True  # what `contract.py` asks


Array: TypeAlias = "Any"  # numpy.ndarray, torch.Tensor, a pointer: a backend's own business
Run: TypeAlias = "Callable[[], object]"
KernelRule: TypeAlias = "Callable[[Any, Sequence[Array], Sequence[Array]], Run]"
FunctionalRule: TypeAlias = "Callable[..., Any]"

ALIGNMENT = 64  # of all host memory, in bytes
MAPPED_BYTES = 1 << 16  # and more: blocks of this size are mappings of their own


class Space(Protocol):
    """Memory that backends share.

    What is asked for is done in the order of asking: `read` and `write` come after all that was
    asked for before them.  A failure may be told late, by whatever waits next.
    """

    name: str

    def allocate(self, size_bytes: int) -> Any:
        """Zeroed memory, aligned to 64 bytes at least, of this process alone.

        Where a forked child cannot have a copy, what it asks of the space must be an error there.

        Raises:
            MemoryError: there is none left; a device may raise its own.
        """

    def read(self, memory: Any, offset: int, size_bytes: int) -> bytes | memoryview:
        """Bytes of the space, as the host sees them."""

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        """Host bytes into the space."""

    def synchronize(self) -> None:
        """Wait until everything asked for is done."""

    # A space that is not the host's may also have
    #   adopt(value) -> (memory, type) or None: a caller's array that is in this space already, as
    #       memory of it, without a copy.  None: it is not ours.  GraphError: it is, but cannot be
    #       used as it is; says what to do.
    #   writer(memory, offset, type) -> callable: copies arrays of NumPy, or what `adopt` gave, of
    #       this type to there.  Prepared once and called at each run, e.g. through pinned memory.
    #   sticky = True: what fails makes all fail that is asked for after it, as on a GPU.  Without
    #       it the runtime waits for the steps before it gives variables their new values.


class HostSpace:
    """Memory of this process alone: a forked child has a copy, made where one of them writes.

    Small blocks are of the heap: a mapping takes whole pages, and a process has 65,000 mappings at
    most.  Large ones are mappings, which go back to the system when their last user is gone; their
    pages are not counted before use.
    """

    name = "host"

    def allocate(self, size_bytes: int) -> memoryview:
        """A writable view of at least one byte.

        Raises:
            MemoryError: the system has no more, or not for this process.
        """
        size = max(1, size_bytes)
        try:
            return _on_the_heap(size) if size < MAPPED_BYTES else _mapped(size)
        except (OSError, OverflowError, MemoryError) as error:
            raise MemoryError(f"cannot allocate {size_bytes:,} bytes: {error}") from error

    def read(self, memory: memoryview, offset: int, size_bytes: int) -> memoryview:
        """The same bytes; no copy."""
        return memory[offset : offset + size_bytes]

    def write(self, memory: memoryview, offset: int, data: bytes | memoryview) -> None:
        """Copy `data` to `offset`."""
        memory[offset : offset + len(data)] = data

    def synchronize(self) -> None:
        """Nothing is ever pending."""


HOST = HostSpace()


def _on_the_heap(size_bytes: int) -> memoryview:
    from array import array  # a shared library, and graphs are planned without memory

    block = array("B", b"\0") * (size_bytes + ALIGNMENT - 1)
    start = -block.buffer_info()[0] % ALIGNMENT
    return memoryview(block)[start : start + size_bytes]


def _mapped(size_bytes: int) -> memoryview:
    import mmap  # likewise

    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows, which has no fork
        return memoryview(mmap.mmap(-1, size_bytes))
    return memoryview(mmap.mmap(-1, size_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


class CaptureRefused(GraphError):
    """These runs cannot become one; the message says which of them forbids it."""


@dataclass(frozen=True)
class Backend:
    """Kernels and how they see memory.

    Attributes:
        name: what `backends=(...)` says.
        view: `(memory, offset, type) -> array` over the memory of `space`, contiguous, static type.
        kernels: bound rules.
        functions: functional rules `f(op, *inputs) -> output or tuple`; the adapter copies their
            results into place with `array[...] = result`.
        space: where the arrays live.
        around: a context for each run of a program, entered once around all its steps, and around
            binding; e.g. silences floating point warnings.
        passes: applied to a graph that this backend runs, after what no backend has was decomposed:
            for ops of its own that join several, e.g. matmul and add.
        fuses: the nodes it wants joined into `Fused` regions, for which `kernels` has a rule: the
            rule compiles `op.graph`.
        capture: `capture(runs, warm)` makes one run of several, e.g. a CUDA graph.  Called when the
            memory is in place, within `around`.  With `warm` it may run them before, without it
            they must not run: they write variables.  The result is best a partial of a C function.
            Raises CaptureRefused where something forbids it.
        copy: an array of its own kind that owns its memory, from a view.
        binding: a context in which all nodes of a program are bound, and nothing is run: who lends
            them scratch memory knows by it which steps come one after the other.
    """

    name: str
    view: Callable[[Any, int, TensorType], Array]
    kernels: Table[KernelRule] = None  # type: ignore[assignment]  # an empty one of its own
    functions: Table[FunctionalRule] = None  # type: ignore[assignment]
    space: Space = HOST
    around: Callable[[], AbstractContextManager[object]] | None = None
    passes: tuple[Pass, ...] = ()
    fuses: Callable[[Node], bool] | None = None
    capture: Callable[[Sequence[Run], bool], Run] | None = None
    copy: Callable[[Array], Array] | None = None
    binding: Callable[[], AbstractContextManager[object]] | None = None

    def __post_init__(self) -> None:
        for name, what in (("kernels", "kernel"), ("functions", "function")):
            if getattr(self, name) is None:
                object.__setattr__(self, name, Table(what))

    def __reduce__(self) -> NoReturn:
        raise GraphError(
            f"Backend {self.name!r} cannot be pickled: its kernels are of this process; "
            "send its name, and build() with that there"
        )

    def supports(self, op: Op) -> bool:
        """Whether some rule is there for the op; it may still refuse a dtype when it is bound."""
        return op in self.kernels or op in self.functions

    def bind(self, node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        """The step that computes `node` from and into these arrays.

        Raises:
            MissingRule: no rule, or the rule refuses these dtypes; names op, dtypes and the line to
                write.
        """
        rule = self.kernels.get(node.op)
        if rule is not None:
            return rule(node.op, inputs, outputs)
        function = self.functions.get(node.op)
        if function is None:
            types = ", ".join(str(v.type) for v in node.inputs)
            name = type(node.op).__name__
            raise MissingRule(
                f"backend {self.name!r} has no kernel for {name} on ({types}); "
                f"add one with @kernels.on({name})"
            )
        return partial(_call_and_copy, partial(function, node.op, *inputs), tuple(outputs))


def _call_and_copy(function: Callable[[], Any], outputs: tuple[Array, ...]) -> None:
    results = function()
    for out, result in zip(
        outputs, results if isinstance(results, tuple) else (results,), strict=True
    ):
        out[...] = result
