"""Arrays that compute at once, and are recorded for gradients or compiled to programs."""
from byparts_eager.operators import *  # noqa
from byparts_eager.array import Array, asarray
from byparts_eager.cell import Cell, changed
from byparts_eager.compile import compile, shapes_from_call
from byparts_eager.control import cond, while_loop, scan
from byparts_eager.dtype import DTYPES, DType
from byparts_eager.function import Function
from byparts_eager.gradient import value_and_grad, grad, vjp, jvp
from byparts_eager.random import Random
from byparts_eager.state import record, training, training_mode
from byparts_eager.trace import depends_on
float32, float64, int64, int32, bool = (DTYPES[d] for d in ("f32","f64","i64","i32","bool"))
__version__ = "0.2.0"
