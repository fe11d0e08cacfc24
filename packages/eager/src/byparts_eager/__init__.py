"""Arrays that compute at once, and are recorded for gradients or compiled to programs.

The names of the array API standard 2024.12 are here too.  A name's module is imported when the name
is first used.
"""

import byparts_eager.methods
import byparts_eager.operators
import byparts_eager.remember  # noqa: F401  # these two give arrays their meaning
from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_eager.array import Array as Array, asarray as asarray
    from byparts_eager.cell import Cell as Cell, changed as changed
    from byparts_eager.compile import compile as compile, shapes_from_call as shapes_from_call
    from byparts_eager.control import cond as cond, scan as scan, while_loop as while_loop
    from byparts_eager.dtype import DTYPES as DTYPES, DType as DType
    from byparts_eager.function import Function as Function
    from byparts_eager.gradient import (
        grad as grad,
        jvp as jvp,
        value_and_grad as value_and_grad,
        vjp as vjp,
    )
    from byparts_eager.promotion import result_type as result_type
    from byparts_eager.random import Random as Random
    from byparts_eager.standard.creation import *  # noqa: F403
    from byparts_eager.standard.data_types import *  # noqa: F403
    from byparts_eager.standard.elementwise import *  # noqa: F403
    from byparts_eager.standard.extensions import fft as fft, linalg as linalg
    from byparts_eager.standard.indexing import *  # noqa: F403
    from byparts_eager.standard.info import (
        __array_api_version__ as __array_api_version__,
        __array_namespace_info__ as __array_namespace_info__,
        e as e,
        inf as inf,
        nan as nan,
        newaxis as newaxis,
        pi as pi,
    )
    from byparts_eager.standard.linear import *  # noqa: F403
    from byparts_eager.standard.manipulation import *  # noqa: F403
    from byparts_eager.standard.searching import *  # noqa: F403
    from byparts_eager.standard.statistics import *  # noqa: F403
    from byparts_eager.standard.utility import *  # noqa: F403
    from byparts_eager.state import (
        record as record,
        training as training,
        training_mode as training_mode,
    )
    from byparts_eager.trace import depends_on as depends_on

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        {"standard.extensions": "fft linalg"},  # found where byparts-linalg is installed
        array="Array asarray",
        dtype="DTYPES DType",
        cell="Cell changed",
        state="record training training_mode",
        gradient="grad jvp value_and_grad vjp",
        compile="compile shapes_from_call",
        trace="depends_on",
        control="cond scan while_loop",
        random="Random",
        function="Function",
        promotion="result_type",
        **{
            "standard.creation": (
                "arange empty empty_like eye from_dlpack full full_like linspace meshgrid ones "
                "ones_like tril triu zeros zeros_like"
            ),
            "standard.data_types": (
                "astype bfloat16 bool can_cast finfo float16 float32 float64 iinfo int16 int32 "
                "int64 int8 isdtype uint16 uint32 uint64 uint8"
            ),
            "standard.elementwise": (
                "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert "
                "bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clip conj "
                "copysign cos cosh divide equal exp expm1 floor floor_divide greater "
                "greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p "
                "log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum "
                "multiply negative nextafter not_equal positive pow real reciprocal remainder "
                "round sign signbit sin sinh sqrt square subtract tan tanh trunc"
            ),
            "standard.indexing": "take take_along_axis",
            "standard.info": "__array_api_version__ __array_namespace_info__ e inf nan newaxis pi",
            "standard.linear": "matmul matrix_transpose tensordot vecdot",
            "standard.manipulation": (
                "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims "
                "repeat reshape roll squeeze stack tile unstack"
            ),
            "standard.searching": (
                "argmax argmin argsort count_nonzero nonzero searchsorted sort unique_all "
                "unique_counts unique_inverse unique_values where"
            ),
            "standard.statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
            "standard.utility": "all any diff",
        },
    )
