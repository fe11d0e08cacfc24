"""A network planned without NumPy: only its graph, its shapes and the bytes they take.

    python integration/small/plan_only.py

An op set of one's own, of two ops; byparts-graph-ir and byparts-memplan, and the standard library.
"""

from byparts_graph_ir import Graph, Input, Op, TensorType, Types, Value
from byparts_memplan import plan


class Dense(Op):
    """y = x w."""

    def infer(self, x: TensorType, w: TensorType) -> Types:
        return (TensorType(x.dtype, (*x.dims[:-1], w.dims[-1])),)


class Relu(Op):
    """y = max(x, 0), which may be written over x."""

    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)


def main() -> str:
    """What a batch of 32 takes."""
    shapes = (784, 128), (128, 128), (128, 10)
    weights = [Input(TensorType("f32", shape), name=f"w{i}") for i, shape in enumerate(shapes)]
    image = Input(TensorType("f32", (32, 784)), name="x")
    x: Value = image
    for w in weights:
        x = Relu()(Dense()(x, w))
    graph = Graph.of([image, *weights], [x])
    planned = plan(graph, external=range(1, len(graph.inputs)))
    return f"{planned.arena_bytes:,} bytes, {planned.naive_bytes:,} without a plan"


if __name__ == "__main__":
    print(main())
