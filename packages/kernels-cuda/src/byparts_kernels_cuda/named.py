"""Kernels for all sizes of named dimensions: the sizes are arguments, behind the pointers.

What a thread does is the same for all sizes.  How many blocks there are, and where the buffers of
the workspace begin, is worked out when a size is known; nothing is compiled then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Graph, Kernel, KernelFamily, Op, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.digest import op_text
from byparts_kernels_cuda.code import Argument, KernelCode, later
from byparts_kernels_cuda.emitting import check_grid, code_of
from byparts_kernels_cuda.gpu import backend_mode
from byparts_kernels_cuda.launch import PACKAGES, Pairs, launch
from byparts_kernels_cuda.libraries import cublas
from byparts_kernels_cuda.memory import DeviceArray, check_places
from byparts_kernels_cuda.stream_call import run_of
from byparts_op_loops.extents import (
    are_determined,
    names_of,
    number_of,
    sizes_between,
    variable_name,
)
from byparts_op_loops.keys import kept_record, kinds_of, short_key
from byparts_opset import MatMul

if TYPE_CHECKING:
    from byparts_gpu_ir.launches import Launches
    from byparts_tensor_ir.statement import Func

Sizes = dict[str, int]  # name of a variable -> number


@dataclass(frozen=True)
class NamedLaunches:
    """Launches for all sizes.

    Attributes:
        codes: of the kernels, in order.
        spaces: the bytes of each buffer in the workspace, as an expression of the sizes.
        inplace: pairs (input, output) that may be one array.
    """

    codes: tuple[KernelCode, ...]
    spaces: tuple[str, ...]
    inplace: Pairs

    @property
    def source(self) -> str:
        """The text of all kernels."""
        return "\n".join([code.text for code in self.codes])

    def at(self, sizes: Sizes) -> Kernel:
        """The kernel for these sizes.

        Raises:
            Refused: no GPU launches so many blocks.
        """
        lines = [-(-number_of(text, sizes) // 256) * 256 for text in self.spaces]
        *starts, end = accumulate(lines, initial=0)
        shapes = []
        for code in self.codes:
            grid = [number_of(str(n), sizes) for n in code.grid]
            check_grid(code, grid)
            if all(grid):
                shapes.append((code, grid))
        bind = partial(_bound, shapes, starts, sizes)
        return Kernel(bind, end, 0, self.inplace, len(shapes) == 1, self.source)


def _bound(
    shapes: Sequence[tuple[KernelCode, Sequence[int]]],
    starts: Sequence[int],
    sizes: Sizes,
    inputs: Sequence[DeviceArray],
    outputs: Sequence[DeviceArray],
    workspace: DeviceArray | None,
    persistent: Any = None,
) -> Run:
    """The launches on these arrays, as `launch.bound`."""
    arrays = (*inputs, *outputs)
    check_places(arrays)
    gpu = arrays[0].gpu
    start = 0 if workspace is None else workspace.address

    def number(a: Argument) -> int:
        if a.is_size:
            return sizes[a.name]
        return start + starts[a.at] if a.in_workspace else arrays[a.at].address

    with gpu:
        calls = [launch(gpu, c, grid, [*map(number, c.arguments)], arrays) for c, grid in shapes]
    return run_of(gpu, calls)


def region_family(graph: Graph) -> KernelFamily:
    """The kernels of a graph of elementwise ops, reductions and movements, for all sizes.

    Raises:
        Refused: its values have no iteration space in common, whatever the sizes are; its types do
            not say a size; or the loops have no form for all sizes.
    """
    ends = [v.type for v in (*graph.inputs, *graph.outputs)]
    names = set().union(*[names_of(v.type) for v in graph.values])
    if not are_determined(names, ends):
        raise Refused(f"sizes {', '.join(sorted(names))} do not follow from those of its ends")

    def launches() -> Launches:
        from byparts_op_loops.regions.region import RegionLoops  # not where the text is on the disk

        region = RegionLoops(graph)
        return _mapped(region.func, region.inplace)

    key, kinds = b"region" + graph.digest, kinds_of(graph)
    kernels = named_launches(key, launches, len(graph.inputs), kinds)

    def at(op: Op, types: Sequence[TensorType]) -> Kernel:
        sizes = sizes_between(zip(ends, (*types, *op.infer(*types)), strict=True))
        return kernels.at({variable_name(name): n for name, n in sizes.items()})

    return KernelFamily(at, source=kernels.source)


def product_family(op: Op, types: Sequence[TensorType]) -> KernelFamily:
    """The kernels of a `MatMul` for all sizes, where nothing but the rows has names.

    Raises:
        Refused: as `products.named.named_launches`; or cuBLASLt is there, which needs no code.
    """
    if not isinstance(op, MatMul) or cublas.library() is not None:
        raise Refused(f"{op.name} has code for one size alone")
    from byparts_kernels_cuda.products import named  # not where the text is on the disk

    a = types[0]
    if not are_determined(names_of(a), [a]):
        raise Refused(f"{op.name}: {a} does not say its sizes")
    key = f"{op_text(op)} of {', '.join(map(str, types))}".encode()
    kernels = named_launches(key, lambda: named.named_launches(op, types), 2, (type(op),))

    def at(sized: Op, numbers: Sequence[TensorType]) -> Kernel:
        sizes = sizes_between([(a, numbers[0])])
        return kernels.at({variable_name(name): n for name, n in sizes.items()})

    return KernelFamily(at, source=kernels.source)


def _mapped(func: Func, inplace: Pairs) -> Launches:
    """The function as launches in which no sum adds many numbers in turn.

    A loop of unknown length is done by one thread, but its blocks of 256 rounds are done by a team:
    so these come first where there would be one row, which is one thread of the whole GPU.
    """
    from byparts_gpu_ir.mapping import mapped
    from byparts_tensor_ir.cascade import cascaded
    from byparts_tensor_ir.nest import nest_of

    launches = mapped(func, inplace)
    if any(nest_of(k).grid == (1, 1, 1) for k in launches.kernels):
        launches = mapped(cascaded(func, lanes=1), inplace)
    kernels = [cascaded(k, lanes=1) if _adds_alone(k) else k for k in launches.kernels]
    return replace(launches, kernels=tuple(kernels))


def _adds_alone(kernel: Func) -> bool:
    """Whether each thread adds in memory of its own.

    What a team adds to, one of its threads does; were it parted, all would add the parts.
    """
    from byparts_tensor_ir.statement import stores

    sums = [s for s in stores(kernel.body) if s.reducer is not None and s.over]
    return all(t.scope in ("local", "register") for s in sums for t in s.targets)


def named_launches(
    key: bytes, make: Callable[[], Launches], inputs: int, kinds: Iterable[type[Op]] = ()
) -> NamedLaunches:
    """The launches of this key for all sizes; as `launch.launched`.

    Raises:
        Refused: they have no form in C, or it is one for a checked double, which knows numbers.
    """
    mode, ours = backend_mode(), short_key(PACKAGES, kinds)
    new = partial(_record, make, inputs, mode)
    record = kept_record((mode,), ours, b"sizes " + key, new)
    codes = tuple(map(KernelCode.of, record["kernels"]))
    later(codes)
    pairs = tuple([(i, o) for i, o in record["inplace"]])
    return NamedLaunches(codes, tuple(record["spaces"]), pairs)


def _record(make: Callable[[], Launches], inputs: int, mode: str) -> dict[str, Any]:
    from byparts_tensor_ir.access import EmitError
    from byparts_tensor_ir.expression import BYTES, ExpressionError

    try:
        launches = make()
        codes = _emitted(launches, inputs, mode)
    except (EmitError, ExpressionError) as error:
        raise Refused(f"with named dimensions: {error}") from error
    spaces = [str(b.size * BYTES[b.dtype]) for b in launches.workspace]
    return {"kernels": codes, "spaces": spaces, "inplace": launches.inplace}


def _emitted(launches: Launches, inputs: int, mode: str) -> list[dict[str, Any]]:
    """The records of the kernels."""
    from byparts_tensor_ir.expression import BYTES

    parameters = launches.parameters
    aliases = [(parameters[i], parameters[inputs + o]) for i, o in launches.inplace]
    aliased = {b for pair in aliases for b in pair}
    own = {b: i for i, b in enumerate(launches.workspace)}
    place = {b: i for i, b in enumerate(parameters)} | own
    codes = []
    for func in launches.kernels:
        arguments = [
            Argument(
                b.name,
                str(b.size * BYTES[b.dtype]),
                b in func.outputs,
                b not in aliased,
                place[b],
                b in own,
            )
            for b in func.params
        ]
        sizes = [
            Argument(str(x), 0, False, False, i, is_size=True) for i, x in enumerate(func.sizes)
        ]
        here = [(a, b) for a, b in aliases if a in func.params and b in func.params]
        codes.append(asdict(code_of(func, mode, here, (*arguments, *sizes))))
    return codes
