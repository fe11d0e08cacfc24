"""A training that may be killed at any time and started again: it goes on from its checkpoint.

    python training.py BACKEND CHECKPOINT STEPS

What a step does depends on the number of the step, which is a variable as the weights are, and all
are saved after each.  A step takes a while (`delay`), and there is a large variable, so that saving
takes a while, too.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from acme_byparts_npu.device import delay as wait
from acme_byparts_npu.ops import Delay

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Space, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.parts.hub import parts
from byparts_kernels_numpy.table import kernels
from byparts_runtime import Program, Store, build


@kernels.on(Delay)
def delay(op: Delay, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
    return lambda: wait(*inputs, *outputs, seconds=op.seconds)


def started(space: Space, path: Path) -> Store:
    store = Store(space)
    store.create("step", np.float32(0).reshape(()))
    store.create("w", np.random.default_rng(0).standard_normal((4, 3)).astype("float32"))
    store.create("ballast", np.zeros(1_000_000, "float32"))
    if path.exists():
        store.load(path)
    return store


def program_of(store: Store, backend: str) -> Program:
    variables = tuple(store)
    x, t = (Input(TensorType("f32", shape), None) for shape in ((8, 4), (8, 3)))
    step, w, ballast = (Input(v.type, None, v.name) for v in variables)
    loss = ops.mean(ops.square(Delay(0.01)(ops.tanh(x @ w)) - t))
    (dw,) = gradients(loss, w)
    new = (step + 1, w - 0.5 * dw, ballast + 1)
    graph = Graph.of([x, t, step, w, ballast], [loss, *new])
    return build(graph, backends=(backend,), variables=variables, updates=variables)


def main(backend: str, file: str, steps: str) -> None:
    path = Path(file)
    store = started(parts.backend(backend).space, path)
    program = program_of(store, backend)
    done = int(store["step"].read())
    assert np.unique(store["ballast"].read()).tolist() == [done], "one step, or another, whole"
    print("from", done, flush=True)
    while done < int(steps):
        data = np.random.default_rng(done)
        program(*(data.standard_normal(shape).astype("float32") for shape in ((8, 4), (8, 3))))
        store.save(path)
        done = int(store["step"].read())
        print("finished", done, flush=True)


main(*sys.argv[1:])
