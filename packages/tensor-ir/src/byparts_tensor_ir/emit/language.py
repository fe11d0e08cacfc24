"""A language is tables: names of types, and a form for each operation.

A form is text with operands in braces, `"{a} + {b}"`, or a function of `Fields` that gives the
text.  It is looked up by the operation and the kinds of its dtype, the most special first:

    ("mul", "small")           products of dtypes below 4 bytes
    ("cast", "float", "u64")   from any float to u64
    "mul"                      all others

Kinds of a dtype: itself; "half", "float"; "small" below 4 bytes; "signed" or "unsigned"; "any".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Union

from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.expression import FLOATS, HALVES, VALUE_BYTES, Expr

Form = Union[str, Callable[["Fields"], str]]
_CONVERSIONS = ("cast", "bitcast")


class Forms(dict[object, Form]):
    """Forms by operation, and by kinds of dtypes where they differ."""

    def __init__(self, forms: Mapping[object, Form]) -> None:
        super().__init__(forms)
        self._known: dict[tuple[str, str, str], Form | None] = {}

    def of(self, e: Expr, default: str = "") -> Form:
        """The form of an operation.

        Raises:
            EmitError: there is none; shows the operation.
        """
        key = e.op, e.args[0].dtype if e.op in _CONVERSIONS else "", e.dtype
        if key not in self._known:
            self._known[key] = next((self[k] for k in _keys(*key) if k in self), None)
        form = self._known[key] or default
        if not form:
            raise EmitError(f"{e.op} of {e.dtype} has no form: {e}")
        return form


@dataclass(frozen=True)
class Language:
    """The tables of a language.

    Attributes:
        types: dtype -> the type of an element in memory.
        value_types: dtype -> the type of a value.
        forms: of operations on numbers; "load" and "store" are of an element, "index ..." of
            indices, where the functions of the language differ from those of values.
        literal: a constant.
        statements: of statements, by what they are: "loop", "if", "local", ...
        trim: takes needless parentheses from around a text.
    """

    types: Mapping[str, str]
    value_types: Mapping[str, str]
    forms: Forms
    literal: Callable[[Expr], str]
    statements: Mapping[str, str] = field(default_factory=dict)
    trim: Callable[[str], str] = lambda text: text


class Fields(dict[str, str]):
    """Texts for the braces of forms.

    `a`, `b`, `c` are the operands, `args` all of them, `bare` and `bares` the same without needless
    parentheses; `op`; `dtype` and `source` of the result and of the first operand; `type` and
    `memory` of a value and of an element; `f` ends the names of C's functions of f32; `bits` of the
    dtype, and `last_bit`.  In vectors `v` is the type of the result, `w` that of its arithmetic,
    `i` that of signed integers of as many bytes, `s` that of the first operand.
    """

    def __init__(
        self,
        e: Expr,
        args: Sequence[str],
        language: Language,
        vector: Callable[[str], str] = lambda dtype: dtype,
    ) -> None:
        super().__init__(zip("abcdefgh", args, strict=False))
        self.e, self.texts, self.language, self.vector = e, args, language, vector

    def __missing__(self, name: str) -> str:
        return _FIELDS[name](self)


_FIELDS: dict[str, Callable[[Fields], str]] = {
    "op": lambda x: x.e.op,
    "args": lambda x: ", ".join(x.texts),
    "bare": lambda x: x.language.trim(x.texts[0]),
    "bares": lambda x: ", ".join(map(x.language.trim, x.texts)),
    "dtype": lambda x: x.e.dtype,
    "source": lambda x: x.e.args[0].dtype,
    "type": lambda x: x.language.value_types[x.e.dtype],
    "memory": lambda x: x.language.types[x.e.dtype],
    "f": lambda x: "" if x.e.dtype == "f64" else "f",
    "bits": lambda x: str(8 * VALUE_BYTES[x.e.dtype]),
    "v": lambda x: x.vector(x.e.dtype),
    "w": lambda x: x.vector("f32" if x.e.dtype in HALVES else x.e.dtype),
    "i": lambda x: x.vector(f"i{x['bits']}"),
    "s": lambda x: x.vector(x.e.args[0].dtype),
    "i32": lambda x: x.vector("i32"),
    "i64": lambda x: x.vector("i64"),
    "h": lambda x: x.vector("i16"),
    "last_bit": lambda x: str(8 * VALUE_BYTES[x.e.dtype] - 1),
}


def written(form: Form, fields: Fields) -> str:
    """The text of a form."""
    return form.format_map(fields) if isinstance(form, str) else form(fields)


def _keys(op: str, source: str, dtype: str) -> list[object]:
    """The keys of an operation, the most special first."""
    if not source:
        return [*[(op, kind) for kind in _kinds(dtype)[:-1]], op]
    return [(op, *kinds) for kinds in product(_kinds(source), _kinds(dtype))]


def _kinds(dtype: str) -> list[str]:
    """The dtype, and what it belongs to, the smallest set first."""
    kinds = [dtype]
    kinds += ["half"] if dtype in HALVES else []
    kinds += ["float"] if dtype in FLOATS else []
    kinds += ["small"] if VALUE_BYTES[dtype] < 4 else []
    kinds += ["unsigned"] if dtype[0] == "u" else ["signed"] if dtype[0] == "i" else []
    return [*kinds, "any"]
