"""Facts that the standard asks of a namespace: its version, its dtypes, its devices."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any, Optional

from byparts_eager.dtype import DTYPES, DType
from byparts_eager.kind import device_backend
from byparts_eager.standard.data_types import isdtype
from byparts_graph_ir import ArgumentError, BackendError
from byparts_graph_ir.errors import PartError

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
__array_api_version__ = "2024.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", __array_api_version__)
_STANDARD = ("f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool")


def namespace(api_version: Optional[str] = None) -> ModuleType:
    """The package, which is the namespace of the standard.

    Raises:
        ArgumentError: it is not of this version.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ArgumentError(
            f"api_version={api_version!r}: this namespace is of {__array_api_version__}, and holds "
            f"for {', '.join(_VERSIONS[:-1])}"
        )
    return sys.modules[__name__.partition(".")[0]]  # it imports this module


class Info:
    """The result of `__array_namespace_info__()`."""

    def capabilities(self) -> dict[str, Any]:
        """The abilities of arrays; traced values have neither of the first two."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of arrays of which none is said."""
        return "numpy"

    def devices(self) -> list[str]:
        """The devices that compute single ops here; asking starts each."""
        return [device for device in ("numpy", "torch", "cuda") if _starts(device)]

    def default_dtypes(self, *, device: Optional[str] = None) -> dict[str, Optional[DType]]:
        """The dtypes of numbers of which none is said."""
        integers = {"integral": DTYPES["i64"], "indexing": DTYPES["i64"]}
        return {"real floating": DTYPES["f32"], "complex floating": None, **integers}

    def dtypes(self, *, device: Optional[str] = None, kind: Any = None) -> dict[str, DType]:
        """The dtypes of the standard that arrays have, by name; those of a kind, or all."""
        known = {DTYPES[d].name: DTYPES[d] for d in _STANDARD}
        return {n: d for n, d in known.items() if kind is None or isdtype(d, kind)}


def _starts(device: str) -> bool:
    try:
        device_backend(device)
    except (PartError, BackendError):
        return False
    return True


def __array_namespace_info__() -> Info:  # noqa: N807  # the standard's name
    """The facts of this namespace."""
    return Info()
