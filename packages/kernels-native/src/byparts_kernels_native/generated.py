"""Functions that tensor-ir generates: emitted once on a machine, and read from the disk after that.

Lowering and emitting a region takes some ten milliseconds, and the modules that do it as long to
import; a process that finds its code compiled needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Kernel, Op
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_kernels_native.sharing import least_us, usual
from byparts_op_loops.keys import kept_record, short_key
from byparts_tensor_ir.emit.source import LlvmSource, Source
from byparts_tensor_ir.target import target

if TYPE_CHECKING:
    from byparts_tensor_ir.statement import Func

PACKAGES = ("byparts_kernels_native",)
Pairs = tuple[tuple[int, int], ...]  # (input, output) that may be one array


@dataclass(frozen=True)
class Generated:
    """A function for `code.call`, of inputs, outputs and a workspace."""

    name: str
    workspace_bytes: int
    inplace: Pairs
    source: str

    def kernel(self) -> Kernel:
        """The kernel that calls it."""

        def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
            return code.call(self.name, [*inputs, *outputs, workspace or 0])

        return Kernel(bind, self.workspace_bytes, 0, self.inplace, True, self.source)


def generated(
    key: bytes, make: Callable[[], tuple[Func, Pairs]], kinds: Iterable[type[Op]] = ()
) -> Generated:
    """The function of this key, made where it is not on the disk, with long sums by blocks.

    Args:
        key: says all that `make` depends on beside code: what is computed, and of which types.
        make: the loops, and the pairs that may be one array.
        kinds: the ops that it lowers; if any is not of ours, it is made again in each process.
    """

    def new_record() -> dict[str, Any]:
        from byparts_tensor_ir.cascade import cascaded  # not where the code is on the disk

        func, inplace = make()
        return {**asdict(emitted(cascaded(func), inplace)), "inplace": inplace}

    emitter, ours = code.emitter(), short_key(PACKAGES, kinds)
    sharing = () if usual() else (str(least_us()),)
    record = kept_record((emitter, target().name, *sharing), ours, key, new_record)
    return generated_of(record)


def generated_of(record: dict[str, Any]) -> Generated:
    """The function of a record: its source, and the pairs that may be one array."""
    inplace = tuple([(i, o) for i, o in record.pop("inplace")])
    source = (LlvmSource if code.emitter() == "llvm" else Source).of(record)
    return Generated(code.later(source), source.workspace_bytes, inplace, source.body)


def emitted(func: Func, inplace: Pairs = ()) -> Source | LlvmSource:
    """C or LLVM IR of the function, whose outputs may lie over these inputs."""
    first = len(func.params) - len(func.outputs)
    aliases = [(func.params[i], func.params[first + o]) for i, o in inplace]
    if code.emitter() == "llvm":
        from byparts_tensor_ir.emit.llvm import emit_llvm  # loads LLVM

        return emit_llvm(func, target().vector_bytes, aliases)
    from byparts_tensor_ir.emit.c import emit_c  # not where all code is found on the disk

    return emit_c(func, target().vector_bytes, aliases)


def our_code() -> str:
    """Sizes and times of our files, which change whenever one that generates code does."""
    return short_key(PACKAGES, ()) or ""
