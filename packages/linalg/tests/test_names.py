"""The names of the array API standard 2024.12."""

from __future__ import annotations

from types import ModuleType

import pytest

import byparts_linalg
from byparts_graph_ir import Backend
from byparts_graph_ir.lazy_names import homes
from byparts_graph_ir.parts.hub import parts
from byparts_linalg import fft
from byparts_linalg.registry import OPS

LINALG = """cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"""
FFT = """fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift
ifftshift"""


@pytest.mark.parametrize(("module", "names"), [(byparts_linalg, LINALG), (fft, FFT)])
def test_every_name_of_the_standard_is_there(module: ModuleType, names: str) -> None:
    assert [name for name in names.split() if not callable(getattr(module, name, None))] == []


def test_every_public_name_is_there() -> None:
    names = [*homes("byparts_linalg")]

    assert [name for name in names if not hasattr(byparts_linalg, name)] == []


def test_the_hub_finds_the_ops() -> None:
    assert {name: parts.ops()[name] for name in OPS} == OPS


def test_kernels_of_all_ops_are_found(backend: Backend) -> None:
    """And one is made without a hand that wires it."""
    assert all(op in backend.kernels for op in OPS.values())
