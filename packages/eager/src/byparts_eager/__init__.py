"""Arrays that compute at once, and are recorded for gradients or compiled to programs."""

from byparts_eager.array import Array, asarray
from byparts_eager.cell import Cell, changed
from byparts_eager.compile import compile, shapes_from_call  # noqa: A004  # as JAX's jit
from byparts_eager.control import cond, scan, while_loop
from byparts_eager.dtype import DTYPES, DType
from byparts_eager.function import Function
from byparts_eager.gradient import grad, jvp, value_and_grad, vjp
from byparts_eager.operators import binary
from byparts_eager.random import Random
from byparts_eager.remember import remembered
from byparts_eager.state import record, training, training_mode
from byparts_eager.trace import depends_on

__all__ = [
    *("Array", "asarray", "DType", "DTYPES"),
    *("record", "value_and_grad", "grad", "vjp", "jvp"),
    *("Cell", "changed", "depends_on", "training", "training_mode", "Random"),
    *("compile", "shapes_from_call", "cond", "while_loop", "scan", "Function"),
]

__version__ = "0.2.0"
