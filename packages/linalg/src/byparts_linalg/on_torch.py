"""Kernels on the torch backends: LAPACK, or cuSOLVER and MAGMA, and torch's transforms.

The functions named `_ex` tell which matrix is bad instead of raising, so the error is the same
sentence as NumPy's.  To ask waits for the GPU: such a program is not recorded as a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from byparts_graph_ir import TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.table import NAMES, Tensor, Tensors, allocates, kernels
from byparts_linalg.determinant import Cofactor, Det, SlogDet
from byparts_linalg.factor import Cholesky, Qr
from byparts_linalg.fourier import Fft, Irfft, Rfft
from byparts_linalg.matrices import OfMatrices, refused
from byparts_linalg.registry import OPS
from byparts_linalg.solve import Inv, Pinv, Solve
from byparts_linalg.spectral import Eigh, Svd
from byparts_linalg.triangle import Triangle

Results = tuple[Tensor, ...]
allocates.update(dict.fromkeys(OPS.values(), "torch computes it apart: what it returns is copied"))


def _cholesky(op: Cholesky, a: Tensor) -> Results:
    y, info = torch.linalg.cholesky_ex(a if op.lower else (a + a.mT) / 2)
    _check(op, a, info != 0)
    return (y.tril(),)


def _inv(op: Inv, a: Tensor) -> Results:
    y, info = torch.linalg.inv_ex(a)
    _check(op, a, info != 0)
    return (y,)


def _solve(op: Solve, a: Tensor, b: Tensor) -> Results:
    if not op.triangle:
        x, info = torch.linalg.solve_ex(a.mT if op.transpose else a, b)
        _check(op, a, info.broadcast_to(a.shape[:-2]) != 0 if info.dim() <= a.dim() - 2 else info)
        return (x,)
    _check(op, a, (a.diagonal(dim1=-2, dim2=-1) == 0).any(-1))
    part = a.tril() if op.triangle == "lower" else a.triu()
    upper = (op.triangle == "upper") != op.transpose
    turned = part.mT if op.transpose else part
    return (torch.linalg.solve_triangular(turned, b, upper=upper),)


def _pinv(op: Pinv, a: Tensor) -> Results:
    _check_finite(op, a)
    return (torch.linalg.pinv(a, rtol=op.rtol),)


def _det(op: Det, a: Tensor) -> Results:
    return (torch.linalg.det(a),)


def _cofactor(op: Cofactor, a: Tensor) -> Results:
    _check_finite(op, a)
    u, s, vh = torch.linalg.svd(a)
    eye = torch.eye(s.shape[-1], dtype=torch.bool, device=a.device)
    others = torch.where(eye, 1, s[..., None, :]).prod(-1)  # [..., n]
    sign = (torch.linalg.det(u) * torch.linalg.det(vh)).round()
    return ((u * (sign[..., None] * others)[..., None, :]) @ vh,)


def _slogdet(op: SlogDet, a: Tensor) -> Results:
    sign, log = torch.linalg.slogdet(a)
    return sign, log


def _qr(op: Qr, a: Tensor) -> Results:
    q, r = torch.linalg.qr(a, "complete" if op.complete else "reduced")
    diagonal = r.diagonal(dim1=-2, dim2=-1)
    sign = torch.ones((*q.shape[:-2], q.shape[-1]), dtype=a.dtype, device=a.device)
    sign[..., : diagonal.shape[-1]] = torch.where(diagonal < 0, -1, 1)
    return q * sign[..., None, :], (r * sign[..., :, None]).triu()


def _eigh(op: Eigh, a: Tensor) -> Results:
    _check_finite(op, a)
    both = (a + a.mT) / 2
    if not op.vectors:
        return (torch.linalg.eigvalsh(both),)
    w, v = torch.linalg.eigh(both)
    return w, v * _signs(v)


def _svd(op: Svd, a: Tensor) -> Results:
    _check_finite(op, a)
    if not op.vectors:
        return (torch.linalg.svdvals(a),)
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    sign = _signs(u)
    return u * sign, s, vh * sign.mT


def _triangle(op: Triangle, a: Tensor) -> Results:
    y = a.triu() if op.upper else a.tril()
    if op.diagonal != 1:
        y.diagonal(dim1=-2, dim2=-1).mul_(op.diagonal)
    return (y,)


def _fft(op: Fft, x: Tensor) -> Results:
    f = torch.fft.ifft if op.inverse else torch.fft.fft
    z = torch.view_as_complex(x.contiguous())
    return (torch.view_as_real(f(z, None, op.axis, op.norm)),)


def _rfft(op: Rfft, x: Tensor) -> Results:
    return (torch.view_as_real(torch.fft.rfft(x, None, op.axis, op.norm)),)


def _irfft(op: Irfft, x: Tensor) -> Results:
    return (torch.fft.irfft(torch.view_as_complex(x.contiguous()), op.size, op.axis, op.norm),)


_FUNCTIONS: dict[Any, Callable[..., Results]] = {
    **{Cholesky: _cholesky, Inv: _inv, Solve: _solve, Pinv: _pinv, Det: _det, Cofactor: _cofactor},
    **{SlogDet: _slogdet, Qr: _qr, Eigh: _eigh, Svd: _svd, Triangle: _triangle},
    **{Fft: _fft, Rfft: _rfft, Irfft: _irfft},
}


@kernels.on(*_FUNCTIONS)
def rule(op: Any, inputs: Tensors, outputs: Tensors) -> Run:
    """Torch's function for the op, and a copy."""
    if not any(y.numel() for y in outputs):
        return nothing
    return partial(_run, partial(_FUNCTIONS[type(op)], op, *inputs), tuple(outputs))


def _run(compute: Callable[[], Results], outputs: Results) -> None:
    for y, result in zip(outputs, compute(), strict=True):
        y.copy_(result)


def _check(op: OfMatrices, a: Tensor, bad: Tensor) -> None:
    """Raise MatrixError where a matrix of a is bad: [...].  Waits for the GPU."""
    if bad.any():
        place = tuple(int(i) for i in bad.nonzero()[0])
        raise refused(op, TensorType(NAMES[a.dtype], tuple(a.shape)), place)


def _check_finite(op: OfMatrices, a: Tensor) -> None:
    _check(op, a, ~torch.isfinite(a).all(-1).all(-1))


def _signs(vectors: Tensor) -> Tensor:
    """1 or -1 for each column, as `matrices.with_signs` has them: [..., 1, n]."""
    size = vectors.abs()
    first = (size >= 0.41 * size.amax(-2, keepdim=True)).int().argmax(-2, keepdim=True)
    return torch.where(vectors.gather(-2, first) < 0, -1, 1).to(vectors.dtype)
