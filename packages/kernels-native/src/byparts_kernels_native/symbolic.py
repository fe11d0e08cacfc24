"""Kernels for all sizes of named dimensions: one function, which gets the sizes with the pointers.

The loops of a region are the same for all sizes; what depends on a size beside their extents is
memory.  Local buffers of a size that is no number stand in the workspace, one behind the other, and
are parameters of the function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Graph, Kernel, KernelFamily, Op, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_kernels_native.generated import PACKAGES, Generated, Pairs, emitted, generated_of
from byparts_op_loops.extents import (
    are_determined,
    names_of,
    number_of,
    sizes_between,
    variable_name,
)
from byparts_op_loops.keys import kept_record, kinds_of, short_key
from byparts_tensor_ir.target import target

if TYPE_CHECKING:
    from byparts_tensor_ir.statement import Buffer, Func


@dataclass(frozen=True)
class Symbolic:
    """A function for all sizes.

    Attributes:
        function: of inputs, outputs, the buffers of `spaces`, a workspace, and sizes.
        sizes: the names of its sizes, in order.
        spaces: the bytes of each buffer in the workspace, as an expression of the sizes.
    """

    function: Generated
    sizes: tuple[str, ...]
    spaces: tuple[str, ...]

    def at(self, sizes: dict[str, int]) -> Kernel:
        """The kernel for sizes: name of a variable -> number."""
        numbers = [sizes[name] for name in self.sizes]
        starts, end = [], _whole(self.function.workspace_bytes)
        for text in self.spaces:
            starts.append(end)
            end += _whole(number_of(text, sizes))
        table = (ctypes.c_int64 * max(1, len(numbers)))(*numbers)

        def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
            first = workspace or 0
            buffers = [first + start for start in starts]
            arguments = [*inputs, *outputs, *buffers, first, ctypes.addressof(table)]
            return code.call(self.function.name, arguments, table)

        return Kernel(bind, end, 0, self.function.inplace, True, self.function.source)


def region_family(graph: Graph, few_columns: int) -> KernelFamily:
    """The kernels of a graph of elementwise ops, reductions and movements, for all sizes.

    Raises:
        Refused: its values have no iteration space in common, whatever the sizes are, or its types
            do not say a size.
    """
    ends = [v.type for v in (*graph.inputs, *graph.outputs)]
    values = [v.type for v in graph.values]
    names = set().union(*map(names_of, values))
    if not are_determined(names, ends):
        raise Refused(f"sizes {', '.join(sorted(names))} do not follow from those of its ends")

    def loops() -> tuple[Func, Pairs]:
        from byparts_op_loops.regions.region import RegionLoops  # where the code is not known

        region = RegionLoops(graph, few_columns)
        return region.func, region.inplace

    code = symbolic(b"region" + graph.digest, loops, kinds_of(graph))

    def at(op: Op, types: Sequence[TensorType]) -> Kernel:
        sizes = sizes_between(zip(ends, (*types, *op.infer(*types)), strict=True))
        return code.at({variable_name(name): n for name, n in sizes.items()})

    return KernelFamily(at, source=code.function.source)


def symbolic(
    key: bytes, make: Callable[[], tuple[Func, Pairs]], kinds: Iterable[type[Op]] = ()
) -> Symbolic:
    """The function of this key for all sizes; as `generated`.

    Raises:
        Refused: it has no form in C.
    """

    def new_record() -> dict[str, Any]:
        from byparts_tensor_ir.access import EmitError
        from byparts_tensor_ir.cascade import cascaded
        from byparts_tensor_ir.expression import BYTES, ExpressionError

        try:
            func, inplace = make()
            func, spaces = with_spaces(cascaded(func))
            source = asdict(emitted(func, inplace))
        except (EmitError, ExpressionError) as error:
            raise Refused(f"with named dimensions: {error}") from error
        bytes = [str(b.size * BYTES[b.dtype]) for b in spaces]
        return {
            **source,
            "inplace": inplace,
            "sizes": [str(x) for x in func.sizes],
            "spaces": bytes,
        }

    emitter, ours = code.emitter(), short_key(PACKAGES, kinds)
    record = kept_record((emitter, target().name), ours, b"sizes " + key, new_record)
    sizes, spaces = (tuple(record.pop(name)) for name in ("sizes", "spaces"))
    return Symbolic(generated_of(record), sizes, spaces)


def with_spaces(func: Func) -> tuple[Func, tuple[Buffer, ...]]:
    """The function whose local buffers of unknown size are its last parameters, and these."""
    spaces = tuple([b for b in func.locals if any(n.op != "const" for n in b.shape)])
    if not spaces:
        return func, ()
    own = tuple([b for b in func.locals if b not in spaces])
    params, outputs = (*func.params, *spaces), (*func.outputs, *spaces)
    return replace(func, params=params, outputs=outputs, locals=own), spaces


def _whole(bytes: int) -> int:
    """Whole lines."""
    return -(-bytes // 64) * 64
