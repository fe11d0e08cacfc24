"""`tf.py_func` and `tf.py_function`: Python functions of arrays, and of tensors with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.errors import OpError, error_of_python


@symbol("python.framework.ops.EagerTensor")
class EagerTensor(np.ndarray):
    """An array with the one method by which programs ask a tensor for its value."""

    def numpy(self) -> Any:
        """The value: an array; a number or bytes of rank 0."""
        return np.asarray(self)[()] if self.ndim == 0 else np.asarray(self)


@symbol("py_function", "contrib.eager.py_func")
def py_function(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,  # noqa: N803  # TensorFlow's name
    name: Optional[str] = None,
) -> Any:
    """Call a Python function of tensors at each run; no gradient passes.

    Args:
        func: takes tensors that have `numpy()`; what it makes of them by functions of `tf` is run.
        inp: tensors.
        Tout: a dtype, or a list of them: of what it gives.
        name: of the operation.
    """

    def called(*arrays: Any) -> Any:
        with Graph().as_default():
            made = func(*[np.asarray(a).view(EagerTensor) for a in arrays])
            leaves = flatten(made)
            if not any(isinstance(leaf, Tensor) for leaf in leaves):
                return made
            with Session() as session:
                values = [
                    session.run(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves
                ]
        return pack_sequence_as(made, values)

    return py_func(called, inp, Tout, name=name or "EagerPyFunc")


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
    """Call a Python function of arrays at each run; no gradient passes.

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
