"""Families of functions: what elementwise functions of one and of two tensors have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature
from typing import Any, Optional, Union

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import broadcast, like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import graph_of_values
from byparts_tf_files.dtypes import DType

Function = Callable[..., Any]
OfTensors = Callable[..., Tensor]

HALVES = ("bfloat16", "float16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *INTEGERS, *COMPLEX)


def check_dtype(t: Tensor, allowed: Collection[str], argument: str = "x") -> Tensor:
    """The tensor.

    Raises:
        TypeError: its dtype is none of those allowed.
    """
    name = t.dtype.base_dtype.name
    if name not in allowed:
        raise TypeError(
            f"Value passed to parameter {argument!r} has DataType {name} not in list of allowed "
            f"values: {', '.join(allowed)}"
        )
    return t


def unary(
    type: str,
    meaning: Optional[Function],
    allowed: Collection[str] = FLOATS,
    argument: str = "x",
    *,
    dtype: Union[DType, Function, None] = None,
    gradient: bool = True,
    host: Optional[Function] = None,
) -> OfTensors:
    """A function of one tensor, element by element.

    Args:
        type: TensorFlow's name of the operation.
        meaning: as of `Kind`.
        allowed: the dtypes it takes.
        argument: TensorFlow's name of the argument.
        dtype: of the result; by default that of the argument.
        gradient: whether one passes.
        host: as of `Kind`, for dtypes that only arrays have.
    """
    kind = Kind(type, meaning, host=host, shape=like_first, dtype=dtype, gradient=gradient)

    def apply(*arguments: TensorLike, **named: Any) -> Tensor:
        given = dict(zip((argument, "name"), arguments, strict=False)) | named
        if argument not in given:
            raise TypeError(f"{type}: argument {argument!r} is missing")
        x = convert_to_tensor(given.pop(argument), name=argument)
        name = given.pop("name", None)
        if given:
            raise TypeError(f"{type}: got an unexpected keyword argument {next(iter(given))!r}")
        return kind(check_dtype(x, allowed, argument), name=name)

    apply.__name__ = apply.__qualname__ = type
    apply.__doc__ = f"TensorFlow's `{type}`, element by element."
    vars(apply)["__signature__"] = Signature(
        [
            Parameter(argument, Parameter.POSITIONAL_OR_KEYWORD),
            Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, default=None),
        ]
    )
    return apply


def binary(
    type: str,
    meaning: Optional[Function],
    allowed: Collection[str] = NUMBERS,
    *,
    dtype: Optional[DType] = None,
    gradient: bool = True,
    host: Optional[Function] = None,
) -> OfTensors:
    """A function of two tensors of one dtype, repeated to one shape; arguments as of `unary`."""
    kind = Kind(type, meaning, host=host, shape=broadcast, dtype=dtype, gradient=gradient)

    def apply(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Tensor:
        x, y, name = pair(x, y, type, name)
        if x.dtype.is_complex:
            from byparts_frontend_tf.api.math.complex_parts import by_parts  # few are complex

            made = by_parts(type, x, y, name)
            if made is not None:
                return made
        return kind(check_dtype(x, allowed), y, name=name)

    apply.__name__ = apply.__qualname__ = type
    apply.__doc__ = f"TensorFlow's `{type}`, element by element."
    return apply


def pair(
    x: TensorLike, y: TensorLike, type: str, name: Optional[str]
) -> tuple[Tensor, Tensor, Optional[str]]:
    """Two arguments as tensors of one dtype: that of the first; and the name of what reads them.

    Raises:
        TypeError: the second is of another dtype.
        ValueError: they are of two graphs.
    """
    if x.__class__ is not Tensor or y.__class__ is not Tensor:
        graph = graph_of_values((x, y))
        with graph.as_default(), graph.name_scope(type if name is None else name) as scope:
            x = convert_to_tensor(x, name="x")
            y = second(y, x.dtype.base_dtype, type)
        name = scope
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise mismatch(type, x.dtype, y.dtype)
    return x, y, name


def second(y: TensorLike, dtype: DType, type: str, name: str = "y") -> Tensor:
    """An argument that has to be of the dtype of the one before.

    Raises:
        TypeError: it is not.
    """
    try:
        return convert_to_tensor(y, dtype, name)
    except ValueError as error:
        if "requested dtype" in str(error):
            raise mismatch(type, dtype, y.dtype) from None
        raise


def mismatch(type: str, x: DType, y: DType) -> TypeError:
    """The error for arguments of two dtypes."""
    return TypeError(
        f"Input 'y' of {type!r} Op has type {y.base_dtype.name} that does not match type "
        f"{x.base_dtype.name} of argument 'x'."
    )
