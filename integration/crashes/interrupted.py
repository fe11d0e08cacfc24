"""Steps without end, which the parent interrupts; after each interrupt, what the variables hold.

    python interrupted.py BACKEND COMMIT

Both variables are all one number, the count of steps done, if nothing was torn apart.
"""

import sys
from typing import Any

import numpy as np

from byparts_graph_ir import Graph, Input, TensorType
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import Store, build


def main(name: str, commit: Any) -> None:
    store = Store(parts.backend(name).space)
    variables = tuple(store.create(n, np.zeros(200_000, "float32")) for n in "wv")
    one = Input(TensorType("f32", ()), None, "one")
    w, v = (Input(v.type, None, v.name) for v in variables)
    graph = Graph.of([one, w, v], [w + one, v + one])
    program = build(graph, backends=(name,), variables=variables, updates=variables, commit=commit)
    print("ready", flush=True)
    while True:
        try:
            sys.stdin.readline()
            print("running", flush=True)  # an interrupt that comes before it would be a second one
            while True:
                program(np.float32(1))
        except KeyboardInterrupt:
            counts = np.unique([v.read() for v in variables]).tolist()
            print(*counts, flush=True)


main(*sys.argv[1:])
