"""Plans: the way an op runs on arrays of some kinds, found at the first call.

In this order: an output that is bytes of an input is a view, since nothing is ever written; a
kernel of the backend that is one call of C is that call; other kernels are bound to memory of a
pool, if they are small, or else at each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_eager.array import Array, array_of
from byparts_eager.kind import Kind, caches, forget, kind_of
from byparts_eager.one_call import as_one_call
from byparts_graph_ir import Backend, GraphError, MissingRule, Op, TensorType, add_note
from byparts_graph_ir.model.value import output_types
from byparts_graph_ir.model.where import where
from byparts_runtime.building.context import restore, silence

Plan = Callable[..., tuple[Any, ...]]  # of arrays, gives arrays

_SMALL_BYTES = 1 << 18  # below, copying in and out costs less than binding the kernel again
_MOST_PLANS = 1 << 15
_MOST_HELD_BYTES = 1 << 28  # memory that plans keep between calls, all together
plans: dict[tuple[Any, ...], Plan] = {}  # (op, *kinds of the inputs)
_held: dict[str, int] = {}
caches.extend([plans, _held])


def plan_of(op: Op, inputs: Sequence[Array]) -> Optional[Plan]:
    """The plan for an op on arrays of these kinds; `None`: its backend has no kernel for it.

    Raises:
        GraphError, ShapeError: the inputs do not fit, or are on several devices.
    """
    if len(plans) >= _MOST_PLANS:
        forget()
    kinds = [x.kind for x in inputs]
    backend = kinds[0].backend
    for kind in kinds:
        if kind.backend is not backend:
            raise GraphError(
                f"{op.name}: arrays on {backend.name!r} and on {kind.backend.name!r}; move one, "
                f"as in x.to_device({backend.name!r})"
            )
    try:
        outputs = [kind_of(t, backend) for t in output_types(op, [k.type for k in kinds])]
    except GraphError as error:
        add_note(error, f"called at {where()}")
        raise
    return _view_plan(op, kinds, outputs) or _kernel_plan(op, kinds, outputs)


def _view_plan(op: Op, kinds: Sequence[Kind], outputs: Sequence[Kind]) -> Optional[Plan]:
    """Make views of the inputs' bytes, where the op says that all its outputs are that."""
    views = {o: (i, at) for i, o, at in op.views(*[k.type for k in kinds])}
    if not outputs or len(views) != len(outputs) or op.effect or not outputs[0].on_numpy:
        return None
    if len(outputs) == 1:
        (kind,), (i, at) = outputs, views[0]
        dims, dtype = kind.dims, kind.dtype

        def view(*inputs: Array) -> tuple[Array, ...]:
            data = inputs[i].data
            return (array_of(kind, np.ndarray(dims, dtype, data, at)),)

        return view
    places = [(kind, *views[o]) for o, kind in enumerate(outputs)]

    def several(*inputs: Array) -> tuple[Array, ...]:
        return tuple(
            [array_of(k, np.ndarray(k.dims, k.dtype, inputs[i].data, at)) for k, i, at in places]
        )

    return several


def _kernel_plan(op: Op, kinds: Sequence[Kind], outputs: Sequence[Kind]) -> Optional[Plan]:
    """The kernel of the backend; `None` where it has none for these types."""
    backend = kinds[0].backend
    if not backend.supports(op):
        return None
    try:
        bind = Binder(op, [k.type for k in kinds], backend)
    except MissingRule:
        return None
    inputs, results = [k.empty() for k in kinds], [k.empty() for k in outputs]
    call = as_one_call(bind(inputs, results, bind.new_blocks()), inputs, results)
    if call is not None:
        return _direct(call, outputs[0], len(inputs))
    size_bytes = sum([k.type.size_bytes for k in (*kinds, *outputs)])
    if size_bytes <= _SMALL_BYTES and _may_hold(size_bytes + bind.held_bytes):
        return _Pooled(bind, tuple(kinds), tuple(outputs))
    return _BoundAnew(bind, tuple(outputs), keeps=_may_hold(bind.held_bytes))


def _may_hold(size_bytes: int) -> bool:
    """Count memory that a plan wants to keep between calls; False where there is too much."""
    held = _held.get("bytes", 0) + size_bytes
    if held > _MOST_HELD_BYTES:
        return False
    _held["bytes"] = held
    return True


class Binder:
    """The kernel of a backend for an op on inputs of some types.

    Raises:
        MissingRule: the backend has none.
    """

    __slots__ = ("_backend", "_kernel")

    def __init__(self, op: Op, types: Sequence[TensorType], backend: Backend) -> None:
        before = silence()
        try:
            self._kernel, self._backend = backend.compile(op, types), backend
        finally:
            restore(before)

    @property
    def held_bytes(self) -> int:
        """The size of such blocks."""
        return self._kernel.workspace_bytes + self._kernel.persistent_bytes

    def new_blocks(self) -> tuple[Any, Any]:
        """Memory for scratch, and what the kernel keeps between runs; runs share it in turn."""
        kernel, backend = self._kernel, self._backend
        return backend._bytes(kernel.workspace_bytes), backend._bytes(kernel.persistent_bytes)

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any], blocks: Any) -> Any:
        """The run from and into these arrays."""
        before = silence()
        try:
            return self._kernel.bind(inputs, outputs, *blocks)
        finally:
            restore(before)

    def run(self, run: Any) -> None:
        """Run what was bound."""
        before = silence()
        try:
            if self._backend.around is None:
                run()
            else:
                with self._backend.around():
                    run()
        finally:
            restore(before)


def _direct(call: Callable[..., Any], kind: Kind, count: int) -> Plan:
    """Call a function of the inputs' and the output's elements: the fast way."""
    empty, dims, dtype = np.empty, kind.dims, kind.dtype
    if count == 1:

        def one(x: Array) -> tuple[Array, ...]:
            y = empty(dims, dtype)
            before = silence()
            call(x.data, y)
            restore(before)
            return (array_of(kind, y),)

        return one
    if count == 2:

        def two(x: Array, z: Array) -> tuple[Array, ...]:
            y = empty(dims, dtype)
            before = silence()
            call(x.data, z.data, y)
            restore(before)
            return (array_of(kind, y),)

        return two

    def several(*inputs: Array) -> tuple[Array, ...]:
        y = empty(dims, dtype)
        before = silence()
        call(*[x.data for x in inputs], y)
        restore(before)
        return (array_of(kind, y),)

    return several


class _Pooled:
    """Kernels bound to memory of their own: inputs are copied in, outputs out.

    A call takes one from the pool and puts it back, so that two threads never share one.
    """

    __slots__ = ("_bind", "_kinds", "_outputs", "_pool")

    def __init__(self, bind: Binder, kinds: tuple[Kind, ...], outputs: tuple[Kind, ...]) -> None:
        self._bind, self._kinds, self._outputs = bind, kinds, outputs
        self._pool: list[Any] = []

    def __call__(self, *inputs: Array) -> tuple[Array, ...]:
        try:
            bound = self._pool.pop()
        except IndexError:
            places, results = [k.empty() for k in self._kinds], [k.empty() for k in self._outputs]
            bound = places, results, self._bind(places, results, self._bind.new_blocks())
        places, results, run = bound
        for place, x in zip(places, inputs):  # noqa: B905  # of one length, and strict=True is slow
            place[...] = x.data
        self._bind.run(run)
        arrays = tuple([array_of(k, _twin(y)) for k, y in zip(self._outputs, results)])  # noqa: B905
        self._pool.append(bound)
        return arrays


def _twin(y: Any) -> Any:
    """A copy of an array of a backend."""
    return y.copy() if y.__class__ is np.ndarray else y.clone()


class _BoundAnew:
    """A kernel that is bound to the very arrays of each call.

    Args:
        bind: the kernel.
        outputs: their kinds.
        keeps: whether memory of the kernel's own is kept for the next call.
    """

    __slots__ = ("_bind", "_blocks", "_keeps", "_outputs")

    def __init__(self, bind: Binder, outputs: tuple[Kind, ...], keeps: bool) -> None:
        self._bind, self._outputs, self._keeps = bind, outputs, keeps
        self._blocks: list[Any] = []

    def __call__(self, *inputs: Array) -> tuple[Array, ...]:
        try:
            blocks = self._blocks.pop()
        except IndexError:
            blocks = self._bind.new_blocks()
        results = [k.empty() for k in self._outputs]
        self._bind.run(self._bind([x.data for x in inputs], results, blocks))
        if self._keeps:
            self._blocks.append(blocks)
        return tuple([array_of(k, y) for k, y in zip(self._outputs, results)])  # noqa: B905
