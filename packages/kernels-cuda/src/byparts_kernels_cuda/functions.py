"""Ops that are written as functions of whole tensors, some of which read indices; and printing.

A function finds an index out of range before it reads or writes anything, stores which, and does no
more.  That is told when the stream is waited for, which is before any variable is written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError, Kernel, Op, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_cuda.flags import Flag, flag
from byparts_kernels_cuda.launch import launched
from byparts_kernels_cuda.loops import loops_of
from byparts_kernels_cuda.memory import DeviceArray
from byparts_kernels_cuda.stream_call import StreamCall, calls_of, run_of
from byparts_op_loops.function import refuse
from byparts_op_loops.rules import Pairs, function_code
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.statement import Func


def whole(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The kernel of an op of the table `function`.

    Raises:
        Refused: a dtype that its expressions do not have.
    """
    from byparts_gpu_ir.mapping import mapped  # loads the schedules

    def compiled(key: bytes, func: Func, pairs: Pairs) -> Kernel:
        return launched(key, lambda: mapped(func, pairs), len(types), (type(op),))

    loops, plain, over, pairs = function_code(op, types, loops_of, compiled)

    def bind(
        inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], workspace: Any, _: Any
    ) -> Run:
        same = bool(inputs) and inputs[0].address == outputs[0].address
        kernel = over if same else plain
        if loops.indices is None:
            return kernel.bind(inputs, outputs, workspace, None)
        gpu = outputs[0].gpu
        with gpu:
            error = flag(gpu)
        run = kernel.bind(inputs, (*outputs, error.array), workspace, None)
        checked = Checked(error, op, types, loops.indices)
        calls = tuple([c for c in calls_of(run) if isinstance(c, StreamCall)])
        checked.run = run_of(gpu, calls, (checked,))
        return checked.run

    atomic = loops.indices is None and plain.atomic and over.atomic
    size = max(plain.workspace_bytes, over.workspace_bytes)
    return Kernel(bind, size, 0, pairs, atomic, plain.source)


class Checked:
    """Says, when the stream is waited for, whether an index was out of range.

    Args:
        flag: says whether one was, and which.
        op, types: what the function computes.
        position: of the indices among the inputs.

    Attributes:
        run: the run that this is of.
    """

    run: Run

    def __init__(self, flag: Flag, op: Any, types: Sequence[TensorType], position: int) -> None:
        self._flag, self._op, self._types, self._position = flag, op, types, position

    def tell(self) -> None:
        """Say which index was out of range.

        Raises:
            GraphError: one was.
        """
        error = self._flag.value
        if not error[0]:
            return
        try:
            refuse(self._op, self._types, self._position, error)
        except GraphError as found:
            found.of_run = self.run  # type: ignore[attr-defined]  # the runtime says which step
            raise


def printed(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A step of Python: the op's own line, and a copy."""

    def run(x: DeviceArray, y: DeviceArray) -> None:
        values = _read(x)
        op.evaluate(values)
        y[...] = x

    def bind(
        inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], workspace: Any, _: Any
    ) -> Run:
        return partial(run, inputs[0], outputs[0])

    return Kernel(bind, inplace=((0, 0),))


def _read(x: DeviceArray) -> Any:
    """The elements on the host."""
    gpu, size = x.gpu, x.type.size_bytes
    array = np.empty(x.type.dims, numpy_dtype(x.type.dtype))
    with gpu:
        if size:
            at = ctypes.c_void_p(array.ctypes.data)
            gpu.driver.cuMemcpyDtoHAsync_v2(at, x.address, size, gpu.stream)
        gpu.wait()
    return array
