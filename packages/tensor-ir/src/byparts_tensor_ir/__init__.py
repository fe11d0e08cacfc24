"""A loop-level IR: tensor expressions, checked schedules, generated code.

expression, index   scalar expressions in normal form; bounds
tensor, lower       what is computed; the plain loops that compute it
statement           loops, stores, functions
schedule/           steps from function to function, each checked
vector, vectorize   lanes, masks and partial results; vectorized loops become these
interpret           the meaning, slow
access, placement   where elements and local buffers stand; what is proved to be inside
lane_forms          how values in lanes are computed
emit/               C++ and LLVM IR with explicit vectors, plain C11
compile, jit        the C compiler and its cache; LLVM in this process
"""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_tensor_ir.access import EmitError as EmitError
    from byparts_tensor_ir.build import build as build
    from byparts_tensor_ir.compile import CompilerError as CompilerError
    from byparts_tensor_ir.emit.c import emit_c as emit_c
    from byparts_tensor_ir.expression import Expr as Expr, ExpressionError as ExpressionError
    from byparts_tensor_ir.functions import (
        bitcast as bitcast,
        call as call,
        cast as cast,
        fma as fma,
        maximum as maximum,
        minimum as minimum,
        select as select,
    )
    from byparts_tensor_ir.intrinsic import Intrinsic as Intrinsic, intrinsic as intrinsic
    from byparts_tensor_ir.lower import lower as lower
    from byparts_tensor_ir.schedule.find import ScheduleError as ScheduleError
    from byparts_tensor_ir.schedule.schedule import Schedule as Schedule
    from byparts_tensor_ir.statement import Buffer as Buffer, Func as Func
    from byparts_tensor_ir.tensor import (
        Tensor as Tensor,
        argmax as argmax,
        argmin as argmin,
        comm_reducer as comm_reducer,
        compute as compute,
        max as max,
        min as min,
        placeholder as placeholder,
        prod as prod,
        reduce_axis as reduce_axis,
        scan as scan,
        sum as sum,
        var as var,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        build="build",
        compile="CompilerError",
        expression="Expr ExpressionError",
        functions="bitcast call cast fma maximum minimum select",
        intrinsic="Intrinsic intrinsic",
        lower="lower",
        statement="Buffer Func",
        tensor="Tensor argmax argmin comm_reducer compute max min placeholder prod reduce_axis "
        "scan sum var",
        **{
            "emit.c": "emit_c",
            "access": "EmitError",
            "schedule.find": "ScheduleError",
            "schedule.schedule": "Schedule",
        },
    )

__version__ = "0.2.0"
