"""The API of TVM's slides of 2017 over the steps of `Schedule`.

    import byparts_tensor_ir.schedule.facade as tvm

    A, B = tvm.placeholder((n,), "A"), tvm.placeholder((n,), "B")
    C = tvm.compute((n,), lambda i: A[i] + B[i], "C")
    s = tvm.create_schedule(C.op)
    xo, xi = s[C].split(s[C].op.axis[0], factor=32)
    s[C].vectorize(xi)
    print(tvm.lower(s, [A, B, C]))

Each call is done at once, as a step of a `Schedule` that `s.schedule` keeps, and refused at once.
`lower` and `build` do the same steps again on the function of the given arguments.  A loop is its
name; where a loop is asked for, an axis of the tensor's rule stands for the loop made of it.

Other than in TVM, `compute_at` comes before the loops of the block that moves are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from byparts_tensor_ir.build import build as build_func
from byparts_tensor_ir.compile import EMITTERS
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.functions import (
    call as call,
    cast as cast,
    maximum,
    minimum,
    select as select,
)
from byparts_tensor_ir.intrinsic import Intrinsic, intrinsic
from byparts_tensor_ir.lower import computation_order, lower as lower_tensors, tensor_names
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.schedule.stages import TensorSchedule, ThreadAxis
from byparts_tensor_ir.statement import THREADS, Func
from byparts_tensor_ir.tensor import (
    Operation,
    Tensor as Tensor,
    argmax as argmax,
    argmin as argmin,
    comm_reducer as comm_reducer,
    compute as compute,
    max as greatest,
    min as least,
    placeholder as placeholder,
    prod as prod,
    reduce_axis as reduce_axis,
    scan as scan,
    sum as sum,
    var as var,
)


def thread_axis(dom: Union[str, int, tuple[int, int]], tag: str = "") -> ThreadAxis:
    """`thread_axis("threadIdx.x")`, or with an extent `thread_axis((0, 32), "threadIdx.x")`.

    Raises:
        ScheduleError: no such thread axis, or its first thread is not 0.
    """
    name, bounds = (dom, None) if isinstance(dom, str) else (tag, dom)
    low, high = bounds if isinstance(bounds, tuple) else (0, bounds)
    if name not in THREADS or low != 0:
        raise ScheduleError(f"thread_axis {name!r} from {low}: one of {', '.join(THREADS)} from 0")
    return ThreadAxis(name, high)


@dataclass(frozen=True)
class Operand:
    """An operand of an intrinsic, as its C code names it."""

    name: str
    rank: int

    @property
    def strides(self) -> tuple[str, ...]:
        """The names of the numbers of elements from one index to the next."""
        return tuple([f"{self.name}_{d}" for d in range(self.rank)])

    def access_ptr(self, _mode: str) -> str:
        """The name of the address of the first element."""
        return self.name


Code = Union[str, tuple[str, ...]]


def decl_tensor_intrin(
    op: Operation,
    code: Callable[[Sequence[Operand], Sequence[Operand]], Code],
    name: str = "tensor_intrin",
) -> Intrinsic:
    """An intrinsic that computes what `op` does.

    Args:
        op: of a tensor; the placeholders that it reads, in this order, are the inputs.
        code: C code of (inputs, outputs); of several, (compute, reset, update), the last is taken:
            a reduction is added to what the output holds, and plain loops reset it.
        name: as printed.

    Raises:
        ExpressionError: see `intrinsic.intrinsic`.
    """
    order = computation_order([op.tensor])
    names = tensor_names(order)
    operands = [Operand(names[x], len(x.shape)) for x in order]
    codes = code(operands[:-1], operands[-1:])
    return intrinsic(name, order, codes[-1] if isinstance(codes, tuple) else codes)


def hardware_intrin(name: str, *arguments: str) -> str:
    """C code that calls an instruction or function of this name."""
    return f"{name}({', '.join(arguments)});"


def max(a: Any, b: Any, where: Expr | None = None) -> Any:
    """The greater of two elements, or the greatest over reduction axes."""
    return greatest(a, b, where) if _is_reduction(a, b) else maximum(a, b)


def min(a: Any, b: Any, where: Expr | None = None) -> Any:
    """The lesser of two elements, or the least over reduction axes."""
    return least(a, b, where) if _is_reduction(a, b) else minimum(a, b)


def _is_reduction(a: Any, b: Any) -> bool:
    """Whether an element is given and the axes to reduce it over."""
    return isinstance(a, Expr) and (isinstance(b, Sequence) or getattr(b, "op", "") == "var")


def create_schedule(
    ops: Union[Operation, Tensor, Sequence[Union[Operation, Tensor]]],
) -> TensorSchedule:
    """The schedule of the plain loops that compute these tensors and all that they read."""
    several = ops if isinstance(ops, Sequence) else [ops]
    return TensorSchedule([x.tensor if isinstance(x, Operation) else x for x in several])


def lower(s: TensorSchedule, args: Sequence[Tensor], name: str = "main") -> Func:
    """The function of these arguments, after the steps of the schedule.

    Raises:
        ScheduleError: a step is refused because an argument is a tensor that the step moved.
        ExpressionError: a placeholder is missing from the arguments.
    """
    names = {**tensor_names(computation_order(args)), **s.names}
    return Schedule(lower_tensors(args, name, names)).replay(s.schedule.steps).func


def build(
    s: TensorSchedule, args: Sequence[Tensor], target: str | None = None, name: str = "main"
) -> Callable[..., None]:
    """Compile `lower(s, args, name)`: f(*arrays) writes the outputs in place.

    Raises:
        ScheduleError: no such target; `build.EMITTERS` has them.
        CompilerError: there is no compiler.
    """
    if target not in (None, *EMITTERS):
        raise ScheduleError(f"build for {target!r}: targets are {', '.join(EMITTERS)}")
    run: Callable[..., None] = build_func(lower(s, args, name), emitter=target)
    return run
