"""Rows beside torch: softmax, layer norm, sums of columns, and attention with its gradient.

Both run on one thread, in turns, on the same arrays; the table has the best CPU time of each and
torch's over ours.  Results are compared before.

    python benchmarks/rows.py [softmax layer_norm column_sum attention]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy and torch are loaded

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

import byparts_opset as ops  # noqa: E402
from byparts_graph_ir import Graph, Input, TensorType, Value  # noqa: E402
from byparts_runtime import build  # noqa: E402

ROUNDS, ROUND_S = 7, 0.02
COLUMNS = (8, 10, 64, 100, 768, 1024, 4096, 50257)
ROWS = (1, 32, 1024, 4096)
LARGEST = 1 << 24  # elements
COLUMN_SUMS = ((1024, 256), (8192, 1024), (32, 1000), (4096, 10), (100000, 8))
ATTENTIONS = (  # [batch, heads, time, width], causal
    *(((8, 4, 128, 64), True), ((2, 8, 512, 64), True), ((2, 8, 512, 64), False)),
    *(((1, 8, 1024, 64), False), ((1, 4, 2048, 128), True), ((16, 12, 197, 64), False)),
)
Case = tuple[str, Sequence[Value], Sequence[Value], Callable[..., Any]]


def main() -> None:
    """Print the tables that are named, or all."""
    torch.set_num_threads(1)
    print("| what | ms | torch, ms | torch over ours |\n|---|---|---|---|")
    for kind in sys.argv[1:] or CASES:
        ratios = [measured(*case) for case in CASES[kind]()]
        print(f"| {kind}: geometric mean | | | {np.exp(np.mean(np.log(ratios))):.2f} |")


def softmax() -> Iterator[Case]:
    """Over the last axis."""
    for shape in matrices():
        x = given(*shape)
        yield f"softmax {shape}", [x], [ops.softmax(x, -1)], lambda x: functional.softmax(x, -1)


def layer_norm() -> Iterator[Case]:
    """Over the last axis, scaled and shifted."""
    for shape in matrices():
        x, g, b = given(*shape), given(shape[1]), given(shape[1])
        yield (
            *(f"layer norm {shape}", [x, g, b], [ops.layer_norm(x, g, b)]),
            lambda x, g, b: functional.layer_norm(x, b.shape, g, b),
        )


def column_sum() -> Iterator[Case]:
    """Over the first axis."""
    for shape in COLUMN_SUMS:
        x = given(*shape)
        yield f"sum of columns {shape}", [x], [ops.sum(x, 0)], lambda x: x.sum(0)


def attention() -> Iterator[Case]:
    """Forward, and forward with the three gradients."""
    for shape, causal in ATTENTIONS:
        q, k, v, dy = (given(*shape) for _ in range(4))
        y, logsumexp = ops.Attention(causal).outputs_of(q, k, v)
        more = ops.AttentionGradient(causal).outputs_of(dy, q, k, v, y, logsumexp)

        def forward(q: Any, k: Any, v: Any, causal: bool = causal) -> Any:
            return attend(q, k, v, is_causal=causal)

        def both(q: Any, k: Any, v: Any, dy: Any, causal: bool = causal) -> Any:
            qkv = [x.detach().requires_grad_() for x in (q, k, v)]
            with torch.enable_grad():
                y = attend(*qkv, is_causal=causal)
                return (y.detach(), *torch.autograd.grad(y, qkv, dy))

        name = f"attention {shape}{', causal' if causal else ''}"
        yield name, [q, k, v], [y], forward
        yield f"{name}, with gradient", [q, k, v, dy], [y, *more], both


attend = functional.scaled_dot_product_attention
CASES: dict[str, Callable[[], Iterator[Case]]] = {
    **{"softmax": softmax, "layer_norm": layer_norm},
    **{"column_sum": column_sum, "attention": attention},
}


def matrices() -> Iterator[tuple[int, int]]:
    """The shapes that fit."""
    yield from ((r, c) for c in COLUMNS for r in ROWS if r * c <= LARGEST)


def given(*shape: int) -> Input:
    """An input of f32."""
    return Input(TensorType("f32", shape))


@torch.no_grad()  # type: ignore[untyped-decorator]  # of torch
def measured(
    name: str, inputs: Sequence[Value], outputs: Sequence[Value], theirs: Callable[..., Any]
) -> float:
    """How many times as long as ours torch takes; prints a line."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(v.type.dims).astype(np.float32) for v in inputs]
    tensors = [torch.from_numpy(a) for a in arrays]
    run = build(Graph.of(inputs, outputs), backends=("native", "numpy")).bind(*arrays)
    wanted = theirs(*tensors)
    for got, want in zip(run(), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-3, atol=1e-3)
    ours, torchs = best([run, lambda: theirs(*tensors)])
    ratio = torchs / ours
    print(f"| {name} | {ours * 1e3:.4f} | {torchs * 1e3:.4f} | {ratio:.2f} |", flush=True)
    return ratio


def best(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Seconds of CPU time of a call of each; rounds of each in turns."""
    counts = []
    for call in calls:
        begin, count = process_time(), 0
        while process_time() - begin < ROUND_S:
            call()
            count += 1
        counts.append(count)
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, (call, count) in enumerate(zip(calls, counts, strict=True)):
            begin = process_time()
            for _ in range(count):
                call()
            least[i] = min(least[i], (process_time() - begin) / count)
    return least


if __name__ == "__main__":
    main()
