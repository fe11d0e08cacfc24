"""Loops as GPU kernels: what threads do, CUDA C, and the same on a CPU with every access checked.

mapping/            serial loops become kernels of blocks and threads
launches            kernels one after the other, and the memory between them
wide, fission       neighbours that are accessed at once; cuts of a thread's code where threads meet
emit/               CUDA C; C that does on a CPU what a GPU would do
emulation, faults   emulated kernels in this process; the faults that checked ones find
"""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_gpu_ir.emit.cuda import CudaSource as CudaSource, emit_cuda as emit_cuda
    from byparts_gpu_ir.emit.emulate import emulate as emulate
    from byparts_gpu_ir.emulation import build as build
    from byparts_gpu_ir.faults import KernelFault as KernelFault
    from byparts_gpu_ir.launches import Launches as Launches
    from byparts_gpu_ir.mapping.map import mapped as mapped

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        emulation="build",
        faults="KernelFault",
        launches="Launches",
        **{"emit.cuda": "CudaSource emit_cuda", "emit.emulate": "emulate", "mapping.map": "mapped"},
    )

__version__ = "0.2.0"
