"""A schedule: a function and the steps that made it, which can be printed and done again.

s = Schedule(lower([A, B, C], "matmul"))
s.split("C_j", 64).split("C_i", 8).reorder("C_i_o", "C_j_o", "C_k", "C_i_i", "C_j_i")
print(s.func)
Schedule(lower([A, B, C], "matmul")).replay(s.steps)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from byparts_tensor_ir.schedule import cache, loops, place, through
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.tensorize import check_intrinsics, tensorize
from byparts_tensor_ir.statement import Func

STEPS: dict[str, Callable[..., Func]] = {
    f.__name__: f
    for f in (
        loops.split,
        loops.fuse,
        loops.reorder,
        loops.tile,
        loops.vectorize,
        loops.parallel,
        loops.unroll,
        loops.bind,
        loops.partition,
        place.inline,
        place.compute_at,
        place.set_scope,
        cache.cache_read,
        cache.cache_write,
        cache.rfactor,
        cache.transform_layout,
        through.read_through,
        through.write_through,
        tensorize,
    )
}
Step = tuple[str, tuple[Any, ...], dict[str, Any]]


class Schedule:
    """A function, and the steps done so far.

    Each function of `STEPS` is a method without its first argument; it returns the schedule.

    Args:
        func: from `lower`.

    Attributes:
        func: as the last step left it; a step that is refused leaves it as it was.
        steps: (name, arguments, named arguments) of each step.
    """

    def __init__(self, func: Func) -> None:
        self.func = func
        self.steps: list[Step] = []

    def __getattr__(self, name: str) -> Callable[..., Schedule]:
        if name not in STEPS:
            raise AttributeError(f"no step {name!r}; steps: {', '.join(STEPS)}")

        def step(*args: Any, **named: Any) -> Schedule:
            func = STEPS[name](self.func, *args, **named)
            check_intrinsics(func, name)
            self.func = func
            self.steps.append((name, args, named))
            return self

        return step

    def replay(self, steps: Iterable[Step]) -> Schedule:
        """Do these steps.

        Raises:
            ScheduleError: an unknown step, or one that is refused.
        """
        for name, args, named in steps:
            if name not in STEPS:
                raise ScheduleError(f"no step {name!r}; steps: {', '.join(STEPS)}")
            getattr(self, name)(*args, **named)
        return self

    def __str__(self) -> str:
        lines = []
        for name, args, named in self.steps:
            inside = [*map(repr, args), *[f"{k}={v!r}" for k, v in named.items()]]
            lines.append(f"{name}({', '.join(inside)})")
        return "\n".join([*lines, str(self.func)])
