"""Strings, on the host: joined, cut, changed.

Strings are bytes; with `unit="UTF8_CHAR"` they are counted in characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.elementwise import check_dtype
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import broadcast, like_first, reduced
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, bool_, int32, string


def of_each(array: Any, function: Callable[[bytes], Any], dtype: Any = object) -> Any:
    """An array of what a function gives for each string."""
    array = np.asarray(array, object)
    made = np.empty(array.shape, dtype)
    made.reshape(-1)[:] = [function(s) for s in array.reshape(-1)]
    return made


def strings(given: TensorLike, argument: str = "input") -> Tensor:
    """A tensor of strings.

    Raises:
        TypeError: it is of another dtype.
    """
    return check_dtype(convert_to_tensor(given, name=argument), ("string",), argument)


def mapped(type: str, function: Callable[..., Any], dtype: DType = string) -> Kind:
    """A kind that computes each string of its first input by itself."""
    kind = object if dtype is string else dtype.as_numpy_dtype

    def host(array: Any, *_: Any, **given: Any) -> Any:
        return of_each(array, lambda s: function(s, **given), kind)

    return Kind(type, host=host, shape=like_first, dtype=dtype, gradient=False)


def _cased(s: bytes, encoding: str, upper: bool) -> bytes:
    if encoding.lower() == "utf-8":
        text = s.decode("utf-8", "replace")
        return (text.upper() if upper else text.lower()).encode()
    return s.upper() if upper else s.lower()


_CASE = mapped("StringLower", _cased)
_STRIP = mapped("StringStrip", lambda s: s.strip())
_LENGTH = mapped(
    "StringLength",
    lambda s, unit: len(_counted(s, unit)),
    int32,
)


def _counted(s: bytes, unit: str) -> Any:
    """The string as a row of what is counted: bytes, or characters."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be BYTE or UTF8_CHAR, and is {unit!r}")
    return s if unit == "BYTE" else s.decode("utf-8", "replace")


@symbol("strings.lower")
def lower(input: TensorLike, encoding: str = "", name: Optional[str] = None) -> Tensor:
    """Strings in small letters: ASCII's, or all with `encoding="utf-8"`."""
    return _CASE(strings(input), name=name, encoding=encoding, upper=False)


@symbol("strings.upper")
def upper(input: TensorLike, encoding: str = "", name: Optional[str] = None) -> Tensor:
    """Strings in capital letters: ASCII's, or all with `encoding="utf-8"`."""
    return _CASE(strings(input), name=name or "StringUpper", encoding=encoding, upper=True)


@symbol("strings.strip", "string_strip")
def string_strip(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """Strings without white space at both ends."""
    return _STRIP(strings(input), name=name)


@symbol("strings.length")
def string_length(input: TensorLike, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:
    """The length of each string, in bytes or in characters."""
    return _LENGTH(strings(input), name=name, unit=unit)


def _join(*arrays: Any, separator: bytes) -> Any:
    spread = np.broadcast_arrays(*arrays)
    rows = zip(*[a.reshape(-1) for a in spread], strict=True)
    made = np.empty(spread[0].shape, object)
    made.reshape(-1)[:] = [separator.join(row) for row in rows]
    return made


_JOIN = Kind("StringJoin", host=_join, shape=lambda i, separator: broadcast(i), gradient=False)


def _bytes(given: Any) -> bytes:
    return given.encode() if isinstance(given, str) else bytes(given)


@symbol("string_join", "strings.join")
def string_join(inputs: Any, separator: Any = "", name: Optional[str] = None) -> Tensor:
    """The strings of several tensors of one shape (or of none) joined, element by element."""
    return _JOIN(*[strings(i, "inputs") for i in inputs], name=name, separator=_bytes(separator))


def _reduce_join(array: Any, axes: Any, keepdims: bool, separator: bytes) -> Any:
    array = np.asarray(array, object)
    order = range(array.ndim)[::-1] if axes is None else [a % array.ndim for a in axes]
    rest = [a for a in range(array.ndim) if a not in order]
    rows = np.transpose(array, [*rest, *order[::-1]]).reshape(*[array.shape[a] for a in rest], -1)
    made = np.empty(rows.shape[:-1], object)
    for at in np.ndindex(*made.shape):
        made[at] = separator.join(rows[at])
    return (
        made.reshape([1 if i in order else n for i, n in enumerate(array.shape)])
        if keepdims
        else made
    )


_REDUCE_JOIN = Kind("ReduceJoin", host=_reduce_join, shape=reduced, gradient=False)


@symbol("reduce_join", "strings.reduce_join")
def reduce_join(
    inputs: TensorLike,
    axis: Any = None,
    keep_dims: Optional[bool] = None,
    separator: Any = "",
    name: Optional[str] = None,
    reduction_indices: Any = None,
    keepdims: Optional[bool] = None,
) -> Tensor:
    """The strings along axes joined; the first of these changes the fastest.  By default all."""
    axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
    x = strings(inputs, "inputs")
    axes = None if axis is None else numbers(axis, "reduce_join: the axes")
    return _REDUCE_JOIN(
        x,
        name=name,
        axes=axes,
        keepdims=bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims")),
        separator=_bytes(separator),
    )


def _part(s: bytes, at: int, count: int, unit: str) -> bytes:
    text = _counted(s, unit)
    if not -len(text) <= at <= len(text):
        raise ValueError(f"pos {at} out of range for string b'{s.decode(errors='replace')}'")
    start = at + len(text) if at < 0 else at
    part: Any = text[start : start + max(0, count)]
    return bytes(part) if unit == "BYTE" else bytes(part.encode())


def _substr(array: Any, pos: Any, count: Any, unit: str) -> Any:
    spread = np.broadcast_arrays(np.asarray(array, object), pos, count)
    rows = zip(*[a.reshape(-1) for a in spread], strict=True)
    made = np.empty(spread[0].shape, object)
    made.reshape(-1)[:] = [_part(s, int(p), int(n), unit) for s, p, n in rows]
    return made


_SUBSTR = Kind("Substr", host=_substr, shape=lambda i, unit: broadcast(i), gradient=False)


@symbol("substr", "strings.substr")
def substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    name: Optional[str] = None,
    unit: str = "BYTE",
) -> Tensor:
    """The part of each string of so many bytes from `pos` on; a negative one counts from the end.

    Raises at run time:
        InvalidArgumentError: it begins outside.
    """
    return _SUBSTR(
        strings(input), convert_to_tensor(pos), convert_to_tensor(len), name=name, unit=unit
    )


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _replaced(array: Any, pattern: Any, rewrite: Any, everywhere: bool) -> Any:
    found = _compiled(bytes(np.asarray(pattern, object)[()]))
    new = bytes(np.asarray(rewrite, object)[()]).replace(rb"\0", rb"\g<0>")
    return of_each(array, lambda s: found.sub(new, s, 0 if everywhere else 1))


_REPLACE = Kind("RegexReplace", host=_replaced, shape=like_first, gradient=False)


@symbol("regex_replace", "strings.regex_replace")
def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    r"""Strings in which what a regular expression finds is replaced; \1 is its first group."""
    inputs = strings(input), strings(pattern, "pattern"), strings(rewrite, "rewrite")
    return _REPLACE(*inputs, name=name, everywhere=bool(replace_global))


_MATCH = Kind(
    "RegexFullMatch",
    host=lambda a, p: of_each(a, lambda s: _compiled(bytes(p[()])).fullmatch(s) is not None, bool),
    shape=like_first,
    dtype=bool_,
    gradient=False,
)


@symbol("strings.regex_full_match")
def regex_full_match(input: TensorLike, pattern: TensorLike, name: Optional[str] = None) -> Tensor:
    """Whether a regular expression finds the whole string."""
    return _MATCH(strings(input), strings(pattern, "pattern"), name=name)


_UNICODE = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def _transcoded(s: bytes, source: str, target: str, errors: str, char: int) -> bytes:
    if errors == "strict":
        text = s.decode(_UNICODE.get(source, source))
    elif errors == "ignore":
        text = s.decode(_UNICODE.get(source, source), "ignore")
    else:
        text = s.decode(_UNICODE.get(source, source), "replace").replace("\ufffd", chr(char))
    return text.encode(_UNICODE[target])


_TRANSCODE = mapped("UnicodeTranscode", _transcoded)


@symbol("strings.unicode_transcode")
def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Strings of one encoding in another."""
    return _TRANSCODE(
        strings(input),
        name=name,
        source=input_encoding,
        target=output_encoding,
        errors=errors,
        char=replacement_char,
    )
