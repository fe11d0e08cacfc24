"""A trained network on a small device: five parts wired by hand, no hub, no discovery, no passes.

    python integration/small/mlp.py [graph.json weights.npz]

784-128-10 on one image; the graph is built in code, or read from files as `write` leaves them.  No
module of ops or kernels is imported that this network does not need.  `by_hand.py` does the same
in NumPy alone, and `integration/test_small.py` compares the two.
"""

from __future__ import annotations

import sys

import numpy as np

import byparts_kernels_numpy
import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, from_json, to_json
from byparts_memplan import plan
from byparts_runtime import Variable, build

TYPE_CHECKING = False  # numpy.typing is not free
if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTHS = ("w1", (784, 128)), ("b1", (128,)), ("w2", (128, 10)), ("b2", (10,))


def made() -> Graph:
    """The network, built in code.  One image and four weights in, ten probabilities out."""
    x = Input(TensorType("f32", (1, 784)), name="x")
    w1, b1, w2, b2 = (Input(TensorType("f32", shape), name=name) for name, shape in WIDTHS)
    return Graph.of([x, w1, b1, w2, b2], [ops.softmax(ops.relu(x @ w1 + b1) @ w2 + b2)])


def numbers(*shape: int) -> NDArray[np.float32]:
    """Stand for weights that were trained."""
    x = np.sin(np.arange(np.prod(shape), dtype=np.float32))
    x *= np.float32(0.1)
    return x.reshape(shape)


def weights() -> dict[str, NDArray[np.float32]]:
    """By name."""
    return {name: numbers(*shape) for name, shape in WIDTHS}


def write(graph_file: str, weights_file: str) -> None:
    """The two files, as a training program would leave them."""
    with open(graph_file, "w") as file:
        file.write(to_json(made()))
    np.savez(weights_file, allow_pickle=False, **weights())


def main(files: list[str]) -> NDArray[np.float32]:
    """Ten probabilities."""
    graph, values = made(), weights()
    if files:
        with open(files[0]) as file:
            graph = from_json(file.read(), ops.OPS)
        values = np.load(files[1])
    program = build(
        graph,
        backends=[byparts_kernels_numpy.make()],
        variables=[Variable(name, values[name]) for name, _ in WIDTHS],
        passes=(),
        planner=plan,
        legalize=None,
        order=None,
    )
    y: NDArray[np.float32] = program(numbers(1, 784))[0]
    return y


if __name__ == "__main__":
    print(*main(sys.argv[1:])[0])
