"""Effects on the world, and Python functions: `Print`, `Assert`, `py_func`, `check_numerics`.

What is printed and checked is a result of the program: it happens when the program has run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.passing import group, identity
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.errors import InvalidArgumentError, OpError, error_of_python


def shown(array: Any, summarize: int) -> str:
    """The first elements, as TensorFlow prints them: `[[1 2]...]`."""
    array = np.asarray(array)
    if array.ndim == 0:
        return shown_scalar(array[()])
    most = array.size if summarize < 0 else summarize
    text, _ = _nested(array, most)
    return text


def _nested(array: Any, left: int) -> tuple[str, int]:
    if array.ndim == 1:
        some = [shown_scalar(v) for v in array[:left]]
        more = "..." if len(array) > left else ""
        return f"[{' '.join(some)}{more}]", left - len(some)
    parts: list[str] = []
    for row in array:
        if left <= 0:
            return f"[{''.join(parts)}...]", 0
        text, left = _nested(row, left)
        parts.append(text)
    return f"[{''.join(parts)}]", left


def shown_scalar(value: Any) -> str:
    """A number with as few digits as TensorFlow: 6 (of f64 15) if they say it, else 9 (17)."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if not isinstance(value, (float, np.floating)):
        return str(value)
    wide = isinstance(value, float)  # NumPy's f64, too
    few = f"{value:.15g}" if wide else f"{value:.6g}"
    kind = float if wide else np.float32
    return few if kind(few) == kind(value) or value != value else f"{value:.{17 if wide else 9}g}"


def _print(lowering: Any, op: Operation) -> Optional[Value]:
    message, summarize = op.attributes["message"], op.attributes["summarize"]
    first_n, printed = op.attributes["first_n"], [0]

    def show(*arrays: Any) -> None:
        printed[0] += 1
        if first_n is None or first_n < 0 or printed[0] <= first_n:
            line = message + "".join([f"[{_inner(a, summarize)}]" for a in arrays])
            print(line, file=sys.stderr)

    lowering.afterwards(op, show, op.inputs[1:])
    (x,) = op.inputs[:1]
    if not x.dtype.own:  # a text has no place in the graph
        lowering.run.call(op, lambda text: text, [x], [x.dtype.as_numpy_dtype])
        return None
    return ops.identity(lowering.value(x, op))


def _inner(array: Any, summarize: int) -> str:
    text = shown(array, summarize)
    return text[1:-1] if np.ndim(array) == 1 else text


PRINT = Kind("Print", special=_print, shape=like_first)


@symbol("Print")
def Print(  # noqa: N802  # TensorFlow's name
    input_: TensorLike,
    data: Any,
    message: Optional[str] = None,
    first_n: Optional[int] = None,
    summarize: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """The tensor; when it is computed, `message` and `data` are printed to standard error."""
    return PRINT(
        convert_to_tensor(input_),
        *[convert_to_tensor(d) for d in data],
        name=name,
        message=message or "",
        first_n=first_n,
        summarize=3 if summarize is None else summarize,
    )


def _assert(lowering: Any, op: Operation) -> None:
    summarize = op.attributes["summarize"]

    def check(holds: Any, *data: Any) -> None:
        if not np.all(holds):
            text = " ".join([f"[{shown(d, summarize)}]" for d in data])
            raise InvalidArgumentError(None, op, f"assertion failed: {text}")

    lowering.afterwards(op, check, op.inputs)


ASSERT = Kind("Assert", special=_assert, shape=lambda inputs, summarize: [], dtype=())


@symbol("Assert", "debugging.Assert")
def Assert(  # noqa: N802  # TensorFlow's name
    condition: TensorLike,
    data: Any,
    summarize: Optional[int] = None,
    name: Optional[str] = None,
) -> Operation:
    """An operation that fails, with `data`, unless the condition holds.

    Raises at run time:
        InvalidArgumentError: it does not.
    """
    inputs = [convert_to_tensor(condition), *[convert_to_tensor(d) for d in data]]
    return ASSERT.operation(inputs, name, summarize=3 if summarize is None else summarize)


def _check_numerics(lowering: Any, op: Operation) -> Value:
    x, message = lowering.value(op.inputs[0], op), op.attributes["message"]

    def check(finite: Any, has_nan: Any) -> None:
        if not finite:
            what = "NaN" if has_nan else "Inf"
            raise InvalidArgumentError(None, op, f"{message} : Tensor had {what} values")

    lowering.afterwards(op, check, [ops.all(ops.is_finite(x)), ops.any(ops.is_nan(x))])
    return ops.identity(x)


CHECK_NUMERICS = Kind("CheckNumerics", special=_check_numerics, shape=like_first)


@symbol("check_numerics", "debugging.check_numerics")
def check_numerics(tensor: TensorLike, message: str, name: Optional[str] = None) -> Tensor:
    """The tensor.

    Raises at run time:
        InvalidArgumentError: an element is not finite.
    """
    return CHECK_NUMERICS(convert_to_tensor(tensor), name=name, message=message)


@symbol("verify_tensor_all_finite")
def verify_tensor_all_finite(
    t: TensorLike = None, msg: Optional[str] = None, name: Optional[str] = None, **given: Any
) -> Tensor:
    """The tensor, checked as by `check_numerics`."""
    x, message = given.get("x", t), given.get("message", msg)
    return check_numerics(x, message or "", name)


@symbol("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """An operation that checks all tensors of floating point made so far."""
    ops_ = [op for op in get_default_graph().get_operations() if op.body is None]
    floats = [t for op in ops_ for t in op.outputs if t.dtype.is_floating and t.variable is None]
    return group(*[check_numerics(t, t.name) for t in floats])


def _called(*arrays: Any, function: Callable[..., Any], dtypes: Sequence[Any]) -> Any:
    try:
        made = function(*[np.asarray(a)[()] for a in arrays])  # 0-d: NumPy's scalars, bytes
    except OpError:
        raise
    except Exception as error:
        raise error_of_python(error) from error
    if not dtypes:
        return None
    results = made if isinstance(made, (list, tuple)) else [made]
    if len(results) != len(dtypes):
        raise ValueError(f"the function gives {len(results)} values, Tout says {len(dtypes)}")
    converted = [_result(r, d) for r, d in zip(results, dtypes, strict=True)]
    return converted[0] if len(dtypes) == 1 else converted


def _result(given: Any, dtype: Any) -> Any:
    if dtype.name == "string":
        array = np.asarray(given)
        flat = [s.encode() if isinstance(s, str) else bytes(s) for s in array.reshape(-1).tolist()]
        made = np.empty(array.shape, object)
        made.reshape(-1)[:] = flat
        return made
    array = np.asarray(given)
    known = isinstance(given, (np.ndarray, np.generic))
    if known and array.dtype != np.dtype(dtype.as_numpy_dtype):
        raise TypeError(f"py_func: a value of dtype {array.dtype}, Tout says {dtype.name}")
    return array.astype(dtype.as_numpy_dtype)


PY_FUNC = Kind(
    "PyFunc",
    host=_called,
    shape=lambda inputs, function, dtypes: [None] * len(dtypes),
    dtype=lambda inputs, function, dtypes: list(dtypes),
    gradient=False,
)


@symbol("py_func", "numpy_function")
def py_func(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,  # noqa: N803  # TensorFlow's name
    stateful: bool = True,
    name: Optional[str] = None,
) -> Any:
    """What a Python function of arrays gives, called at each run; no gradient passes.

    Args:
        func: takes arrays, gives arrays.
        inp: tensors.
        Tout: a dtype, or a list of them: of what it gives; for none the operation is given.
        stateful: accepted.
        name: of the operation.
    """
    kinds = [as_dtype(t) for t in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]
    inputs = [convert_to_tensor(t) for t in inp]
    op = PY_FUNC.operation(inputs, name, function=func, dtypes=tuple(kinds))
    if not kinds:
        return op
    return list(op.outputs) if isinstance(Tout, (list, tuple)) else op.outputs[0]


@symbol("with_dependencies", "contrib.framework.with_dependencies")
def with_dependencies(
    dependencies: Any, output_tensor: TensorLike, name: Optional[str] = None
) -> Any:
    """The tensor, when these have run."""
    with name_scope(name, "control_dependency", []) as scope, control_dependencies(dependencies):
        return identity(convert_to_tensor(output_tensor), name=scope)
