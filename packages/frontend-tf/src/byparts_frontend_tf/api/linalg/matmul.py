"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers
from byparts_frontend_tf.api.elementwise import NUMBERS, check_dtype, mismatch, second
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, broadcast_dims, same
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import ShapeError, TensorType, Value
from byparts_opset import Einsum
from byparts_tf_files.shape import Dims, shown


def _matmul(a: Value, b: Value, transpose_a: bool, transpose_b: bool) -> Value:
    return ops.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _product(inputs: Sequence[Tensor], *, transpose_a: bool, transpose_b: bool) -> Dims:
    a, b = inputs[0].dims, inputs[1].dims
    if a is None or b is None:
        known = a if b is None else b
        return (
            None
            if known is None or len(known) > 2
            else (
                None if a is None else a[-1 if transpose_a else -2],
                None if b is None else b[-2 if transpose_b else -1],
            )
        )
    if len(a) < 2 or len(b) < 2:
        raise ValueError(f"Shape must be rank 2 but is rank {min(len(a), len(b))} for 'MatMul'")
    rows, inner = (a[-1], a[-2]) if transpose_a else (a[-2], a[-1])
    inner_b, columns = (b[-1], b[-2]) if transpose_b else (b[-2], b[-1])
    if None not in (inner, inner_b) and inner != inner_b:
        raise ValueError(
            f"Dimensions must be equal, but are {inner} and {inner_b} for 'MatMul' (op: "
            f"'MatMul') with input shapes: {shown(a)}, {shown(b)}."
        )
    batch = broadcast_dims(a[:-2], b[:-2])
    return None if batch is None else (*batch, rows, columns)


MATMUL = Kind("MatMul", _matmul, shape=_product)
BATCH_MATMUL = Kind("BatchMatMulV2", _matmul, shape=_product)


@symbol(
    *("matmul", "linalg.matmul", "batch_matmul"),
    "python.ops.linalg.linear_operator_util.matmul_with_broadcast",
)
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """The products of matrices: a [..., m, k], b [..., k, n], or with these axes exchanged.

    Raises:
        ValueError: the shapes do not fit.
        TypeError: the dtypes differ.
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of transpose and adjoint can be True.")
    if a.__class__ is not Tensor or b.__class__ is not Tensor:
        with name_scope(name, "MatMul", [a, b]) as name:
            a = convert_to_tensor(a, name="a")
            b = second(b, a.dtype.base_dtype, "MatMul", "b")
    if a.dtype.base_dtype is not b.dtype.base_dtype:
        raise mismatch("MatMul", a.dtype, b.dtype)
    check_dtype(a, NUMBERS, "a")
    many = any(t.dims is not None and len(t.dims) > 2 for t in (a, b))
    made: Tensor = (BATCH_MATMUL if many else MATMUL)(
        a,
        b,
        name=name or "MatMul",
        transpose_a=bool(transpose_a or adjoint_a),
        transpose_b=bool(transpose_b or adjoint_b),
    )
    if (a_is_sparse or b_is_sparse) and made.dims is None:
        made.set_shape((None, None))
    return made


@symbol("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Products summed by an equation: "ij,jk->ik"."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(kwargs)}")
    tensors = [convert_to_tensor(t) for t in inputs]
    equation = _spelled_out(equation.replace(" ", ""), tensors)
    if "->" not in equation:
        letters = equation.replace(",", "")
        equation += "->" + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return EINSUM(*tensors, name=name or "einsum", equation=equation)


def _spelled_out(equation: str, tensors: Sequence[Tensor]) -> str:
    """The equation with letters for the axes that "..." stands for."""
    if "..." not in equation:
        return equation
    given, arrow, result = equation.partition("->")
    terms = given.split(",")
    free = [c for c in ascii_letters if c not in equation]
    most = 0
    for i, (term, t) in enumerate(zip(terms, tensors, strict=True)):
        if "..." in term:
            if t.dims is None:
                raise ValueError("einsum: the rank of what '...' stands for is not known")
            count = len(t.dims) - len(term) + 3
            most = max(most, count)
            terms[i] = term.replace("...", "".join(free[-count:] if count else []))
    shared = "".join(free[-most:] if most else [])
    if not arrow:
        letters = given.replace(",", "").replace(".", "")
        result = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return ",".join(terms) + "->" + result.replace("...", shared)


def _einsum_shape(inputs: Sequence[Tensor], *, equation: str) -> Dims:
    try:
        types = [TensorType("f32", t.dims) for t in inputs]
        return Einsum(equation).infer(*types)[0].shape  # type: ignore[return-value]  # no names
    except ShapeError as error:
        raise ValueError(str(error)) from error


EINSUM = Kind("Einsum", lambda *xs, equation: ops.einsum(equation, *xs), shape=_einsum_shape)


def _contracted(a: Value, b: Value, of_a: tuple[int, ...], of_b: tuple[int, ...]) -> Value:
    """Products summed over pairs of axes, as one product of matrices."""
    left = [i for i in range(len(a.type.dims)) if i not in of_a]
    right = [i for i in range(len(b.type.dims)) if i not in of_b]
    inner = int(np.prod([a.type.dims[i] for i in of_a]))
    rows, columns = [a.type.dims[i] for i in left], [b.type.dims[i] for i in right]
    x = ops.reshape(ops.transpose(a, [*left, *of_a]), [int(np.prod(rows)), inner])
    y = ops.reshape(ops.transpose(b, [*of_b, *right]), [inner, int(np.prod(columns))])
    return ops.reshape(ops.matmul(x, y), [*rows, *columns])


def _contracted_at_run(a: Value, b: Value, of_a: Any, of_b: Any) -> Value:
    axes = [
        tuple([axis_of(i, len(t.type.dims)) for i in axis]) if isinstance(axis, tuple) else axis
        for axis, t in ((of_a, a), (of_b, b))
    ]
    if isinstance(of_a, int):
        rank = len(a.type.dims)
        axes = [tuple(range(rank - of_a, rank)), tuple(range(of_a))]
    return _contracted(a, b, *axes)


def _contracted_shape(inputs: Sequence[Tensor], *, of_a: Any, of_b: Any) -> Dims:
    a, b = inputs[0].dims, inputs[1].dims
    if a is None or b is None:
        return None
    if isinstance(of_a, int):
        of_a, of_b = tuple(range(len(a) - of_a, len(a))), tuple(range(of_a))
    gone = [{axis_of(i, len(d)) for i in axes} for axes, d in ((of_a, a), (of_b, b))]
    for i, j in zip(of_a, of_b, strict=True):
        if None not in (a[i], b[j]) and a[i] != b[j]:
            raise ValueError(f"Dimensions must be equal, but are {a[i]} and {b[j]} for 'Tensordot'")
    kept = [
        tuple([d for i, d in enumerate(dims) if i not in g])
        for dims, g in zip((a, b), gone, strict=True)
    ]
    return (*kept[0], *kept[1])


TENSORDOT = Kind("Tensordot", _contracted_at_run, shape=_contracted_shape)


@symbol("tensordot", "linalg.tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: Optional[str] = None) -> Tensor:
    """Products summed over axes: the last of a and the first of b, or those that are given.

    Raises:
        ValueError: they do not fit.
    """
    with name_scope(name, "Tensordot", [a, b]) as scope:
        x = convert_to_tensor(a, name="a")
        y = second(b, x.dtype.base_dtype, "Tensordot", "b")
        if isinstance(axes, Tensor):
            known = static_value(axes)
            axes = axes if known is None else known.tolist()
        if isinstance(axes, int):
            return TENSORDOT(x, y, name=scope, of_a=axes, of_b=axes)
        if isinstance(axes, Tensor) or len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        of_a, of_b = (numbers(part, "tensordot: the axes") for part in axes)
        if len(of_a) != len(of_b):
            raise ValueError(f"Different number of contraction axes 'a' and 'b': {axes}")
        return TENSORDOT(x, y, name=scope, of_a=of_a, of_b=of_b)


def _crossed(a: Value, b: Value) -> Value:
    axis = len(a.type.dims) - 1
    turns = [ops.constant(np.array(turn)) for turn in ((1, 2, 0), (2, 0, 1))]
    (a1, b1), (a2, b2) = [[ops.gather(t, turn, axis) for t in (a, b)] for turn in turns]
    return a1 * b2 - a2 * b1


CROSS = Kind("Cross", _crossed, shape=same)


@symbol("linalg.matvec")
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """The products of matrices [..., m, k] and vectors [..., k]."""
    with name_scope(name, "MatVec", [a, b]):
        column = convert_to_tensor(b)[..., None]
        made: Tensor = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)[..., 0]
        return made


@symbol("cross", "linalg.cross")
def cross(a: TensorLike, b: TensorLike, name: Optional[str] = None) -> Tensor:
    """The cross products of vectors [..., 3].

    Raises:
        ValueError: shapes differ.
    """
    x = convert_to_tensor(a)
    return CROSS(x, second(b, x.dtype.base_dtype, "Cross", "b"), name=name)
