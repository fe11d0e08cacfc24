"""Peak live bytes of a training step: torch eager against ours on torch kernels.

    python benchmarks/live_bytes.py PATH_OF_THE_HARNESS w1,w2,w3,w5,w6

Counted is what a step needs at its worst moment: weights, the optimizer's state, gradients,
activations, and whatever the allocator of torch gives out meanwhile (its profiler reports each
request).  Ours has in addition the arena, constants, what kernels keep between runs, and what they
made by themselves when they were bound.  The batch is the caller's, and counted for neither.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("harness", help="folder of bench.py, with its peers")
    parser.add_argument("workloads", nargs="?", default="w1,w2,w3,w4,w5,w6")
    arguments = parser.parse_args()
    sys.path[:0] = [arguments.harness, str(Path(arguments.harness, "peers"))]
    torch.set_num_threads(1)
    print("| work | torch eager, bytes | byparts_torch, bytes | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name in arguments.workloads.split(","):
        theirs, ours = eager(name), planned(name)
        print(f"| {name} | {theirs:,} | {ours:,} | {ours / theirs:.2f} |", flush=True)


def eager(name: str) -> int:
    """Weights and state that stay, and the most that a step adds."""
    import torch_eager  # type: ignore[import-not-found]  # of the harness, as the next
    import workloads  # type: ignore[import-not-found]

    torch_eager.torch = torch
    peer = torch_eager.build(name, workloads.make(name), 1)
    for _ in range(2):
        peer.step()  # the optimizer makes its state
    peer.opt.zero_grad(set_to_none=True)
    state = [t for s in peer.opt.state.values() for t in s.values() if isinstance(t, torch.Tensor)]
    kept = sum(t.nbytes for t in (*peer.P.values(), *peer.hp.get("stats", {}).values(), *state))
    inputs = sum(t.nbytes for t in peer.I.values())
    assert inputs, "the peer holds its batch itself"
    return int(kept) + requested(peer.step)[1]


def planned(name: str) -> int:
    """Arena, variables, constants, what kernels keep, and the most that a step adds."""
    import workloads

    import workload_graphs

    made: list[Any] = []
    spec = workloads.make(name)
    own, _ = requested(lambda: made.append(workload_graphs.build(name, spec, ("torch",))))
    (peer,) = made
    for _ in range(2):
        peer.step()
    loaded = peer.run._machine.loaded
    constants = loaded.signature.constant_values(loaded.graph)
    kept = loaded.plan.arena_bytes + sum(v.size_bytes for v in peer.variables)
    kept += sum(v.type.size_bytes for v in constants) + loaded.placed.persistent_bytes
    return int(kept) + own + requested(peer.step)[1]


def requested(run: Callable[[], object]) -> tuple[int, int]:
    """Of torch's allocator, during a call: bytes that are kept after it, the most meanwhile."""
    levels = list(accumulate(requests(run), initial=0))
    return levels[-1], max(levels)


def requests(run: Callable[[], object]) -> list[int]:
    """The requests to torch's allocator during a call, in bytes; what is given back is negative."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        run()
    events = [e for e in found.profiler.kineto_results.events() if e.name() == "[memory]"]
    return [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]


if __name__ == "__main__":
    main()
