"""Strings and numbers: what strings say, buckets of strings, numbers as strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.strings.strings import mapped, of_each, strings
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, float32, int64, string
from byparts_tf_files.fingerprint import fingerprint64, murmur64, sip_hash


def _number(s: bytes, dtype: DType) -> Any:
    try:
        if dtype.is_integer:
            made = int(s)
            if not dtype.min <= made <= dtype.max:
                raise ValueError
            return made
        return float(s)
    except ValueError:
        text = s.decode(errors="replace")
        raise ValueError(f"StringToNumberOp could not correctly convert string: {text}") from None


_NUMBER = Kind(
    "StringToNumber",
    host=lambda a, dtype: of_each(a, lambda s: _number(s, dtype), dtype.as_numpy_dtype),
    shape=like_first,
    dtype=lambda inputs, dtype: dtype,
    gradient=False,
)


@symbol("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: Optional[str] = None,
    input: Any = None,
) -> Tensor:
    """The number that each string is.

    Raises at run time:
        InvalidArgumentError: one is none.
    """
    x = strings(string_tensor if input is None else input)
    return _NUMBER(x, name=name, dtype=as_dtype(out_type))


def _bucket(type: str, hashed: Callable[..., int]) -> Callable[..., Tensor]:
    kind = mapped(type, lambda s, count, **given: hashed(s, **given) % count, int64)

    def apply(
        input: Any = None,
        num_buckets: Optional[int] = None,
        name: Optional[str] = None,
        string_tensor: Any = None,
    ) -> Tensor:
        x = strings(string_tensor if input is None else input)
        return kind(x, name=name, count=_buckets(num_buckets))

    apply.__name__ = apply.__qualname__ = type
    apply.__doc__ = f"The bucket, of `num_buckets`, that each string is in, as `{type}` says."
    return apply


def _buckets(count: Optional[int]) -> int:
    if count is None or int(count) < 1:
        raise ValueError(f"num_buckets must be at least 1, and is {count}")
    return int(count)


string_to_hash_bucket_fast = _bucket("StringToHashBucketFast", fingerprint64)
string_to_hash_bucket = _bucket("StringToHashBucket", murmur64)
_STRONG = mapped("StringToHashBucketStrong", lambda s, count, key: sip_hash(key, s) % count, int64)


@symbol("string_to_hash_bucket_strong", "strings.to_hash_bucket_strong")
def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Sequence[int], name: Optional[str] = None
) -> Tensor:
    """The bucket that each string is in by SipHash under a key of two numbers."""
    return _STRONG(strings(input), name=name, count=_buckets(num_buckets), key=tuple(key))


def _shown(value: Any, template: str) -> bytes:
    if isinstance(value, (bool, np.bool_)):
        return b"true" if value else b"false"
    if isinstance(value, (complex, np.complexfloating)):
        return f"({template % value.real},{template % value.imag})".encode()
    return str(template % value).encode()


_AS_STRING = Kind(
    "AsString",
    host=lambda a, template: of_each(a.astype(object), lambda v: _shown(v, template)),
    shape=like_first,
    dtype=string,
    gradient=False,
)


@symbol("as_string", "strings.as_string", "dtypes.as_string")
def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: Optional[str] = None,
) -> Tensor:
    """Numbers as strings, as C's printf writes them.

    Args:
        input: numbers or bools.
        precision: digits after the point, of floats.
        scientific: with an exponent.
        shortest: with an exponent where that is shorter.
        width: the least number of characters.
        fill: what makes it so wide, by default spaces.
        name: of the operation.

    Raises:
        ValueError: both scientific and shortest; more than one character to fill; a precision of
            integers.
    """
    x = convert_to_tensor(input, name="input")
    floats = x.dtype.is_floating or x.dtype.is_complex
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise ValueError(f"Fill string must be one or fewer characters, and is {fill!r}")
    if precision >= 0 and not floats:
        raise ValueError(f"precision not supported for datatype {x.dtype.name}")
    if x.dtype.base_dtype is string:
        raise TypeError("as_string takes numbers and bools, and these are strings")
    template = f"%{fill}{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}"
    letter = ("e" if scientific else "g" if shortest else "f") if floats else "d"
    return _AS_STRING(x, name=name, template=template + letter)


SYMBOLS = {
    "string_to_hash_bucket_fast": "string_to_hash_bucket_fast",
    "strings.to_hash_bucket_fast": "string_to_hash_bucket_fast",
    "string_to_hash_bucket": "string_to_hash_bucket",
    "strings.to_hash_bucket": "string_to_hash_bucket",
}
