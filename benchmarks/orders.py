"""What an order saves: bytes alive at the worst step, as given and ordered.

    python benchmarks/orders.py                 # networks of ours
    python benchmarks/orders.py FOLDER          # traced networks, see traced.py

Two orders are given: the one in which frameworks run a step, each weight's gradient as soon as it
can be, and all gradients of weights at the end.  `proved`: no order has a lower peak; else how far
it is above what is proved.  Feeds and results are counted, weights are not.  Processor seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent))

import byparts_opset as ops
import traced
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Value
from byparts_memplan import order, peak_bytes
from byparts_memplan.ordering.search import search
from byparts_memplan.ordering.tasks import Tasks
from memory.networks import NETWORKS, training
from memory.networks_layers import Inputs, conv_bias, dense, pool

Problem = tuple[str, Graph, frozenset[int]]


def main() -> None:
    """Print a table."""
    print("| graph | nodes | given, MB | ordered, MB | saved | proved | s |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: |")
    for name, graph, external in traces(sys.argv[1]) if sys.argv[1:] else networks():
        print(row(name, graph, external), flush=True)


def row(name: str, graph: Graph, external: frozenset[int]) -> str:
    """One line of the table."""
    start = process_time()
    better = order(graph, external=external)
    seconds = process_time() - start
    given, peak = peak_bytes(graph, external), peak_bytes(better, external)
    starts = Tasks(graph, external), Tasks(better, external)
    bound = max(search(tasks, 300_000).bound_bytes for tasks in starts)
    proved = "yes" if peak == bound else f"to {peak / bound - 1:.2%}"
    saved = f"{1 - peak / given:.1%}" if peak < given else ""
    sizes = f"{given / 1e6:.3f} | {peak / 1e6:.3f}"
    return f"| {name} | {len(graph.nodes)} | {sizes} | {saved} | {proved} | {seconds:.2f} |"


def traces(folder: str) -> Iterator[Problem]:
    """Each file of the folder."""
    for path in traced.files(folder):
        graph = traced.load(path)
        yield path.name.partition(".")[0], graph, traced.external(graph)


def networks() -> Iterator[Problem]:
    """Training steps, batch 8, in two orders."""
    for name in (*SMALL, *NETWORKS):
        graph, external = small(name) if name in SMALL else training(name)
        yield name, graph, external
        late = Graph.of(graph.inputs, graph.outputs)  # gradients of weights when they are asked for
        if late != graph:
            yield f"{name}, gradients last", late, external


def small(name: str, batch: int = 8) -> tuple[Graph, frozenset[int]]:
    """A network of a few layers on images of digits."""
    net = Inputs(training=True)
    logits = SMALL[name](net, batch)
    labels = net.feed("labels", batch, dtype="i64")
    loss = ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))
    dws = gradients(loss, net.weights)
    inputs, first = (*net.feeds, *net.weights), len(net.feeds)
    graph = Graph.of(inputs, (loss, *dws), order=(loss, *reversed(dws)))
    return graph, frozenset(range(first, len(inputs)))


def mlp(net: Inputs, batch: int) -> Value:
    """Three dense layers."""
    x = net.feed("images", batch, 784)
    for width in (256, 128):
        x = ops.relu(dense(net, x, width))
    return dense(net, x, 10)


def lenet(net: Inputs, batch: int) -> Value:
    """Two convolutions with pooling, two dense layers."""
    x = net.feed("images", batch, 1, 28, 28)
    for width in (20, 50):
        x = pool(ops.tanh(conv_bias(net, x, width, 5)))
    return dense(net, ops.tanh(dense(net, ops.reshape(x, (batch, -1)), 500)), 10)


SMALL: dict[str, Callable[[Inputs, int], Value]] = {"mlp": mlp, "lenet": lenet}


if __name__ == "__main__":
    main()
