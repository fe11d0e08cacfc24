"""The rules of products and convolutions: our own kernel, and a library's where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Kernel, KernelFamily, TensorType
from byparts_graph_ir.model.digest import op_text
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.launch import launched_by
from byparts_kernels_cuda.libraries import cublas, cudnn
from byparts_kernels_cuda.libraries.either import Addresses, Way, either
from byparts_kernels_cuda.stream_call import StreamCall
from byparts_op_loops.rules import is_symbolic

Types = Sequence[TensorType]


def named_or_product(op: Any, types: Types, constants: frozenset[int]) -> Kernel | KernelFamily:
    """The kernel of `product`; of named dimensions those of `named.product_family`.

    Raises:
        Refused: as these.
    """
    if not is_symbolic(op, types):
        return product(op, types, constants)
    from byparts_kernels_cuda import named  # only where dimensions have names

    return named.product_family(op, types)


def product(op: Any, types: Types, constants: frozenset[int]) -> Kernel:
    """The kernel of a `MatMul` of (a, b), or an `AddMatmul` of (c, a, b).

    Raises:
        Refused: a dtype that kernels do not have.
    """
    names = ("matmul_launches", "add_matmul_launches")
    own = launched_by("products.matmul", names[len(types) - 2], op, types)
    library = cublas.library()
    wanted = None if library is None else cublas.product_of(op, types)
    if library is None or wanted is None:
        return own

    def call(gpu: Gpu, addresses: Addresses, workspace: int) -> StreamCall:
        c, a, b, y = (0, *addresses) if len(types) == 2 else addresses
        return cublas.Matmul(gpu, library, wanted).call(c, a, b, y, workspace)

    work = wanted.batch * wanted.m * wanted.n * wanted.k
    way = Way("cublaslt", wanted.workspace_bytes, work, call)
    return either(own, way, _key(op, types), types, op.infer(*types))


def convolution(op: Any, types: Types, constants: frozenset[int]) -> Kernel:
    """The kernel of a `Conv2d`, a `Conv2dTranspose` or a `Conv2dFilterGradient`.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    own = launched_by("convolutions", "convolution_launches", op, types)
    library = cudnn.library()
    wanted = None if library is None else cudnn.convolution_of(op, types)
    if library is None or wanted is None:
        return own

    def call(gpu: Gpu, addresses: Addresses, workspace: int) -> StreamCall:
        used = (addresses[0], addresses[1], addresses[-1])
        return cudnn.Convolve(gpu, library, wanted).call(*used, workspace)

    way = Way("cudnn", wanted.workspace_bytes, op.flops(*types) // 2, call)
    return either(own, way, _key(op, types), types, op.infer(*types))


def _key(op: Any, types: Types) -> str:
    return f"{op_text(op)} of {', '.join(map(str, types))}"
