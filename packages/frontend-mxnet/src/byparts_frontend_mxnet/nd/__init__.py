"""`mx.nd`: arrays, and every op of the table by its name."""

from __future__ import annotations

from sys import modules
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np

from byparts_eager import Array
from byparts_frontend_mxnet.context import Context
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.nd.array import NDArray, invoke, operate
from byparts_frontend_mxnet.nd.storage import Storage
from byparts_frontend_mxnet.operator import custom_entry
from byparts_frontend_mxnet.ops import find, table
from byparts_frontend_mxnet.ops.elementwise import OPERATORS
from byparts_weights import load as _load_file, save as _save_file


def array(source_array: Any, ctx: Optional[Context] = None, dtype: Any = None) -> NDArray:
    """A new array of numbers; f32 by default, whatever NumPy's array is."""
    kept = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    elements = np.asarray(
        source_array.asnumpy() if isinstance(source_array, NDArray) else source_array
    )
    return NDArray(Array(elements.astype(dtype or kept)), ctx)


def full(shape: Any, val: float, ctx: Any = None, dtype: Any = None, out: Any = None) -> NDArray:
    """An array of one number."""
    y = NDArray(Array(np.full(shape, val, dtype or np.float32)), ctx)
    if out is None:
        return y
    out[:] = y
    return out  # type: ignore[no-any-return]


def zeros(shape: Any, ctx: Any = None, dtype: Any = None, **keywords: Any) -> NDArray:
    """An array of 0."""
    return full(shape, 0, ctx, dtype, **keywords)


def ones(shape: Any, ctx: Any = None, dtype: Any = None, **keywords: Any) -> NDArray:
    """An array of 1."""
    return full(shape, 1, ctx, dtype, **keywords)


empty = zeros


def arange(
    start: float, stop: Any = None, step: float = 1.0, repeat: int = 1, ctx: Any = None,
    dtype: Any = None,
) -> NDArray:  # fmt: skip
    """Numbers from start up to stop, each `repeat` times."""
    y = np.arange(start, stop, step) if stop is not None else np.arange(0, start, step)
    return NDArray(Array(np.repeat(y, repeat).astype(dtype or np.float32)), ctx)


def moveaxis(tensor: NDArray, source: int, destination: int) -> NDArray:
    """One axis moved to another place."""
    order = [a for a in range(tensor.ndim) if a != source % tensor.ndim]
    order.insert(destination % tensor.ndim, source % tensor.ndim)
    return tensor.transpose(order)  # type: ignore[no-any-return]


def concatenate(arrays: Any, axis: int = 0, always_copy: bool = True) -> NDArray:
    """Arrays one after the other along an axis."""
    return invoke(find("concat"), arrays, {"dim": axis})  # type: ignore[no-any-return]


def waitall() -> None:
    """Compute all that waits."""
    if Storage.flush is not None:
        Storage.flush()


def save(fname: str, data: Any) -> None:
    """Write arrays, in a list or by name, to a file of safetensors."""
    if isinstance(data, NDArray):
        data = [data]
    named = data if isinstance(data, dict) else {f"list:{i}": x for i, x in enumerate(data)}
    _save_file(fname, {name: x.asnumpy() for name, x in named.items()})


def load(fname: str) -> Any:
    """The arrays of a file that `save` wrote: a list, or a dict of names."""
    named = {n: NDArray(Array(np.asarray(x))) for n, x in _load_file(fname).items()}
    if all(n.startswith("list:") for n in named):
        return [named[f"list:{i}"] for i in range(len(named))]
    return named


def _function(name: str) -> Any:
    """The function `nd.name`."""
    if name in OPERATORS:
        return lambda lhs, rhs: operate(name, lhs, rhs)
    if name == "Custom":
        return _custom
    if name not in table:
        raise unknown("mx.nd", name, [*table, *OPERATORS, *globals()])

    def call(*args: Any, **keywords: Any) -> Any:
        return invoke(table[name], args, keywords)

    call.__name__, call.__doc__ = name, table[name].function.__doc__
    return call


def _custom(*args: Any, op_type: str, **keywords: Any) -> Any:
    """An op that `mx.operator.register` knows."""
    arrays = {k: v for k, v in keywords.items() if isinstance(v, NDArray)}
    rest = {k: v for k, v in keywords.items() if k not in arrays and k != "name"}
    return invoke(custom_entry(op_type, rest), args, arrays)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("_internal", "op"):  # where MXNet keeps ops, some of them hidden
        return modules[__name__]
    globals()[name] = function = _function(name)
    return function


_RANDOM = ("uniform", "normal", "exponential", "randint", "multinomial", "shuffle")
random = SimpleNamespace(**{name: _function(name) for name in _RANDOM})
contrib = SimpleNamespace(**{name: _function(name) for name in ("ctc_loss", "CTCLoss")})

__all__ = [
    "MXNetError", "NDArray", "arange", "array", "concatenate", "empty", "full", "load", "ones",
    "random", "save", "waitall", "zeros",
]  # fmt: skip
