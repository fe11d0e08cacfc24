"""Arrays that compute at once, and are recorded for gradients or compiled to programs."""

import byparts_eager.operators
import byparts_eager.remember  # noqa: F401  # these two let arrays be called: methods of `Array`
from byparts_eager.array import Array as Array, asarray as asarray
from byparts_eager.cell import Cell as Cell, changed as changed
from byparts_eager.compile import (  # as JAX's jit
    compile as compile,
    shapes_from_call as shapes_from_call,
)
from byparts_eager.control import cond as cond, scan as scan, while_loop as while_loop
from byparts_eager.dtype import DTYPES as DTYPES, DType as DType
from byparts_eager.function import Function as Function
from byparts_eager.gradient import (
    grad as grad,
    jvp as jvp,
    value_and_grad as value_and_grad,
    vjp as vjp,
)
from byparts_eager.random import Random as Random
from byparts_eager.state import (
    record as record,
    training as training,
    training_mode as training_mode,
)
from byparts_eager.trace import depends_on as depends_on

__version__ = "0.2.0"
