"""`tf.py_function`: a Python function of tensors that have their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.effects import py_func
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.symbols import symbol


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
    """What a Python function gives, called at each run; no gradient passes.

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
