"""Tensor expressions: what is computed, without saying how.

    m, n, h = var("m"), var("n"), var("h")
    A = placeholder((m, h), name="A")
    B = placeholder((n, h), name="B")
    k = reduce_axis((0, h), name="k")
    C = compute((m, n), lambda i, j: sum(A[i, k] * B[j, k], axis=k), name="C")

A tensor is a buffer with a rule for its elements; `lower` makes the plain loops that compute it,
and `schedule` rewrites those.  After Halide (Ragan-Kelley et al., PLDI 2013) and TVM (Chen et al.,
OSDI 2018), whose names for these functions are kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

from byparts_tensor_ir.expression import (
    BYTES,
    FLOATS,
    INDEX,
    Expr,
    ExpressionError,
    Operand,
    as_expr,
    const,
    variable,
)
from byparts_tensor_ir.functions import cast, fma, maximum, minimum, select
from byparts_tensor_ir.statement import Buffer, Reducer

Elements = Union[Expr, "Reduction"]


@dataclass(frozen=True, eq=False)
class Reduction:
    """The combination of all `values` over the axes; the whole rule of an element.

    Attributes:
        reducer: how two combine.
        values: one expression for each value of the reducer.
        axes: reduction variables.
        where: elements for which it is false do not take part; `None` for all.
    """

    reducer: Reducer
    values: tuple[Expr, ...]
    axes: tuple[Expr, ...]
    where: Expr | None = None


@dataclass(frozen=True, eq=False)
class Tensor(Buffer):
    """A buffer and the rule of its elements.

    Attributes:
        axes: a variable for each dimension, as the rule writes them.
        rule: an expression or a reduction over `axes`; `None` for a placeholder.
        group: all tensors that one rule makes together, in order.
        recurrence: of a scan, what makes its first and its later elements.
    """

    axes: tuple[Expr, ...] = ()
    rule: Elements | None = None
    group: tuple[Tensor, ...] = ()
    recurrence: Recurrence | None = None

    __repr__ = Buffer.__repr__

    def __call__(self, *index: Operand) -> Expr:
        """The element at this index, as `self[index]`."""
        return self[index]

    @property
    def op(self) -> Operation:
        """The operation that computes the tensor."""
        return Operation(self)


@dataclass(frozen=True)
class Operation:
    """The rule of a tensor and its axes, by the names that TVM's programs use."""

    tensor: Tensor

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    @property
    def axis(self) -> tuple[Expr, ...]:
        """A variable for each dimension; of a scan, those of its update."""
        r = self.tensor.recurrence
        return self.tensor.axes if r is None else r.update.axes

    @property
    def reduce_axis(self) -> tuple[Expr, ...]:
        """The variables that the rule reduces over."""
        rule = self.tensor.rule
        return rule.axes if isinstance(rule, Reduction) else ()

    def output(self, k: int) -> Tensor:
        """The k-th tensor that the rule computes."""
        return (self.tensor.group or (self.tensor,))[k]


@dataclass(frozen=True, eq=False)
class Recurrence:
    """The first elements along axis 0, and how each later one follows from earlier ones."""

    init: Tensor
    update: Tensor
    state: Tensor


def var(name: str = "n") -> Expr:
    """A size that is known when the function is called."""
    return variable(name)


def placeholder(shape: Sequence[Operand], name: str = "placeholder", dtype: str = "f32") -> Tensor:
    """A tensor that the caller gives.

    Raises:
        ExpressionError: no such dtype.
    """
    if dtype not in BYTES:
        raise ExpressionError(f"{name}: no dtype {dtype!r}; one of {', '.join(BYTES)}")
    return Tensor(name, tuple([as_expr(d) for d in shape]), dtype)


def reduce_axis(bounds: Union[Operand, tuple[int, Operand]], name: str = "k") -> Expr:
    """A variable to reduce over: an extent, or (first, one past the last)."""
    low, high = bounds if isinstance(bounds, tuple) else (0, bounds)
    return variable(name, as_expr(high) - low, low)


def compute(
    shape: Union[Operand, Sequence[Operand]],
    rule: Callable[..., Union[Elements, tuple[Elements, ...]]],
    name: str = "compute",
) -> Tensor:
    """The tensor whose element at (i, j, ...) is `rule(i, j, ...)`.

    Args:
        shape: extents; numbers, sizes or expressions of sizes.
        rule: of one variable for each dimension; an expression, or a reduction; a tuple of
            expressions gives a tensor that `group` follows (a reduction of several values too).
        name: of the tensor and of its loops: `C_i` for the argument `i` of the rule of `C`.

    Raises:
        ExpressionError: the rule does not take as many variables, or does not return elements.
    """
    extents = tuple([as_expr(d) for d in (shape if isinstance(shape, Sequence) else (shape,))])
    names = _argument_names(rule, len(extents), name)
    axes = tuple([variable(f"{name}_{a}", d) for a, d in zip(names, extents, strict=True)])
    result = rule(*axes)
    elements: list[Union[Elements]] = list(result) if isinstance(result, tuple) else [result]
    if isinstance(result, Reduction):
        elements = [result] * len(result.values)
    group: list[Tensor] = []
    for k, element in enumerate(elements):
        if not isinstance(element, (Expr, Reduction)):
            raise ExpressionError(f"the rule of {name} returned {element!r}, not an expression")
        if isinstance(element, Expr) and element.dtype == INDEX:
            element = cast(element, "i64")  # a tensor holds values
        dtype = element.values[k].dtype if isinstance(element, Reduction) else element.dtype
        own = name if len(elements) == 1 else f"{name}{k}"
        group.append(Tensor(own, extents, dtype, axes=axes, rule=element))
    for tensor in group:
        object.__setattr__(tensor, "group", tuple(group))  # they name each other
    return group[0]


def _argument_names(rule: Callable[..., object], rank: int, name: str) -> list[str]:
    parameters = list(inspect.signature(rule).parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return [f"i{d}" for d in range(rank)]
    if len(parameters) != rank:
        raise ExpressionError(
            f"{name} has {rank} dimensions and its rule takes {len(parameters)} variables"
        )
    return [p.name for p in parameters]


def scan(init: Tensor, update: Tensor, state: Tensor, inputs: Sequence[Tensor] = ()) -> Tensor:
    """A tensor whose rows along axis 0 follow from earlier rows.

    Args:
        init: shape (b, ...), the first b rows.
        update: shape of the state; its element at (t, ...) may read rows of `state` before t.
        state: a placeholder that stands for the result in the rule of `update`.
        inputs: other tensors that the rules read; what is named here is only checked.

    Raises:
        ExpressionError: the shapes do not fit, or an input is not a tensor.
    """
    for x in inputs:
        if not isinstance(x, Tensor):
            raise ExpressionError(f"scan: the input {x!r} is not a tensor")
    if init.shape[1:] != state.shape[1:] or update.shape != state.shape:
        raise ExpressionError(f"scan: init {init}, update {update} and state {state} do not fit")
    return Tensor(
        f"{state.name}_scan", state.shape, state.dtype, recurrence=Recurrence(init, update, state)
    )


# -- reductions -----------------------------------------------------------------------------------

Axes = Union[Expr, Sequence[Expr]]


def _lowest(dtype: str) -> float | int:
    if dtype in FLOATS:
        return float("-inf")
    return 0 if dtype[0] in "ub" else -(1 << (8 * BYTES[dtype] - 1))


def _highest(dtype: str) -> float | int:
    if dtype in FLOATS:
        return float("inf")
    return 1 if dtype == "bool" else (1 << (8 * BYTES[dtype] - (dtype[0] == "i"))) - 1


def _added(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
    """The sum; a product of floats is added with one rounding, as processors do it."""
    new = b[0]
    if new.op == "mul" and new.dtype in FLOATS:
        return (fma(new.args[0], new.args[1], a[0]),)
    return (a[0] + new,)


SUM = Reducer("sum", lambda dtype: (0,), _added)
PROD = Reducer("prod", lambda dtype: (1,), lambda a, b: (a[0] * b[0],))
MAX = Reducer("max", lambda dtype: (_lowest(dtype),), lambda a, b: (maximum(a[0], b[0]),))
MIN = Reducer("min", lambda dtype: (_highest(dtype),), lambda a, b: (minimum(a[0], b[0]),))


def _better(a: Sequence[Expr], b: Sequence[Expr], less: bool) -> tuple[Expr, ...]:
    """The pair (value, position) to keep: NaN first, then the value, then the lower position."""
    wins = (b[0] < a[0]) if less else (a[0] < b[0])
    first = b[1] < a[1]
    if a[0].dtype in FLOATS:
        a_nan, b_nan = ~a[0].equal(a[0]), ~b[0].equal(b[0])
        wins = (wins & ~a_nan) | (b_nan & ~a_nan) | ((b[0].equal(a[0]) | (a_nan & b_nan)) & first)
    else:
        wins = wins | (b[0].equal(a[0]) & first)
    return select(wins, b[0], a[0]), select(wins, b[1], a[1])


_LAST = (1 << 63) - 1
ARGMAX = Reducer("argmax", lambda d: (_lowest(d), _LAST), lambda a, b: _better(a, b, False))
ARGMIN = Reducer("argmin", lambda d: (_highest(d), _LAST), lambda a, b: _better(a, b, True))


def _reduction(
    reducer: Reducer, values: Sequence[Expr], axis: Axes, where: Expr | None
) -> Reduction:
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    if not axes or any(a.op != "var" for a in axes):
        raise ExpressionError(f"{reducer.name}: the axes {axes} are not reduce_axis variables")
    return Reduction(reducer, tuple(values), axes, where)


def sum(e: Expr, axis: Axes, where: Expr | None = None) -> Reduction:
    """The sum over the axes; of no elements 0."""
    return _reduction(SUM, [e], axis, where)


def prod(e: Expr, axis: Axes, where: Expr | None = None) -> Reduction:
    """The product over the axes; of no elements 1."""
    return _reduction(PROD, [e], axis, where)


def max(e: Expr, axis: Axes, where: Expr | None = None) -> Reduction:
    """The greatest over the axes, NaN where one is; of no elements minus infinity."""
    return _reduction(MAX, [e], axis, where)


def min(e: Expr, axis: Axes, where: Expr | None = None) -> Reduction:
    """The least over the axes, NaN where one is; of no elements infinity."""
    return _reduction(MIN, [e], axis, where)


def argmax(e: Expr, axis: Expr) -> Reduction:
    """Two values: the greatest, and the first position (i64) where it stands; NaN counts most."""
    return _reduction(ARGMAX, [e, cast(axis, "i64")], axis, None)


def argmin(e: Expr, axis: Expr) -> Reduction:
    """Two values: the least, and the first position (i64) where it stands; NaN counts most."""
    return _reduction(ARGMIN, [e, cast(axis, "i64")], axis, None)


def comm_reducer(
    combine: Callable[..., Union[Expr, tuple[Expr, ...]]],
    identity: Callable[..., Union[float, tuple[float, ...]]],
    name: str = "reduce",
) -> Callable[..., Reduction]:
    """A reduction of the user's own, of one value or of a tuple of values.

    Args:
        combine: `combine(a, b)`: of two expressions, or of two tuples of them.  Must be associative
            and commutative: steps change the order in which elements combine.
        identity: `identity(dtype)`: x with combine(x, y) = y.
        name: as printed.

    Returns:
        A function `reduce(expression or tuple, axis=..., where=None)`.
    """

    def combined(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
        result = combine(a[0], b[0]) if len(a) == 1 else combine(tuple(a), tuple(b))
        return result if isinstance(result, tuple) else (result,)

    def identities(dtype: str) -> tuple[float, ...]:
        result = identity(dtype)
        return result if isinstance(result, tuple) else (result,)

    reducer = Reducer(name, identities, combined)

    def reduce(
        e: Union[Expr, tuple[Expr, ...]], axis: Axes, where: Expr | None = None
    ) -> Reduction:
        return _reduction(reducer, e if isinstance(e, tuple) else (e,), axis, where)

    return reduce


def identity_values(reducer: Reducer, targets: Sequence[Buffer]) -> tuple[Expr, ...]:
    """The reducer's identity, in the dtypes of the targets."""
    numbers = reducer.identity(targets[0].dtype)
    return tuple([const(n, t.dtype) for n, t in zip(numbers, targets, strict=True)])
