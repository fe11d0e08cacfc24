"""TensorFlow's debugger, `tensorflow.python.debug`: programs that offer it import, and run without.

`has_inf_or_nan` is what its filters call; a session under the debugger is refused when it is made.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from byparts_frontend_tf.symbols import symbol


@symbol("python.debug.has_inf_or_nan")
def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether an array of numbers has one that is not finite."""
    array = np.asarray(tensor)
    return array.dtype.kind in "fc" and not bool(np.isfinite(array).all())


class _Refused:
    def __init__(self, *args: object, **settings: object) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: there is no debugger here; run without it, "
            "and fetch what you want to see"
        )


@symbol("python.debug.LocalCLIDebugWrapperSession")
class LocalCLIDebugWrapperSession(_Refused):
    """A session under the debugger in the terminal."""


@symbol("python.debug.DumpingDebugWrapperSession")
class DumpingDebugWrapperSession(_Refused):
    """A session that writes all tensors into files."""


@symbol("python.debug.TensorBoardDebugWrapperSession")
class TensorBoardDebugWrapperSession(_Refused):
    """A session under TensorBoard's debugger."""


@symbol("python.debug.LocalCLIDebugHook")
class LocalCLIDebugHook(_Refused):
    """The debugger in the terminal, as a hook."""


@symbol("python.debug.DumpingDebugHook")
class DumpingDebugHook(_Refused):
    """A hook that writes all tensors into files."""


@symbol("python.debug.TensorBoardDebugHook")
class TensorBoardDebugHook(_Refused):
    """TensorBoard's debugger, as a hook."""
