"""A choice of one of two graphs by a value: `lax.cond` of JAX, `If` of ONNX.

Only the chosen one runs, also when gradients are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import byparts_opset as ops
from byparts_graph_ir import (
    Branches,
    Dimension,
    Graph,
    Input,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    add_note,
    body_for,
    body_inputs,
    compatible,
    graph_flops,
    result_types,
)
from byparts_opset.bodies import (
    Function,
    check_condition,
    is_float,
    is_true,
    narrowed,
    pull_back,
    read_inputs,
    retyped,
    seeded,
    taking,
    traced,
)
from byparts_opset.composite import is_zero
from byparts_opset.dtypes import Array
from byparts_opset.evaluate import evaluate


class If(Op):
    """The outputs of `then` on the values if the condition holds, else those of `otherwise`.

    Inputs: the condition, bool[], and the values, which both branches take.  Both give outputs of
    the same types.
    """

    then: Graph
    otherwise: Graph

    def infer(self, condition: TensorType, *types: TensorType) -> Types:
        check_condition(self, "the condition", (condition,))
        one = result_types(self, self.then, types)
        other = result_types(self, self.otherwise, types)
        if len(one) != len(other):
            raise ShapeError(f"if: then gives {len(one)} outputs and otherwise {len(other)}")
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            if not compatible(a, b):
                raise ShapeError(
                    f"if: output {i} is {a} in then and {b} in otherwise; cast or reshape one "
                    "of them"
                )
        return tuple(map(_either, one, other))

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        known = body_inputs(self, self.then, inputs[1:])
        return (TensorType("bool", ()), *body_inputs(self, self.otherwise, known))

    def evaluate(self, condition: Array, *inputs: Array) -> tuple[Array, ...]:
        name = "then" if is_true(condition) else "otherwise"
        try:
            return evaluate(getattr(self, name), *inputs)
        except Exception as error:
            add_note(error, f"in {name} of if")
            raise

    def control(self, condition: TensorType, *types: TensorType) -> Branches:
        bodies = [body_for(self, body, types) for body in (self.otherwise, self.then)]
        return Branches(tuple(bodies), ("otherwise", "then"))

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]]:
        outputs = tuple(wanted) or (0,)
        bodies = [narrowed(body, outputs) for body in (self.then, self.otherwise)]
        inputs = sorted({i for body in bodies for i in read_inputs(body)})
        op = If(*[taking(body, inputs) for body in bodies])
        return op, (0, *[1 + i for i in inputs]), outputs

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The chosen branch of a constant condition; else the op on the types of the inputs."""
        condition, *values = node.inputs
        maker = condition.node
        if maker is not None and isinstance(maker.op, ops.Fill):
            chosen = ops.Call(self.then if maker.op.value else self.otherwise)
            return chosen.decompose(*values) or chosen.outputs_of(*values)
        types = [v.type for v in values]
        return retyped(node, then=types, otherwise=types)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """The gradient of one of the branches, chosen by the same condition."""
        condition, *values = node.inputs
        types, seeds = [v.type for v in values], seeded(dys)
        wanted = [i for i, x in enumerate(values) if is_float(x)]
        bodies = [body_for(self, body, types) for body in (self.then, self.otherwise)]
        then, otherwise = (pull_back(body, seeds, wanted) for body in bodies)
        back = If(then, otherwise)
        outputs = back.outputs_of(condition, *values, *[dys[i] for i in seeds])
        dxs: list[Value | None] = [None] * len(node.inputs)
        for k, i in enumerate(wanted):
            if not (is_zero(then.outputs[k]) and is_zero(otherwise.outputs[k])):
                dxs[1 + i] = outputs[k]
        return tuple(dxs)

    def flops(self, condition: TensorType, *types: TensorType) -> int:
        """The operations of the branch that has more."""
        branches = (self.then, self.otherwise)
        return max(graph_flops(body_for(self, branch, types)) for branch in branches)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for dtype, shape in (("f32", (3, 4)), ("f64", (2, 2)), ("f32", ()), ("f32", (0, 2))):
            x, y = (Input(TensorType(dtype, shape), None, "", "") for _ in range(2))
            then = Graph.of((x, y), (ops.tanh(x) * y, y))
            otherwise = Graph.of((x, y), (x - y, x * y))
            for low in (0.0, 1.0):
                types = (TensorType("bool", ()), x.type, y.type)
                yield Sample(cls(then, otherwise), types, ((low, low + 1),))


def cond(
    condition: Value, then: Function, otherwise: Function, values: Sequence[Value] = ()
) -> tuple[Value, ...]:
    """The outputs of `then` on the values if the condition (bool[]) holds, else of `otherwise`.

        (y,) = cond(ops.sum(x) > 0, lambda x: x, lambda x: -x, (x,))

    Raises:
        ArgumentError: a function reads a value that is not among `values`.
        ShapeError: the two give different types; says both.
    """
    types = [v.type for v in values]
    how = "pass it in, as in cond(condition, then, otherwise, (x, w))"
    bodies = [
        traced(f"cond: {name}", function, types, how)
        for name, function in (("then", then), ("otherwise", otherwise))
    ]
    return If(*bodies).outputs_of(condition, *values)


def _either(a: TensorType, b: TensorType) -> TensorType:
    """The type with the dimensions in which both agree, and the others unknown."""
    if a.shape is None or b.shape is None:
        return TensorType(a.dtype, None)
    dims: list[Dimension] = [m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)]
    return TensorType(a.dtype, tuple(dims))
