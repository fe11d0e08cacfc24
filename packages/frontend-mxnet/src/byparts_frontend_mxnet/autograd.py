"""`mx.autograd`: recording, and gradients by arrays that have one attached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_autodiff import gradients
from byparts_eager import Array, training
from byparts_eager.apply import as_array
from byparts_eager.array import asarray
from byparts_eager.state import state
from byparts_frontend_mxnet import tape
from byparts_frontend_mxnet.context import listed
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.nd.array import NDArray, marked
from byparts_frontend_mxnet.nd.storage import plain, recorded
from byparts_frontend_mxnet.operator import Function as Function
from byparts_graph_ir import FLOATS, producers


class _Scope:
    """A context that records or not, in a mode; `None` leaves it."""

    def __init__(self, records: bool | None, train: bool | None) -> None:
        self._records, self._train = records, train
        self._before: list[Any] = []

    def __enter__(self) -> _Scope:
        self._before.append((state.recorders, state.training))
        if self._records and not state.recorders and state.frame is None:
            tape.begin()
        if self._records is not None:
            state.recorders = int(self._records)
        if self._train is not None:
            state.training = self._train
        return self

    def __exit__(self, *raised: Any) -> None:
        state.recorders, state.training = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **keywords: Any) -> Any:
            with self:
                return function(*args, **keywords)

        return run


def record(train_mode: bool = True) -> _Scope:
    """A context in which arrays remember how they were computed."""
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> _Scope:
    """A context in which nothing is recorded."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """A context in which layers behave as in training."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A context in which layers behave as in prediction."""
    return _Scope(None, False)


def is_recording() -> bool:
    """Whether arrays remember how they were computed."""
    return state.recorders > 0


def is_training() -> bool:
    """Whether layers behave as in training."""
    return training()


def set_recording(is_recording: bool) -> bool:
    """Record from now on, or not; what it was."""
    before, state.recorders = state.recorders > 0, int(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Set the mode from now on; what it was."""
    before, state.training = training(), train_mode
    return before


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Let `backward` compute the gradients by `variables` and put them into `gradients`."""
    variables, gradients = listed(variables), listed(gradients)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    for v, g, req in zip(variables, gradients, reqs, strict=True):
        v.mark(g, req)


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Put the gradients of heads into `.grad` of all marked arrays that they were computed from.

    Raises:
        MXNetError: a head was not recorded, or depends on no marked array.
    """
    heads = listed(heads)
    seeds = [None] * len(heads) if head_grads is None else listed(head_grads)
    waiting: set[Any] = {h.storage.waits_for if h._base is None else None for h in heads}
    if not retain_graph and len(waiting) == 1 and None not in waiting:
        waiting.pop().backward(heads, seeds)
        return
    ys = [h.read() for h in heads]
    found = _variables(ys)
    with _Scope(False, None):
        dxs = _gradients(ys, [leaf for _, leaf in found], seeds)
        for (v, _), dx in zip(found, dxs, strict=True):
            tape.add_or_write(v, plain(dx))
            v._fresh_grad = True
    if not retain_graph:  # a state that goes on to the next batch is a number then
        nodes = set(producers(ys))
        for place in list(recorded):
            if place.end_history(nodes):
                recorded.discard(place)


def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: Any = None,
    create_graph: bool = False, train_mode: bool = True,
) -> Any:  # fmt: skip
    """The gradients of heads by variables, as new arrays; recorded with `create_graph`."""
    heads, given = listed(heads), listed(variables)
    ys = [h.read() for h in heads]
    leaves = {id(v): leaf for v, leaf in _variables(ys)}
    missing = [v for v in given if id(v) not in leaves]
    if missing:
        raise MXNetError(
            f"grad: the heads depend on no variable of shape {missing[0].shape}; call "
            "attach_grad() on it before record()"
        )
    seeds = [None] * len(heads) if head_grads is None else listed(head_grads)
    before, state.recorders = state.recorders, int(create_graph)
    try:
        dxs = _gradients(ys, [leaves[id(v)] for v in given], seeds)
    finally:
        state.recorders = before
    results = [NDArray(dx, v.context) for v, dx in zip(given, dxs, strict=True)]
    return results if isinstance(variables, (list, tuple)) else results[0]


def _variables(ys: Sequence[Any]) -> list[tuple[NDArray, Any]]:
    """The marked arrays that ys were computed from, with the values that were read."""
    for y in ys:
        if getattr(y, "node", None) is None:
            raise MXNetError(
                f"backward: the array {y.type} was not computed inside autograd.record(), or its "
                "graph was freed by an earlier backward; compute it inside, or use "
                "retain_graph=True in the first one"
            )
    read = {x for node in producers(list(ys)) for x in node.inputs} | set(ys)
    handles = [v for r in list(marked.values()) if (v := r()) is not None]
    found = [(v, v._leaf[1]) for v in handles if v._leaf and v.grad_req != "null"]
    found = [(v, leaf) for v, leaf in found if leaf in read and leaf.type.dtype in FLOATS]
    if not found:
        raise MXNetError(tape.NO_VARIABLE)
    return found


def _gradients(ys: Sequence[Any], leaves: Sequence[Any], seeds: Sequence[Any]) -> list[Array]:
    dys = [None if s is None else s.read() for s in seeds]
    dxs = gradients(list(ys), list(leaves), dys, unreachable="zeros")
    backend = asarray(ys[0]).kind.backend
    return [as_array(dx, backend) for dx in dxs]  # type: ignore[misc]  # all are of arrays


NDArray.differentiate = staticmethod(backward)

__all__ = [
    "Function", "backward", "grad", "is_recording", "is_training", "mark_variables", "pause",
    "predict_mode", "record", "set_recording", "set_training", "train_mode",
]  # fmt: skip
