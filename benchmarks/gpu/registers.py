"""What the compiler says of the kernels of W1 to W8: registers, spills, shared memory.

    python benchmarks/gpu/registers.py            # writes the table in docs/gpu.md; needs nvcc
    python benchmarks/gpu/registers.py --kit      # only that all kernels of the kit compile

No GPU is needed: programs are compiled as for a GPU, and not run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("BYPARTS_CUDA", "emulated")

from byparts_graph_ir import MissingRule
from byparts_graph_ir.parts.hub import parts
from byparts_kernels_cuda import launch
from byparts_kernels_cuda.code import KernelCode
from byparts_kernels_cuda.compile import FLAGS
from byparts_kernels_cuda.driver.api import driver
from byparts_tensor_ir import cache
from gpu.programs import FULL, HYPER, LARGE, NAMES, Draw, inference, training

ARCHITECTURES = ("sm_80", "sm_90")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"
BEGIN, END = "<!-- registers -->\n", "<!-- end of registers -->\n"
_SAID = re.compile(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?",
    re.DOTALL,
)


class Usage(NamedTuple):
    """Of one kernel on one architecture."""

    stack_bytes: int
    spilled_bytes: int
    registers: int
    shared_bytes: int


def main() -> int:
    """The exit status: 1 if a kernel does not compile."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kit", action="store_true", help="kernels of the conformance kit")
    parser.add_argument("names", nargs="*", help="some workloads, or ops of the kit")
    asked = parser.parse_args()
    made = dict(kit(asked.names) if asked.kit else workloads(asked.names or NAMES))
    texts = {code.key: code for codes in made.values() for code in codes}
    print(f"{len(texts)} kernels of {len(made)}", file=sys.stderr)
    usages = usages_of(texts.values())
    wrong = [f"{texts[key].name} {arch}: {u}" for (key, arch), u in usages.items() if _failed(u)]
    print("\n".join(wrong[:20]))
    if not asked.kit and not asked.names:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        table = "\n".join(rows(made, usages))
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    else:
        print("\n".join(rows(made, usages)))
    return 1 if wrong else 0


def workloads(names: Sequence[str]) -> Iterator[tuple[str, list[KernelCode]]]:
    """The kernels of each workload at its real size.

    Each in a process of its own, because a backend compiles what two programs share once.
    """
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        yield from zip(names, pool.map(_workload, names, chunksize=1), strict=True)


def _workload(name: str) -> list[KernelCode]:
    from byparts_runtime.building.build import bodies_for
    from byparts_runtime.building.compile import compile_kernels
    from byparts_runtime.building.discover import find_parts
    from byparts_runtime.building.lower import lower
    from byparts_runtime.building.options import BuildOptions, with_changes
    from byparts_runtime.building.signature import signature_of

    with _Collected() as codes:
        options = with_changes(BuildOptions(), {"backends": ("cuda",)})
        found = find_parts(options)
        arrays = Draw(name, LARGE, blank=True).arrays()
        hp = {**HYPER[name], **FULL.get(name, {})}
        trains = name in ("w1", "w2", "w3", "w4", "w5", "w5s", "w6")
        graph = training(name, arrays, hp)[0] if trains else inference(name, arrays, hp)
        graph, roles = signature_of(graph, (), (), found.spaces)
        codes.clear()
        compile_kernels(lower(graph, roles, found), found, bodies_for(found, options))
        return list(codes.values())


def kit(names: Sequence[str]) -> Iterator[tuple[str, list[KernelCode]]]:
    """The kernels of all cases of the conformance kit, op by op."""
    from byparts_conformance.cases import cases_of

    with _Collected() as codes:
        backend = parts.backend("cuda")
        for name, op in sorted(parts.ops().items()):
            codes.clear()
            for case in cases_of(op) if not names or name in names else ():
                try:
                    backend.compile(case.op, case.types)
                except MissingRule:
                    continue
            yield name, list(codes.values())


class _Collected:
    """Kernels are emitted as for a GPU, and collected instead of compiled."""

    def __enter__(self) -> dict[str, KernelCode]:
        codes: dict[str, KernelCode] = {}
        self.undo = driver().mode, vars(launch)["later"]
        driver().mode = ""
        vars(launch)["later"] = lambda made: codes.update({c.key: c for c in made})
        return codes

    def __exit__(self, *_: object) -> None:
        driver().mode, vars(launch)["later"] = self.undo


def usages_of(codes: Any) -> dict[tuple[str, str], Usage | str]:
    """(key, architecture) -> what nvcc says; or its words, where it fails."""
    asked = [(code, arch) for code in codes for arch in ARCHITECTURES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(_usage, *zip(*asked, strict=True))
    return {(code.key, arch): usage for (code, arch), usage in zip(asked, found, strict=True)}


def _usage(code: KernelCode, architecture: str) -> Usage | str:
    command = ("nvcc", "-cubin", f"-arch={architecture}", *FLAGS, "-Xptxas", "-v")
    name = f"{hashlib.sha256(repr((command, code.text)).encode()).hexdigest()[:32]}.said.json"
    words = cache.kept_text(name)  # of a run that was interrupted
    if words is None:
        words = _words(command, code.text)
        cache.keep_text(name, words)
    said = _SAID.search(words)
    if said is None:
        return words[:500]
    stack, stores, loads, registers, shared = (int(x or 0) for x in said.groups())
    return Usage(stack, stores + loads, registers, shared + code.shared_bytes)


def _words(command: Sequence[str], text: str) -> str:
    """What the compiler says."""
    with TemporaryDirectory() as work:
        source = Path(work) / "kernel.cu"
        source.write_text(text)
        whole = [*command, "-o", f"{work}/kernel.cubin", str(source)]
        done = subprocess.run(whole, capture_output=True, text=True)
    return f"exit {done.returncode}: {done.stderr.strip()}" if done.returncode else done.stderr


def _failed(usage: Usage | str) -> bool:
    return isinstance(usage, str)


def rows(
    made: dict[str, list[KernelCode]], usages: dict[tuple[str, str], Usage | str]
) -> Iterator[str]:
    """The table: for each architecture the largest of what the kernels of a program use."""
    titles = [f"{what}, {arch}" for arch in ARCHITECTURES for what in ("registers", "shared")]
    yield f"| | kernels | {' | '.join(titles)} | spilled | stack |"
    yield "|---|" + "---|" * (len(titles) + 3)
    for name, codes in made.items():
        cells: list[object] = [name, len(codes)]
        all_of = [usages[c.key, arch] for c in codes for arch in ARCHITECTURES]
        known = [u for u in all_of if isinstance(u, Usage)]
        for arch in ARCHITECTURES:
            here = [u for c in codes if isinstance(u := usages[c.key, arch], Usage)]
            cells += [max((u.registers for u in here), default=0)]
            cells += [f"{max((u.shared_bytes for u in here), default=0):,}"]
        cells += [
            sum(u.spilled_bytes for u in known),
            max((u.stack_bytes for u in known), default=0),
        ]
        yield f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
