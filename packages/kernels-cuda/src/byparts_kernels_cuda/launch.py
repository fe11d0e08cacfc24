"""From `Launches` to a kernel of graph-ir: text once on a machine, code once a process, then calls.

Mapping and emitting take some ten milliseconds, and the modules that do them as long to import; a
process that finds its text on the disk needs neither.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Kernel, Op, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.digest import op_text
from byparts_kernels_cuda.code import Argument, KernelCode, function, later
from byparts_kernels_cuda.gpu import Gpu, backend_mode
from byparts_kernels_cuda.loops import loops
from byparts_kernels_cuda.memory import DeviceArray, check_places
from byparts_kernels_cuda.stream_call import StreamCall, run_of
from byparts_op_loops import rules
from byparts_op_loops.keys import kept_record, short_key

if TYPE_CHECKING:
    from byparts_gpu_ir.launches import Launches
    from byparts_tensor_ir.statement import Buffer, Func

_OURS = "byparts_kernels_cuda"
PACKAGES = ("byparts_gpu_ir", _OURS)
Pairs = tuple[tuple[int, int], ...]  # (input, output) that may be one array


def launched(
    key: bytes, make: Callable[[], Launches], inputs: int, kinds: Iterable[type[Op]] = ()
) -> Kernel:
    """The kernel that makes these launches.

    It is compiled when it is first bound, with all others that wait then.  Its run is one call of
    C, and so atomic, where there is one launch.

    Args:
        key: says all that `make` depends on beside code: what is computed, and of which types.
        make: called where the text is not on the disk.
        inputs: how many of the parameters are inputs; the others are outputs.
        kinds: the ops that it lowers; if any is not of ours, it is called in each process.

    Raises:
        EmitError: a launch has no form in C.
    """
    mode, ours = backend_mode(), short_key(PACKAGES, kinds, (loops,))
    return kernel_of(kept_record((mode,), ours, key, lambda: record(make(), inputs, mode)))


def launched_by(module: str, name: str, op: Op, types: Sequence[TensorType]) -> Kernel:
    """The kernel of one op.

    Args:
        module: of this package, imported where the text is not on the disk.
        name: of its function of (op, types) that gives `Launches`.
        op: what to compute.
        types: of its inputs.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    about = f"{module} {op_text(op)} of {', '.join(map(str, types))}"
    make = partial(rules.later(f"{_OURS}.{module}", name), op, types)
    return launched(about.encode(), make, len(types), (type(op),))


def record(launches: Launches, inputs: int, mode: str) -> dict[str, Any]:
    """Make the record of launches that is kept: texts, and where their arguments are.

    Args:
        launches: what to emit.
        inputs: how many of the parameters are inputs.
        mode: "" for CUDA C, else one of the double's.
    """
    parameters = launches.parameters
    aliases = [(parameters[i], parameters[inputs + o]) for i, o in launches.inplace]
    codes = [emitted(launches, func, aliases, mode) for func in launches.kernels]
    return {
        "kernels": [asdict(code) for code in codes if all(code.grid)],
        "workspace_bytes": launches.workspace_bytes,
        "inplace": launches.inplace,
    }


def emitted(
    launches: Launches, func: Func, aliases: Sequence[tuple[Buffer, Buffer]], mode: str
) -> KernelCode:
    """The text of one launch; `aliases` are parameters that may be one array."""
    from byparts_gpu_ir.launches import size_bytes
    from byparts_kernels_cuda.emitting import code_of  # loads the emitter

    position = {b: i for i, b in enumerate(launches.parameters)}
    offsets = launches.offsets()
    aliased = {b for pair in aliases for b in pair}
    arguments = [
        Argument(
            b.name,
            size_bytes(b),
            b in func.outputs,
            b not in aliased,
            position[b] if b in position else offsets[b],
            b in offsets,
        )
        for b in func.params
    ]
    here = [(a, b) for a, b in aliases if a in func.params and b in func.params]
    return code_of(func, mode, here, tuple(arguments))


def kernel_of(record: dict[str, Any]) -> Kernel:
    """The kernel of a record."""
    codes = tuple(map(KernelCode.of, record["kernels"]))
    later(codes)
    pairs: Pairs = tuple([(i, o) for i, o in record["inplace"]])
    source = "\n".join([code.text for code in codes])
    bind = partial(bound, codes)
    return Kernel(bind, record["workspace_bytes"], 0, pairs, len(codes) == 1, source)


def bound(
    codes: Sequence[KernelCode],
    inputs: Sequence[DeviceArray],
    outputs: Sequence[DeviceArray],
    workspace: DeviceArray | None,
    persistent: Any = None,
) -> Run:
    """The launches on these arrays, as one call or as several in order.

    Raises:
        GraphError: an array begins where no kernel could read it.
    """
    arrays = (*inputs, *outputs)
    check_places(arrays)
    gpu = arrays[0].gpu
    start = 0 if workspace is None else workspace.address
    with gpu:
        calls = []
        for code in codes:
            values = [
                start + a.at if a.in_workspace else arrays[a.at].address for a in code.arguments
            ]
            calls.append(launch(gpu, code, code.grid, values, arrays))
    return run_of(gpu, calls)


def launch(
    gpu: Gpu, code: KernelCode, grid: Sequence[Any], numbers: Sequence[int], kept: tuple[Any, ...]
) -> StreamCall:
    """Bind a launch: the driver takes a table of the places where the arguments stand.

    Args:
        gpu: whose context is current.
        code: what is launched.
        grid: how many blocks there are along x, y, z.
        numbers: the arguments: addresses, and sizes.
        kept: what must live as long as the call.
    """
    values = (ctypes.c_uint64 * max(1, len(numbers)))(*numbers)
    first = ctypes.addressof(values)
    table = (ctypes.c_void_p * max(1, len(numbers)))(*[first + 8 * i for i in range(len(numbers))])
    shape = *grid, *code.block, code.shared_bytes
    handle = function(gpu, code)
    arguments = handle, *shape, gpu.stream, table, None
    return StreamCall.of(gpu.driver.cuLaunchKernel, *arguments, at=8, kept=(values, *kept))
