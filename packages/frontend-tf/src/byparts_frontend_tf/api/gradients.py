"""`tf.gradients`: one operation, which is lowered by byparts-autodiff.

Its inputs are the ys, what is given for their gradients, and the xs.  When it is lowered, these are
values of graph-ir, and so is all between them; the gradients are ordinary values again.  Whether
an x is reached at all is found from the operations, when the graph is built.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_autodiff import gradients as gradients_of_values
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gather import GATHER
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of, size
from byparts_frontend_tf.api.strided_slice import getitem
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.paths import Paths
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import FLOATS, Node, Value, producers
from byparts_tf_files.shape import shown


@symbol("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: Any = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = "none",
) -> list[Any]:
    """The gradients of the sum of all ys with respect to each x.

    Args:
        ys: tensors.
        xs: tensors and variables.
        grad_ys: the gradient of what is differentiated with respect to each y; ones by default.
        name: of the scope of what is made.
        colocate_gradients_with_ops: accepted.
        gate_gradients: accepted: all gradients are computed before any variable is written.
        aggregation_method: accepted.
        stop_gradients: tensors that are constants.
        unconnected_gradients: "zero" gives zeros where no gradient reaches, "none" `None`.

    Returns:
        For each x a tensor, `IndexedSlices` where it is only gathered from, or `None`.

    Raises:
        ValueError: there are not as many grad_ys as ys.
        TypeError: a grad_y is of another dtype than its y.
    """
    outputs = [convert_to_tensor(y, name="y") for y in _listed(ys)]
    targets = [_target(x) for x in _listed(xs)]
    with name_scope(name, "gradients", [*outputs, *targets]):
        seeds = _seeds(outputs, grad_ys)
        stops = [convert_to_tensor(t) for t in _listed(stop_gradients)]
        paths = Paths([y for y in outputs if y.dtype.base_dtype.is_floating], stops)
        made = _Found(outputs, seeds, stops, paths).of(targets)
        if getattr(unconnected_gradients, "value", unconnected_gradients) == "zero":
            made = [zeros_like(x) if g is None else g for g, x in zip(made, targets, strict=True)]
        return made


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _target(x: Any) -> Tensor:
    if hasattr(x, "_ref"):
        return x._ref()  # type: ignore[no-any-return]  # a tensor
    return convert_to_tensor(x, name="x")


def _seeds(ys: Sequence[Tensor], grad_ys: Any) -> list[Optional[Tensor]]:
    given = [None] * len(ys) if grad_ys is None else _listed(grad_ys)
    if len(given) != len(ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(ys)} ys")
    seeds: list[Optional[Tensor]] = []
    for i, (y, dy) in enumerate(zip(ys, given, strict=True)):
        if dy is None:
            if not (y.dtype.base_dtype.is_floating or y.dtype.base_dtype.is_integer):
                raise TypeError(
                    "Gradients of tensors must be floating or complex with dtype "
                    f"{y.dtype.name}, y {i}"
                )
            seeds.append(None)
            continue
        seed = convert_to_tensor(dy, None if hasattr(dy, "dtype") else y.dtype.base_dtype)
        if seed.dtype.base_dtype is not y.dtype.base_dtype:
            raise TypeError(
                f"Gradient type {seed.dtype.name} generated for tensor {y} with type "
                f"{y.dtype.name} must be the same"
            )
        if y.shape.is_fully_defined() and seed.shape.is_fully_defined() and not _fits(seed, y):
            raise ValueError(f"grad_ys[{i}] is of shape {shown(seed.dims)}, its y {shown(y.dims)}")
        seeds.append(seed)
    return seeds


def _fits(seed: Tensor | Value, y: Tensor | Value) -> bool:
    """Whether a seed of known shape can be made the shape of y (see `_shaped`)."""
    of_seed, of_y = _dims(seed), _dims(y)
    if math.prod(of_seed) == math.prod(of_y):
        return True
    last = of_y[len(of_y) - len(of_seed) :]
    return len(of_seed) <= len(of_y) and all(
        m in (1, n) for m, n in zip(of_seed, last, strict=True)
    )


def _shaped(seed: Value, y: Value) -> Value:
    """The seed in y's shape: TensorFlow's gradients of most ops reshape or spread it."""
    of_seed, of_y = _dims(seed), _dims(y)
    if of_seed == of_y:
        return seed
    if not _fits(seed, y):
        raise ValueError(f"a grad_y is of shape {shown(of_seed)}, its y {shown(of_y)}")
    if math.prod(of_seed) == math.prod(of_y):
        return ops.reshape(seed, of_y)
    return ops.broadcast_to(seed, of_y)


def _dims(of: Tensor | Value) -> tuple[int, ...]:
    """The sizes, all of which are known."""
    dims = of.dims if isinstance(of, Tensor) else of.type.dims
    return tuple([int(n or 0) for n in dims or ()])


class _Found:
    """The gradients with respect to all xs, by one operation."""

    def __init__(
        self,
        ys: Sequence[Tensor],
        seeds: Sequence[Optional[Tensor]],
        stops: Sequence[Tensor],
        paths: Paths,
    ) -> None:
        self._ys, self._seeds, self._stops, self._paths = ys, seeds, stops, paths

    def of(self, xs: Sequence[Tensor]) -> list[Any]:
        """The gradient with respect to each x."""
        readers = {x: self._readers(x) for x in xs}
        wanted: dict[Tensor, None] = {}
        for x, gathers in readers.items():
            if gathers is not None:
                wanted.update(dict.fromkeys([op.outputs[0] for op in gathers] or [x]))
        if not wanted:
            return [None] * len(xs)
        made = dict(zip(wanted, self._make(list(wanted)), strict=True))
        rows = {x: _rows(x, gathers, made) for x, gathers in readers.items() if gathers}
        return [rows[x] if x in rows else made.get(x) for x in xs]

    def _readers(self, x: Tensor) -> Optional[list[Operation]]:
        """The operations that gather from x, if nothing else does; `None`: it is not reached."""
        if not x.dtype.base_dtype.is_floating or not self._paths.reach(x):
            return None
        return [] if x in self._ys else self._paths.only_readers(x, GATHER)

    def _make(self, xs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return GRADIENTS.outputs(
            *self._ys,
            *[s for s in self._seeds if s is not None],
            *self._stops,
            *xs,
            ys=len(self._ys),
            seeded=tuple([s is not None for s in self._seeds]),
            stops=len(self._stops),
        )


def _rows(x: Tensor, gathers: Sequence[Operation], made: dict[Tensor, Tensor]) -> IndexedSlices:
    """The gradient of what is only gathered from: rows, and where they are."""
    values, indices = [], []
    for op in gathers:
        dy, at = made[op.outputs[0]], op.inputs[1]
        if at.dims is None or len(at.dims) != 1:
            rest = shape_of(x)[1:]
            dy, at = reshape(dy, concat([[-1], rest], 0)), reshape(at, [-1])
        values.append(dy)
        indices.append(at)
    if len(values) > 1:
        return IndexedSlices(concat(values, 0), concat(indices, 0), shape_of(x))
    return IndexedSlices(values[0], indices[0], shape_of(x))


def _lower(lowering: Any, op: Operation) -> tuple[Value, ...]:
    ys, seeded, stops = (op.attributes[k] for k in ("ys", "seeded", "stops"))
    inputs = list(op.inputs)
    outputs, rest = inputs[:ys], inputs[ys:]
    seeds = [rest.pop(0) if given else None for given in seeded]
    stopped, xs = rest[:stops], rest[stops:]
    pairs = [
        (value, None if dy is None else _shaped(lowering.value(dy, op), value))
        for y, dy in zip(outputs, seeds, strict=True)
        if y.dtype.base_dtype.is_floating
        for value in [lowering.value(y, op)]
    ]
    stands = [lowering.stands_for(x, op) for x in xs]
    cut = _without([y for y, _ in pairs], lowering.values(stopped, op))
    flat = [cut.get(v, v) for values in stands for v in values]
    heads, dys = [cut.get(y, y) for y, _ in pairs], [d for _, d in pairs]
    found = list(gradients_of_values(heads, flat, dys, unreachable="zeros"))
    sums = []
    for values in stands:
        parts = [found.pop(0) for _ in values]
        sums.append(ops.add_n(parts) if len(parts) > 1 else parts[0])
    return tuple(sums)


def _without(ys: Sequence[Value], stops: Sequence[Value]) -> dict[Value, Value]:
    """The values that depend on `stops`, made again on what no gradient passes."""
    env: dict[Value, Value] = {v: ops.stop_gradient(v) for v in stops if v.type.dtype in FLOATS}
    if not env:
        return env
    for node in producers(ys):
        if node.outputs[0] not in env and any(v in env for v in node.inputs):
            again = Node(node.op, tuple([env.get(v, v) for v in node.inputs]), node.where)
            env.update(zip(node.outputs, again.outputs, strict=True))
    return env


def _xs(inputs: Sequence[Tensor], ys: int, seeded: Any, stops: int) -> list[Tensor]:
    return list(inputs[ys + sum(seeded) + stops :])


GRADIENTS = Kind(
    "SymbolicGradient",
    special=_lower,
    shape=lambda inputs, **given: [x.dims for x in _xs(inputs, **given)],
    dtype=lambda inputs, **given: [x.dtype.base_dtype for x in _xs(inputs, **given)],
)


@symbol("hessians")
def hessians(ys: Any, xs: Any, name: str = "hessians", **_: Any) -> list[Any]:
    """The second derivatives of the sum of all ys with respect to each x, a vector: matrices."""
    made = []
    for x, gradient in zip(_listed(xs), gradients(ys, xs), strict=True):
        flat, count = reshape(gradient, [-1]), size(x)

        def row(i: Any, rows: Any, flat: Any = flat, x: Any = x) -> Any:
            return i + 1, rows.write(i, gradients(getitem(flat, i), x)[0])

        rows = TensorArray(_target(x).dtype, count)
        stacked = while_loop(lambda i, _, n=count: i < n, row, (0, rows))[1].stack()
        dims = shape_of(x)
        made.append(reshape(stacked, concat([dims, dims], 0)))
    return made


@symbol("AggregationMethod")
class AggregationMethod:
    """Names of ways to add gradients up; here all are added in one way."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2
