"""A kernel: what a backend knows of an op once its types are known, and how to bind it.

A kernel is made in three moments, each of which uses exactly what is known by then:

    compile   op, types, which inputs are constants    algorithm, generated code, the facts below
    plan      the facts of all kernels                 bytes for values, workspaces, persistent
    bind      addresses                                a callable of no arguments

Compiling happens once for equal (op, types), planning once a program, binding at each move of the
arena.  Nothing is run before the program runs, but what `bind` itself prepares.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType

from byparts_graph_ir.errors import GraphError, MissingRule
from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from byparts_graph_ir.backend.backend import Backend
    from byparts_graph_ir.model.op import Op

Array: TypeAlias = "Any"  # numpy.ndarray, torch.Tensor, a pointer: a backend's own business
Run: TypeAlias = "Callable[[], object]"

ALIGNMENT = 64  # of workspaces, persistent blocks, and of each array taken from them


class Refused(MissingRule):
    """A backend has no kernel for this op on these types; the message says why."""


class Kernel(Frozen):
    """The result of compiling an op for some types: facts for the planner, and how to bind.

    Attributes:
        bind: `bind(inputs, outputs, workspace, persistent) -> run`.  Inputs and outputs are
            contiguous arrays (of the backend's `view`), `workspace` and `persistent` are arrays of
            `u8`, or `None` where the kernel asks for 0 bytes.
        workspace_bytes: scratch memory while `run` runs.  What it holds before is undefined, and
            other steps overwrite it afterwards.
        persistent_bytes: memory that keeps its contents between runs.  It is zeroed before the
            first `bind`, which fills it with what depends on the op, the types and the constant
            inputs alone (packed weights, zero frames).  Steps of one kernel with the same constants
            share one block, and a step may be bound again: a later `bind` finds what an earlier one
            has written, and writes the same.
        inplace: pairs (input, output) that may be the same bytes.
        atomic: bound in place, `run` is one call of C that cannot fail, so that no Ctrl-C and no
            error can leave an output half written: it may update variables.
        source: the code that was generated for it, for people; "" where there is none.
        stages: prints how that code came about, stage by stage, for people; called when somebody
            asks; `None` where there is nothing to tell.
    """

    bind: Callable[[Sequence[Array], Sequence[Array], Array, Array], Run]
    workspace_bytes: int = 0
    persistent_bytes: int = 0
    inplace: tuple[tuple[int, int], ...] = ()
    atomic: bool = False
    source: str = ""
    stages: Callable[[], str] | None = None


class KernelFamily(Frozen):
    """The kernels of one op for all sizes of the named dimensions in its types.

    Attributes:
        at: `at(op, types) -> Kernel`: the kernel for one size: `op` and `types` are those that were
            compiled, with numbers in the place of names.  Its facts may depend on the size.
        shared: whether `at` compiles nothing: what was generated serves all sizes.
        source: the code that was generated for it, for people; "" where there is none.
    """

    at: Callable[[Op, Sequence[TensorType]], Kernel]
    shared: bool = True
    source: str = ""


class Workspace:
    """Gives a rule arrays of scratch memory, and arrays that it keeps between runs.

    A rule registered with `@kernels.on(Conv2d, workspace=True)` gets one as its last argument.  The
    rule must ask for the same arrays whenever op and types are the same: when the op is compiled,
    the requests are counted, and when it is bound, they are taken from the planned bytes.

    Args:
        backend: whose arrays.
        planned: whether the arrays come from the two blocks that follow; if not, each is new.
        workspace, persistent: the planned blocks as `u8` arrays, `None` for 0 bytes.

    Attributes:
        workspace_bytes, persistent_bytes: how much was asked for so far, padded.
    """

    __slots__ = ("_blocks", "_planned", "backend", "persistent_bytes", "workspace_bytes")

    def __init__(
        self,
        backend: Backend,
        planned: bool = False,
        workspace: Array = None,
        persistent: Array = None,
    ) -> None:
        self.backend = backend
        self.workspace_bytes = self.persistent_bytes = 0
        self._planned, self._blocks = planned, (workspace, persistent)

    def scratch(self, dims: Sequence[int], dtype: str) -> Array:
        """A contiguous array with undefined contents, for this step alone while it runs."""
        type = TensorType(dtype, tuple(dims))
        start, self.workspace_bytes = _after(self.workspace_bytes, type)
        if not self._planned:
            return self.backend.view(self.backend.space.untouched(type.size_bytes), 0, type)
        return self._from(self._blocks[0], start, type, "workspace")

    def kept(self, dims: Sequence[int], dtype: str) -> Array:
        """A contiguous array whose contents stay until the next run; of zeros at first.

        Its contents may depend on the op, the types and the constant inputs alone: steps of the
        same kernel share it, so a later bind finds what an earlier one has written.
        """
        type = TensorType(dtype, tuple(dims))
        start, self.persistent_bytes = _after(self.persistent_bytes, type)
        if not self._planned:
            return self.backend.view(self.backend.space.allocate(type.size_bytes), 0, type)
        return self._from(self._blocks[1], start, type, "persistent memory")

    def _from(self, block: Array, start: int, type: TensorType, what: str) -> Array:
        end, size = start + type.size_bytes, 0 if block is None else len(block)
        if end > size:
            raise GraphError(
                f"a kernel of backend {self.backend.name!r} asks for {end:,} bytes of {what} when "
                f"it is bound, and asked for {size:,} when it was compiled; a rule must ask for "
                "the same arrays whenever op and types are the same"
            )
        return self.backend.view(block, start, type)


def _after(top: int, type: TensorType) -> tuple[int, int]:
    """Offset of an array that comes after `top` bytes, and offset of what comes after the array."""
    return top, top + -(-type.size_bytes // ALIGNMENT) * ALIGNMENT


def in_c(run: Run) -> bool:
    """Whether calling it executes no Python code, so that nothing can come in between.

    True of a `functools.partial` of a function of C: a builtin, a ufunc of NumPy, one of `ctypes`.
    """
    function = run.func if isinstance(run, partial) else None
    if isinstance(function, BuiltinFunctionType):
        return True
    return any((c.__module__, c.__name__) in _FUNCTIONS_OF_C for c in type(function).__mro__)


def is_of_ctypes(run: Run) -> bool:
    """Whether a run is a `functools.partial` of a function of `ctypes`, unknown to NumPy."""
    kinds = type(getattr(run, "func", None)).__mro__
    return any(c.__module__ == "_ctypes" for c in kinds)


_FUNCTIONS_OF_C = {("numpy", "ufunc"), ("_ctypes", "CFuncPtr"), ("_ctypes", "_CFuncPtr")}
