"""`tf.assert_equal` and the like: at once where the values are known, else when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.debugging.check_numerics import Assert
from byparts_frontend_tf.api.identity import no_op
from byparts_frontend_tf.api.math.binary import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
)
from byparts_frontend_tf.api.math.reduce import reduce_all, reduce_any
from byparts_frontend_tf.api.shape import rank as rank_of
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, float32
from byparts_tf_files.errors import InvalidArgumentError

Assertion = Callable[..., Operation]


def _comparison(name_: str, compare: Any, on_arrays: Any, sign: str) -> Assertion:
    def assertion(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: Optional[int] = None,
        message: Optional[str] = None,
        name: Optional[str] = None,
    ) -> Operation:
        with name_scope(name, name_, [x, y]):
            a = convert_to_tensor(x, name="x")
            b = convert_to_tensor(y, None if hasattr(y, "dtype") else a.dtype.base_dtype, "y")
            said = f"Condition x {sign} y did not hold element-wise:"
            known, other = static_value(a), static_value(b)
            if known is not None and other is not None:
                if not np.all(on_arrays(known, other)):
                    raise InvalidArgumentError(None, None, f"{message or ''}{said} {a}, {b}")
                return no_op("static_checks_determined_all_ok")
            given = [message or "", said, f"x ({a.name}) = ", a, f"y ({b.name}) = ", b]
            shown = [constant(v) if isinstance(v, str) else v for v in data or given]
            return Assert(reduce_all(compare(a, b)), shown, summarize)

    assertion.__name__ = assertion.__qualname__ = name_
    assertion.__doc__ = f"Assert that x {sign} y, element by element; an operation to depend on."
    return assertion


assert_equal = _comparison("assert_equal", equal, np.equal, "==")
assert_none_equal = _comparison("assert_none_equal", not_equal, np.not_equal, "!=")
assert_less = _comparison("assert_less", less, np.less, "<")
assert_less_equal = _comparison("assert_less_equal", less_equal, np.less_equal, "<=")
assert_greater = _comparison("assert_greater", greater, np.greater, ">")
assert_greater_equal = _comparison("assert_greater_equal", greater_equal, np.greater_equal, ">=")


def _with_zero(name_: str, check: Assertion, first: bool) -> Assertion:
    def assertion(
        x: Any,
        data: Any = None,
        summarize: Optional[int] = None,
        message: Optional[str] = None,
        name: Optional[str] = None,
    ) -> Operation:
        t = convert_to_tensor(x)
        zero = cast(constant(0), t.dtype.base_dtype)
        pair = (zero, t) if first else (t, zero)
        return check(*pair, data=data, summarize=summarize, message=message, name=name or name_)

    assertion.__name__ = assertion.__qualname__ = name_
    assertion.__doc__ = f"`{name_}`: of each element; an operation to depend on."
    return assertion


assert_positive = _with_zero("assert_positive", assert_less, True)
assert_non_negative = _with_zero("assert_non_negative", assert_less_equal, True)
assert_negative = _with_zero("assert_negative", assert_less, False)
assert_non_positive = _with_zero("assert_non_positive", assert_less_equal, False)


def _of_rank(name_: str, holds: Callable[[int, int], bool], check: Assertion) -> Assertion:
    def assertion(
        x: Any,
        rank: Any,
        data: Any = None,
        summarize: Optional[int] = None,
        message: Optional[str] = None,
        name: Optional[str] = None,
    ) -> Operation:
        t, wanted = convert_to_tensor(x), static_value(convert_to_tensor(rank))
        if t.dims is not None and wanted is not None:
            if not holds(len(t.dims), int(wanted)):
                raise ValueError(
                    f"{message or ''} Tensor {t.name} must have rank {int(wanted)}.  Received rank "
                    f"{len(t.dims)}, shape {t.get_shape()}"
                )
            return no_op("static_checks_determined_all_ok")
        return check(rank_of(t), rank, data, summarize, message, name or name_)

    assertion.__name__ = assertion.__qualname__ = name_
    assertion.__doc__ = f"`{name_}`: of how many axes x has; an operation to depend on."
    return assertion


assert_rank = _of_rank("assert_rank", lambda a, b: a == b, assert_equal)
assert_rank_at_least = _of_rank("assert_rank_at_least", lambda a, b: a >= b, assert_greater_equal)


@symbol("assert_near", "debugging.assert_near")
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: Optional[int] = None,
    message: Optional[str] = None,
    name: Optional[str] = None,
) -> Operation:
    """Assert that |x - y| < atol + rtol |y|; both are ten times the precision of x by default."""
    with name_scope(name, "assert_near", [x, y]):
        a = convert_to_tensor(x, name="x")
        b = convert_to_tensor(y, a.dtype.base_dtype, "y")
        precision = 10 * np.finfo(a.dtype.as_numpy_dtype).eps
        relative = precision if rtol is None else cast(rtol, a.dtype.base_dtype)
        limit = (precision if atol is None else cast(atol, a.dtype.base_dtype)) + relative * abs(b)
        said = [message or "", f"x and y not equal to tolerance: {a.name}", a, b.name, b]
        shown = [constant(v) if isinstance(v, str) else v for v in data or said]
        return Assert(reduce_all(less(abs(a - b), limit)), shown, summarize)


@symbol("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: Any,
    ranks: Any,
    data: Any = None,
    summarize: Optional[int] = None,
    message: Optional[str] = None,
    name: Optional[str] = None,
) -> Operation:
    """Assert that x has as many axes as one of `ranks` says; an operation to depend on.

    Raises:
        ValueError: it is known to have not.
    """
    with name_scope(name, "assert_rank_in", [x]):
        t = convert_to_tensor(x)
        wanted = [convert_to_tensor(r) for r in ranks]
        known = [int(v) for v in map(static_value, wanted) if v is not None]
        if t.dims is None or len(known) < len(wanted):
            held = reduce_any(stack([equal(rank_of(t), r) for r in wanted]))
            said = [message or "", f"Tensor {t.name} must have rank in", *wanted]
            return Assert(held, [constant(v) if isinstance(v, str) else v for v in said], summarize)
        if len(t.dims) not in known:
            raise ValueError(
                f"{message or ''} Tensor {t.name} must have rank in {tuple(known)}.  "
                f"Received rank {len(t.dims)}, shape {t.get_shape()}"
            )
        return no_op("static_checks_determined_all_ok")


@symbol("assert_integer", "debugging.assert_integer")
def assert_integer(x: Any, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
    """Nothing, where a tensor is of integers.

    Raises:
        TypeError: it is not.
    """
    with name_scope(name, "assert_integer", [x]):
        t = convert_to_tensor(x, name="x")
        if not t.dtype.is_integer:
            raise TypeError(
                f'{message or ""}Expected "x" to be integer type.  Found: {t.dtype} of {t.name}'
            )
        return no_op("statically_determined_was_integer")


@symbol("assert_same_float_dtype", "debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The dtype of floating-point numbers that all of `tensors` have; float32 for none.

    Raises:
        ValueError: they have several, or another one.
    """
    for t in [t for t in tensors or () if t is not None]:
        dtype = t.dtype.base_dtype if dtype is None else as_dtype(dtype)
        if t.dtype.base_dtype is not dtype.base_dtype:
            raise ValueError(f"Expected {dtype}, got {t.dtype.base_dtype} of tensor '{t}'.")
    wanted = float32 if dtype is None else as_dtype(dtype).base_dtype
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


@symbol("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raise unless it is a list, a tuple or the like of tensors.

    Raises:
        TypeError: it is a tensor, an array, a text, or cannot be gone through.
    """
    alone = isinstance(values, (Tensor, np.ndarray, bytes, str)) or hasattr(values, "_as_tensor")
    if alone or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be iterable.  Found: {type(values)}")


@symbol("assert_type", "debugging.assert_type")
def assert_type(
    tensor: Any, tf_type: Any, message: Optional[str] = None, name: Optional[str] = None
) -> Operation:
    """Nothing, where a tensor is of a dtype.

    Raises:
        TypeError: it is of another one.
    """
    t = convert_to_tensor(tensor)
    if t.dtype.base_dtype is not as_dtype(tf_type).base_dtype:
        raise TypeError(f"{message or ''} {t.name} must be of type {as_dtype(tf_type)!r}")
    return no_op("statically_determined_correct_type")


@symbol("assert_scalar", "debugging.assert_scalar")
def assert_scalar(tensor: Any, name: Optional[str] = None, message: Optional[str] = None) -> Any:
    """The tensor.

    Raises:
        ValueError: it is known to have an axis.
    """
    t = convert_to_tensor(tensor)
    if t.dims:
        raise ValueError(f"Expected scalar shape for {t.name}, saw shape: {t.get_shape()}.")
    return t


_ASSERTIONS = (
    *("equal", "none_equal", "less", "less_equal", "greater", "greater_equal", "positive"),
    *("non_negative", "negative", "non_positive", "rank", "rank_at_least"),
)
SYMBOLS = {
    f"{place}assert_{what}": f"assert_{what}"
    for place in ("", "debugging.")
    for what in _ASSERTIONS
}


@symbol("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    if not isinstance(tensor, Tensor):
        return False
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_complex
