"""Many lengths through four transformer blocks: the cost of a new length and of one that was seen.

    python benchmarks/shapes.py --lengths 50 --peers native,numpy,torch,torch_compile,jax

Each peer is a process of one thread that waits for lengths; they take turns, length by length.  Its
times are CPU time of the process and of what it starts (compilers), in ms.  JAX is given lengths
rounded up to powers of two, as its users do.  Results are compared with those of NumPy kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time
from typing import Any

import numpy as np

WIDTH, HEADS, BLOCKS, LONGEST = 128, 4, 4, 512
Step = Callable[[Any], Any]  # [1, n, WIDTH] -> [1, n, WIDTH]


def weights() -> dict[str, Any]:
    """The weights of all blocks, equal in each process."""
    numbers, shapes = np.random.default_rng(0), dict[str, tuple[int, ...]]()
    for i in range(BLOCKS):
        shapes |= {f"{c}{i}": (WIDTH, WIDTH) for c in "qkvo"}
        shapes |= {f"u{i}": (WIDTH, 4 * WIDTH), f"d{i}": (4 * WIDTH, WIDTH)}
        shapes |= {f"{c}{i}": (WIDTH,) for c in ("g", "b", "gg", "bb")}
    return {k: (numbers.standard_normal(s) * 0.05).astype(np.float32) for k, s in shapes.items()}


def byparts(*backends: str) -> Step:
    """A graph of a named length, built by an executor at the first call."""
    import byparts_opset as ops
    from byparts_graph_ir import Graph, Input, TensorType
    from byparts_runtime import Executor, Variable

    inputs = {k: Input(TensorType("f32", w.shape), name=k) for k, w in weights().items()}
    x = Input(TensorType("f32", (1, "n", WIDTH)), name="x")
    y: Any = x
    for i in range(BLOCKS):
        w = {k.removesuffix(str(i)): v for k, v in inputs.items() if k.endswith(str(i))}
        h = ops.layer_norm(y, w["g"], w["b"])
        parted = [ops.reshape(h @ w[c], (1, -1, HEADS, WIDTH // HEADS)) for c in "qkv"]
        q, k, v = [ops.transpose(p, (0, 2, 1, 3)) for p in parted]
        a = ops.attention(q, k, v, causal=True)
        y = y + ops.reshape(ops.transpose(a, (0, 2, 1, 3)), (1, -1, WIDTH)) @ w["o"]
        h = ops.layer_norm(y, w["gg"], w["bb"])
        y = y + ops.gelu(h @ w["u"]) @ w["d"]
    graph = Graph.of([x, *inputs.values()], [y])
    executor = Executor(backends=backends, capacity=1000)
    variables = [Variable(k, a) for k, a in weights().items()]
    return lambda array: executor(graph, array, variables=variables)[0]


def torch_eager(compiled: bool = False) -> Step:
    """The same in PyTorch."""
    import torch
    from torch.nn import functional as nn

    torch.set_num_threads(1)
    w = {k: torch.from_numpy(a) for k, a in weights().items()}

    def step(x: Any) -> Any:
        n = x.shape[1]
        for i in range(BLOCKS):
            h = nn.layer_norm(x, (WIDTH,), w[f"g{i}"], w[f"b{i}"])
            parted = [(h @ w[f"{c}{i}"]).reshape(1, n, HEADS, -1).transpose(1, 2) for c in "qkv"]
            a = nn.scaled_dot_product_attention(*parted, is_causal=True)
            x = x + a.transpose(1, 2).reshape(1, n, WIDTH) @ w[f"o{i}"]
            h = nn.layer_norm(x, (WIDTH,), w[f"gg{i}"], w[f"bb{i}"])
            x = x + nn.gelu(h @ w[f"u{i}"]) @ w[f"d{i}"]
        return x

    run = torch.compile(step, dynamic=True) if compiled else step

    def call(array: Any) -> Any:
        with torch.inference_mode():
            return run(torch.from_numpy(array)).numpy()

    return call


def jax_bucketed() -> Step:
    """The same in JAX, at lengths that are powers of two."""
    import jax
    import jax.numpy as jnp

    w = {k: jnp.asarray(a) for k, a in weights().items()}

    def norm(x: Any, g: Any, b: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b

    def step(x: Any) -> Any:
        n = x.shape[1]
        mask = jnp.tril(jnp.ones((n, n), bool))
        for i in range(BLOCKS):
            h = norm(x, w[f"g{i}"], w[f"b{i}"])
            q, k, v = ((h @ w[f"{c}{i}"]).reshape(n, HEADS, -1).swapaxes(0, 1) for c in "qkv")
            scores = jnp.where(mask, q @ k.swapaxes(1, 2) * (WIDTH // HEADS) ** -0.5, -jnp.inf)
            a = (jax.nn.softmax(scores, -1) @ v).swapaxes(0, 1).reshape(1, n, WIDTH)
            x = x + a @ w[f"o{i}"]
            h = norm(x, w[f"gg{i}"], w[f"bb{i}"])
            x = x + jax.nn.gelu(h @ w[f"u{i}"], approximate=False) @ w[f"d{i}"]
        return x

    run = jax.jit(step)

    def call(array: Any) -> Any:
        n = array.shape[1]
        padded = np.zeros((1, 1 << (n - 1).bit_length(), WIDTH), np.float32)
        padded[:, :n] = array
        return np.asarray(run(padded))[:, :n]

    return call


PEERS: dict[str, Callable[[], Step]] = {
    "numpy": lambda: byparts("numpy"),
    "native": lambda: byparts("native", "numpy"),
    "torch": torch_eager,
    "torch_compile": lambda: torch_eager(compiled=True),
    "jax": jax_bucketed,
}


def _spent_ms() -> float:
    started = getrusage(RUSAGE_CHILDREN)
    return 1e3 * (process_time() + started.ru_utime + started.ru_stime)


def work(peer: str) -> None:
    """A worker: a length on each line of input, times and a check sum on each of output."""
    step = PEERS[peer]()
    for line in sys.stdin:
        n = int(line)
        array = np.random.default_rng(n).standard_normal((1, n, WIDTH)).astype(np.float32)
        times = []
        for _ in range(2):
            start = _spent_ms()
            result = step(array)
            times.append(_spent_ms() - start)
        print(json.dumps([*times, float(np.abs(result).sum())]), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lengths", type=int, default=50)
    arguments.add_argument("--peers", default="native,numpy,torch,torch_compile")
    arguments.add_argument("--worker", default="")
    chosen = arguments.parse_args()
    if chosen.worker:
        work(chosen.worker)
        return
    lengths = np.random.default_rng(1).permutation(LONGEST)[: chosen.lengths] + 1
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    command = [sys.executable, __file__, "--worker"]
    workers = {
        peer: subprocess.Popen(
            [*command, peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads, **flags},
        )
        for peer in chosen.peers.split(",")
    }
    rows: dict[str, list[list[float]]] = {peer: [] for peer in workers}
    for n in lengths:
        for peer, process in workers.items():
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{n}\n")
            process.stdin.flush()
            rows[peer].append(json.loads(process.stdout.readline()))
    print(f"{len(lengths)} lengths up to {LONGEST}; CPU ms")
    print("| peer | first length | median new length | over its second call | all new | all seen |")
    print("|---|---|---|---|---|---|")
    sums = next(iter(rows.values()))
    for peer, found in rows.items():
        new, seen = [r[0] for r in found], [r[1] for r in found]
        over = median([a - b for a, b in zip(new[1:], seen[1:], strict=True)])
        shown = [new[0], median(new[1:]), over, sum(new), sum(seen)]
        print(f"| {peer} | " + " | ".join(f"{x:,.1f}" for x in shown) + " |")
        wrong = [
            n for n, a, b in zip(lengths, found, sums, strict=True) if abs(a[2] / b[2] - 1) > 1e-4
        ]
        assert not wrong, f"{peer} gives other results at lengths {wrong}"
    for process in workers.values():
        process.communicate()


if __name__ == "__main__":
    main()
