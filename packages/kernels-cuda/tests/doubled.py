"""GPUs that are not there, for tests: the double, spaces on it, and a backend that adds.

`adder` has one kernel, written by hand in C as the emulation of a GPU's would be, so what is
tested with it is the host's side alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Backend, Kernel, Op, Table, TensorType
from byparts_kernels_cuda import backend as cuda, graph, launch
from byparts_kernels_cuda.code import Argument, KernelCode
from byparts_kernels_cuda.driver.api import Driver
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.gpu import Context, Gpu
from byparts_kernels_cuda.space import space_of

ADD = """
extern "C" void add(void **a) {
  const float *x = (float *)a[0], *y = (float *)a[1];
  float *z = (float *)a[2];
  for (int block = 0; block < %d; ++block)
    for (int thread = 0; thread < 32; ++thread) {
      const int i = block * 32 + thread;
      if (i < %d) z[i] = x[i] + y[i];
    }
}
"""


def gpu_on(double: Double, index: int = 0) -> Gpu:
    """A GPU of the double."""
    return Gpu(Driver(double, "emulated"), index)


def add_code(n: int, *, aliased: bool = True) -> KernelCode:
    """The code that adds arrays of n elements; z may be x, if `aliased`."""
    blocks = -(-n // 32)
    names = (("x", False, not aliased), ("y", False, True), ("z", True, not aliased))
    arguments = [Argument(name, 4 * n, w, alone, i) for i, (name, w, alone) in enumerate(names)]
    return KernelCode(
        "add", ADD % (blocks, n), (blocks, 1, 1), (32, 1, 1), 0, tuple(arguments), "forward"
    )


def adder(gpu: Gpu) -> Backend:
    """A backend that has Add of f32."""
    kernels: Table[Any] = Table("kernel")

    @kernels.compiles(ops.Add)
    def add(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
        bind = partial(launch.bound, (add_code(types[0].size),))
        return Kernel(bind, inplace=((0, 0),), atomic=True)

    return Backend(
        gpu.name,
        partial(cuda.view, gpu),
        kernels,
        space=space_of(gpu),
        around=partial(Context, gpu),
        capture=partial(graph.record, gpu),
        stretches=True,
        copy=cuda.owned,
    )
