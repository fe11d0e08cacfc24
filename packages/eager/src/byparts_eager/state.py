"""The state of each thread: what it records, traces and overrides.

Everything that changes what an op on arrays means is in one object for each thread, so that two
threads never see each other's recorders, traced functions or modes.
"""

from __future__ import annotations

from _thread import _local
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from byparts_eager.cell import Cell
    from byparts_eager.trace import Frame
    from byparts_graph_ir import Value


class _State(_local):
    """The state of one thread.

    Attributes:
        recorders: how many recorders are active; with one, arrays remember the nodes they come of.
        frame: the function that is being traced, the innermost one.
        overlay: values that cells have while an eager function of them is differentiated.
        training: the mode that `training_mode` set; `None`: see `differentiated`.
        differentiated: how many functions of modules are being differentiated.
        assigned: cells that were given recorded arrays, which are kept without their nodes when
            the last recorder ends: a state would remember all steps before.
    """

    recorders: int = 0
    frame: Optional[Frame] = None
    overlay: Optional[dict[Cell, Value]] = None
    training: Optional[bool] = None
    differentiated: int = 0
    assigned: tuple[Cell, ...] = ()


state = _State()


class record:  # noqa: N801  # read as a verb: `with record():`
    """A context in which arrays remember how they were computed, so that they have gradients.

        with record():
            loss = f(w)
        (dw,) = byparts_autodiff.gradients(loss, [w])

    Contexts nest; gradients that are taken inside one are recorded, too, and have gradients.
    """

    __slots__ = ()

    def __enter__(self) -> record:
        state.recorders += 1
        return self

    def __exit__(self, *raised: object) -> None:
        state.recorders -= 1
        if state.assigned and not state.recorders:
            cells, state.assigned = state.assigned, ()
            for cell in cells:
                cell.forget_node()


def training() -> bool:
    """Whether layers such as dropout behave as they do while training.  Off by default.

    On while `value_and_grad` differentiates a function of a module, unless `training_mode` says
    otherwise.
    """
    mode = state.training
    return state.differentiated > 0 if mode is None else mode


class training_mode:  # noqa: N801  # read as `with training_mode(False):`
    """A context in which `training()` is `on`, whatever is differentiated inside."""

    __slots__ = ("_before", "on")

    def __init__(self, on: bool) -> None:
        self.on = on

    def __enter__(self) -> training_mode:
        self._before, state.training = state.training, self.on
        return self

    def __exit__(self, *raised: Any) -> None:
        state.training = self._before
