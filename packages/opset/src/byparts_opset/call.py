"""A graph applied as one op, so that it is written, printed and optimized once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import byparts_opset as ops
from byparts_graph_ir import (
    Branches,
    Graph,
    Input,
    Node,
    Op,
    Sample,
    TensorType,
    Types,
    Value,
    body_for,
    body_inputs,
    graph_flops,
    inline,
    result_types,
)
from byparts_opset.bodies import (
    Function,
    is_float,
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


class Call(Op):
    """The outputs of `body` on the inputs of the op."""

    body: Graph

    def infer(self, *types: TensorType) -> Types:
        return result_types(self, self.body, types)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return body_inputs(self, self.body, inputs)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        return evaluate(self.body, *inputs)

    def decompose(self, *inputs: Value) -> tuple[Value, ...] | None:
        """The nodes of the body; `None` if it has an effect, which no output may need."""
        return None if self.body.has_effect else inline(self.body, inputs)

    def control(self, *types: TensorType) -> Branches:
        return Branches((body_for(self, self.body, types),), ("body",))

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]]:
        outputs = tuple(wanted) or (0,)
        body = narrowed(self.body, outputs)
        inputs = tuple(read_inputs(body))
        return Call(taking(body, inputs)), inputs, outputs

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The call with its body on the types of the node's inputs."""
        return retyped(node, body=[v.type for v in node.inputs])

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """A call of the gradient of the body."""
        body = body_for(self, self.body, [v.type for v in node.inputs])
        wanted = [i for i, x in enumerate(body.inputs) if is_float(x)]
        seeds = seeded(dys)
        back = pull_back(body, seeds, wanted)
        gradients = Call(back).outputs_of(*node.inputs, *[dys[i] for i in seeds])
        dxs = zip(wanted, gradients, back.outputs, strict=True)
        reached = {i: dx for i, dx, inner in dxs if not is_zero(inner)}
        return tuple([reached.get(i) for i in range(len(node.inputs))])

    def flops(self, *types: TensorType) -> int:
        return graph_flops(body_for(self, self.body, types))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for dtype, shape in (("f32", (3, 4)), ("f64", (2, 2)), ("f32", ()), ("f32", (0, 2))):
            x, y = (Input(TensorType(dtype, shape), None, "", "") for _ in range(2))
            body = Graph.of((x, y), (ops.tanh(x) * y, x - y))
            yield Sample(cls(body), (x.type, y.type))


def call(function: Function, *inputs: Value) -> tuple[Value, ...]:
    """Apply a function of values, or a graph, to these inputs as one op; returns its outputs.

        (y,) = call(lambda x, w: ops.tanh(x @ w), x, w)

    Raises:
        ArgumentError: the function reads a value that is not its argument.
    """
    types = [v.type for v in inputs]
    how = "pass it in, as in call(function, x, w)"
    return Call(traced("call: the function", function, types, how)).outputs_of(*inputs)
