"""One section of the check, in a process of its own: a line of JSON for each thing found.

    python -m gpu.section '{"kind": "workload", "workload": "w1", ...}'

Each line is printed when it is known, so a section that is stopped has told what it had.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import torch

from gpu.peers import ours, theirs
from gpu.workloads import workload

MARK = "@gpu "


def main(request: dict[str, Any]) -> None:
    """Run what is asked for."""
    kinds: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
        **{"device": device, "kernels": kernels, "workload": timed}
    }
    for row in kinds[request.pop("kind")](**request):
        print(MARK + json.dumps(row), flush=True)


def device(device: str) -> Iterator[dict[str, Any]]:
    """Its name, and the versions."""
    facts = {"torch": torch.__version__, "python": sys.version.split()[0], "device": device}
    if device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(device)
        size = f"{properties.total_memory / 2**30:.0f} GiB"
        facts |= {"device": f"{properties.name}, {size}", "cuda": str(torch.version.cuda)}
    yield facts


def kernels(device: str, done: list[str], only: list[str]) -> Iterator[dict[str, Any]]:
    """What the conformance kit says of each op, or `only` those, that is not `done`."""
    from gpu.kernels import conformance

    yield from conformance(device, done, only)


def timed(
    workload_name: str, device: str, precision: str, peers: list[str], small: bool
) -> Iterator[dict[str, Any]]:
    """Milliseconds of a step, peak memory and the loss after ten steps, of each peer."""
    work = workload(workload_name, small)
    for peer in peers:
        torch.manual_seed(0)
        said = ""
        base = _reserved(device)
        begin = perf_counter()
        try:
            if peer.startswith("ours"):
                step, said = ours(work, device, precision, capture=peer == "ours, replayed")
            else:
                step = theirs(work, device, precision, peer)
            losses = [step() for _ in range(10)]
            _wait(device)
            first_s = perf_counter() - begin
            loss = float(losses[-1].float().mean())
            _forget_peak(device)
            best, middle = _times(step, device, 0.02 if small else 0.25)
            row: dict[str, Any] = {"ms": best, "median_ms": middle, "first_s": first_s}
            row |= {"loss": loss, "peak_mb": _peak(device, base), "said": said}
        except Exception as error:
            row = {"error": f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.150}"}
        yield {"workload": workload_name, "precision": precision, "peer": peer, **row}
        step = losses = None  # type: ignore[assignment]  # gives its memory back
        if device.startswith("cuda"):
            torch.cuda.empty_cache()


def _times(step: Callable[[], Any], device: str, wanted_s: float) -> tuple[float, float]:
    """Best and median of five, each of as many steps as take so long, in milliseconds."""
    begin = perf_counter()
    step()
    _wait(device)
    count = max(3, min(5000, int(wanted_s / (perf_counter() - begin))))
    times_ms = []
    for _ in range(5):
        begin = perf_counter()
        for _ in range(count):
            step()
        _wait(device)
        times_ms.append((perf_counter() - begin) / count * 1e3)
    return min(times_ms), median(times_ms)


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _reserved(device: str) -> int:
    """What torch has of the GPU's memory, without what it only keeps for later."""
    if not device.startswith("cuda"):
        return 0
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return int(torch.cuda.memory_reserved())


def _forget_peak(device: str) -> None:
    """Building, compiling and recording are over: from here on it is steps."""
    if device.startswith("cuda"):
        _reserved(device)
        torch.cuda.reset_peak_memory_stats()


def _peak(device: str, base: int) -> float | None:
    """MB of the GPU at most, weights and recordings too; nothing is known of the CPU's."""
    if not device.startswith("cuda"):
        return None
    return float(torch.cuda.max_memory_reserved() - base) / 1e6


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
