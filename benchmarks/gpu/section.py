"""One section of the check, in a process of its own: a line of JSON for each thing found.

    python -m gpu.section '{"kind": "workload", "workload": "w1", ...}'

Each line is printed when it is known, so a section that is stopped has told what it had.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

from gpu.workloads import workload

MARK = "@gpu "


def main(request: dict[str, Any]) -> None:
    """Run what is asked for."""
    kinds: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
        **{"device": device, "kernels": kernels, "workload": timed},
        **{"bandwidth": bandwidth, "products": products},
    }
    for row in kinds[request.pop("kind")](**request):
        print(MARK + json.dumps(row), flush=True)


def device(device: str) -> Iterator[dict[str, Any]]:
    """Its name, and the versions."""
    facts = {"python": sys.version.split()[0], "device": device}
    if find_spec("torch") is not None:
        import torch

        facts["torch"] = torch.__version__
        if device.startswith("cuda"):
            facts["cuda"] = str(torch.version.cuda)
    if device.startswith("cuda"):
        from gpu.generated import backend_on, of

        found = of(backend_on(device))
        with found:
            size = f"{found.memory()[1] / 2**30:.0f} GiB"
        facts["device"] = f"{found.title}, {size}"
    yield facts


def kernels(
    device: str, generated: bool, done: list[str], only: list[str]
) -> Iterator[dict[str, Any]]:
    """What the conformance kit says of each op, or `only` those, that is not `done`."""
    from gpu.kernels import conformance

    if generated:
        from gpu.generated import backend_on

        backend = backend_on(device)
    else:
        from gpu.peers import backend_of

        backend = backend_of(device, "f32")
    yield from conformance(backend, done, only)


def bandwidth(device: str, small: bool) -> Iterator[dict[str, Any]]:
    """Bytes a second of kernels that only move data."""
    from gpu.generated import bandwidth

    yield from bandwidth(device, small)


def products(device: str, small: bool) -> Iterator[dict[str, Any]]:
    """Operations a second of products."""
    from gpu.generated import products

    yield from products(device, small)


def timed(
    workload_name: str, device: str, precision: str, peers: list[str], small: bool
) -> Iterator[dict[str, Any]]:
    """Milliseconds of a step, peak memory and the loss after ten steps, of each peer."""
    work = workload(workload_name, small)
    for peer in peers:
        try:
            row = _timed(work, device, precision, peer, small)
        except Exception as error:
            row = {"error": f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.150}"}
        yield {"workload": workload_name, "precision": precision, "peer": peer, **row}
        if device.startswith("cuda") and find_spec("torch") is not None:
            import torch

            torch.cuda.empty_cache()


def _timed(work: Any, device: str, precision: str, peer: str, small: bool) -> dict[str, Any]:
    base = _reserved(device)
    begin = perf_counter()
    step, wait, read, said = _made(work, device, precision, peer)
    losses = [step() for _ in range(10)]
    wait()
    first_s = perf_counter() - begin
    loss = read(losses[-1])
    losses.clear()
    _forget_peak(device)
    best, middle = _times(step, wait, 0.02 if small else 0.25)
    row: dict[str, Any] = {"ms": best, "median_ms": middle, "first_s": first_s}
    return row | {"loss": loss, "peak_mb": _peak(device, base), "said": said}


def _made(work: Any, device: str, precision: str, peer: str) -> Any:
    """(step, wait until all steps are done, a loss as a number, what there is to say)."""
    if peer.startswith("generated"):
        import numpy as np

        from gpu.generated import step_of

        step, backend, said = step_of(work, device, precision, peer == "generated, replayed")

        def number(loss: Any) -> float:
            from byparts_opset.dtypes import numpy_dtype

            backend.space.synchronize()
            data = backend.space.read(loss, 0, loss.type.size_bytes)
            values = np.frombuffer(data, numpy_dtype(loss.type.dtype)).astype("f4")
            return float(np.abs(values).mean())

        return step, backend.space.synchronize, number, said
    if peer == "jax":
        from gpu import jax_peer

        made = jax_peer.step_of(work, device, precision)
        return made, (lambda: made().block_until_ready()), (lambda x: float(abs(x).mean())), ""
    import torch

    from gpu.peers import ours, theirs

    torch.manual_seed(0)
    said = ""
    if peer.startswith("ours"):
        step, said = ours(work, device, precision, capture=peer == "ours, replayed")
    else:
        step = theirs(work, device, precision, peer)
    return step, (lambda: _wait(device)), (lambda loss: float(loss.float().abs().mean())), said


def _times(
    step: Callable[[], Any], wait: Callable[[], None], wanted_s: float
) -> tuple[float, float]:
    """Best and median of five, each of as many steps as take so long, in milliseconds."""
    begin = perf_counter()
    step()
    wait()
    count = max(3, min(5000, int(wanted_s / (perf_counter() - begin))))
    times_ms = []
    for _ in range(5):
        begin = perf_counter()
        for _ in range(count):
            step()
        wait()
        times_ms.append((perf_counter() - begin) / count * 1e3)
    return min(times_ms), median(times_ms)


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize()


def _reserved(device: str) -> int:
    """What is taken of the GPU's memory, without what torch only keeps for later."""
    if not device.startswith("cuda"):
        return 0
    if find_spec("torch") is not None:
        import torch

        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    from gpu.generated import backend_on, of

    found = of(backend_on(device))
    with found:
        free, total = found.memory()
    return total - free


def _forget_peak(device: str) -> None:
    """Building, compiling and recording are over: from here on it is steps."""
    if device.startswith("cuda") and find_spec("torch") is not None:
        import torch

        _reserved(device)
        torch.cuda.reset_peak_memory_stats()


def _peak(device: str, base: int) -> float | None:
    """MB of the GPU at the end, what torch reserves too; nothing is known of the CPU's."""
    if not device.startswith("cuda"):
        return None
    from gpu.generated import backend_on, of

    found = of(backend_on(device))
    with found:
        free, total = found.memory()
    return float(total - free - base) / 1e6


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
