"""What the standard asks of a namespace."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import ArgumentError


def test_the_namespace_of_an_array_is_the_package() -> None:
    x = bp.ones(2)

    assert x.__array_namespace__() is bp
    assert x.__array_namespace__(api_version="2023.12") is bp
    assert bp.__array_api_version__ == "2024.12"
    with pytest.raises(ArgumentError, match=r"api_version='2030\.01'"):
        x.__array_namespace__(api_version="2030.01")


def test_what_the_namespace_has() -> None:
    info = bp.__array_namespace_info__()

    assert info.default_device() in info.devices()
    assert info.capabilities()["boolean indexing"]
    assert info.default_dtypes()["integral"] == bp.arange(2).dtype
    assert info.default_dtypes()["real floating"] == bp.zeros(2).dtype


def test_methods_that_the_standard_asks_for() -> None:
    x = bp.asarray(np.arange(6.0).reshape(2, 3))

    assert (x.ndim, x.size, x.device, x.mT.shape, x.T.shape) == (2, 6, "numpy", (3, 2), (3, 2))
    assert x.to_device("numpy") is x
    assert abs(-x[1, 1]) == x[1, 1]
    assert complex(x[0, 1]) == 1 + 0j
    assert x[1:2, 2].__index__ is not None


def test_code_for_any_namespace_is_traced() -> None:
    """It asks arrays for their namespace and device."""

    def shifted(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.concat([x.to_device(x.device), xp.zeros((1,), dtype=x.dtype, device=x.device)])

    assert bp.compile(shifted)(np.ones(2)).numpy().tolist() == [1, 1, 0]
    assert shifted(bp.ones(2)).numpy().tolist() == [1, 1, 0]


def test_an_extension_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """`hasattr` asks for it, and the error of using it says what to install."""
    monkeypatch.setitem(sys.modules, "byparts_linalg", None)
    monkeypatch.delitem(vars(bp), "linalg", raising=False)

    assert not hasattr(bp, "linalg")
    with pytest.raises(AttributeError, match="pip install byparts-linalg"):
        _ = bp.linalg
