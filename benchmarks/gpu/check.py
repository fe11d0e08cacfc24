"""Runs everything on a machine with a GPU, in under ten minutes, and prints one report.

    python benchmarks/gpu/check.py                           # cuda:0
    python benchmarks/gpu/check.py --out gpu.json            # all that was found, too
    python benchmarks/gpu/check.py --write                   # the report goes into docs/gpu.md
    python benchmarks/gpu/check.py --emulated --small        # that the check itself runs
    python benchmarks/gpu/check.py --device cpu --small      # likewise, of torch's kernels

It needs this checkout, NumPy and pluggy, a compiler of CUDA C, and torch for what is held against
it; nothing is installed or downloaded.  Each section is a process of its own with a limit, so one
that fails or hangs is reported, and the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu.checkout import python_path
from gpu.report import report

MARK = "@gpu "  # before each line of JSON, as `section.py` prints it
WORKLOADS = (*("w1", "w2", "w3", "w4", "w5", "w6", "w6-large", "w7a", "w7b", "w8", "w8m"),)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"
BEGIN, END = "<!-- check -->\n", "<!-- end of check -->\n"
PRECISIONS = ("f32", "bf16", "tf32")
OURS = ("ours", "ours, replayed")
GENERATED = ("generated", "generated, replayed")
COMPILED = ("default", "reduce-overhead")  # modes of torch.compile
LOST = ("CUDA error", "restart the process")  # what torch says, and what we say
LOSES_DEVICE = 4  # how often a kernel may take the process with it


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 if a kernel is wrong, a program of ours fails, or a section does."""
    asked = _parsed(arguments)
    with TemporaryDirectory() as folder:
        found = Check(asked, python_path(Path(folder))).run()
    print(report(found))
    if asked.out:
        Path(asked.out).write_text(json.dumps(found, indent=1))
    if asked.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        text = f"{before}{BEGIN}{report(found)}\n{END}{rest.split(END)[1]}"
        PAGE.write_text(text, encoding="utf-8")
    return 1 if any(_is_wrong(row) for row in found) else 0


class Check:
    """The sections, until all are done or the time is up."""

    def __init__(self, asked: argparse.Namespace, path: str) -> None:
        self.asked, self.path = asked, path
        self.end = monotonic() + asked.seconds

    def run(self) -> list[dict[str, Any]]:
        """All rows of all sections."""
        device = {"device": self.asked.device}
        found = list(self._section("device", {"kind": "device", **device}, 60))
        generated = self.asked.device not in ("cpu", "double")
        if generated:
            found += self._kernels(True)
            for kind in ("bandwidth", "products"):
                request = {"kind": kind, **device, "small": self.asked.small}
                found += self._section(kind, request, 90)
        if self.asked.torch:
            found += self._kernels(False)
        for name, request, limit in self._timed():
            found += self._section(name, {"kind": "workload", **device, **request}, limit)
        return found

    def _kernels(self, generated: bool) -> list[dict[str, Any]]:
        """The kit; a kernel that takes the device with it is passed over by the next process."""
        found: list[dict[str, Any]] = []
        for _ in range(LOSES_DEVICE):
            done = [row["op"] for row in found if "op" in row]
            request = {"kind": "kernels", "device": self.asked.device, "done": done}
            request |= {"only": self.asked.ops, "generated": generated}
            name = f"kernels, {'generated' if generated else 'of torch'}"
            rows = list(self._section(name, request, 240 if generated else 120))
            found += rows
            said = [why for row in rows for why in row.get("wrong", ())]
            if not any(word in why for why in said for word in LOST):
                break
        return found

    def _timed(self) -> Iterator[tuple[str, dict[str, Any], float]]:
        """What matters most comes first: compiling takes longest, and may be left out."""
        asked = self.asked
        on_cpu = asked.device == "cpu"
        peers: tuple[str, ...] = OURS
        if asked.device != "double":
            peers = ("eager", *OURS[: 1 if on_cpu else 2]) if asked.torch else ()
        if not on_cpu and asked.device != "double":
            peers = (*peers, *GENERATED)
        if asked.jax:
            peers = (*peers, "jax")
        without = () if asked.torch and not on_cpu else ("tf32",)
        precisions = [p for p in asked.precisions if p not in without]
        for precision in precisions:
            for name in asked.workloads:
                yield self._request(name, precision, peers, 60)
        for precision in precisions if asked.compile else ():
            for name in asked.workloads:
                yield self._request(name, precision, COMPILED, 90)

    def _request(
        self, workload: str, precision: str, peers: Sequence[str], limit: float
    ) -> tuple[str, dict[str, Any], float]:
        request = {"workload_name": workload, "precision": precision, "peers": peers}
        name = f"{workload} {precision} {', '.join(peers)}"
        return name, {**request, "small": self.asked.small}, limit

    def _section(self, name: str, request: dict[str, Any], limit: float) -> list[dict[str, Any]]:
        """Its rows, and why there are no more if it did not end well."""
        left = self.end - monotonic()
        if left < 3:
            return [{"section": name, "failed": "no time left"}]
        limit = min(limit, left)
        print(f"{name} ...", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "gpu.section", json.dumps(request)]
        environment = {**os.environ, "PYTHONPATH": self.path}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode() if isinstance(error.stdout, bytes) else ""
            return [*_rows(said), {"section": name, "failed": f"stopped after {limit:.0f} s"}]
        rows = _rows(done.stdout)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no word"]
            rows.append({"section": name, "failed": f"exit {done.returncode}: {last[0]:.200}"})
        return rows


def _is_wrong(row: dict[str, Any]) -> bool:
    ours = "error" in row and row.get("peer", "ours").startswith(("ours", "generated"))
    return ours or "failed" in row or "FAIL" in row.get("said", {})


def _rows(said: str) -> list[dict[str, Any]]:
    return [json.loads(s.removeprefix(MARK)) for s in said.splitlines() if s.startswith(MARK)]


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda:0", help='also "cpu", or "double": none, for us')
    parser.add_argument("--out", help="file for everything found, as JSON")
    parser.add_argument("--seconds", type=float, default=580, help="for all of it")
    parser.add_argument("--write", action="store_true", help="write the report into docs/gpu.md")
    parser.add_argument("--emulated", action="store_true", help="a GPU that is not there")
    parser.add_argument("--small", action="store_true", help="sizes that only prove that it runs")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, help="only these")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--ops", nargs="+", default=(), help="only the kernels of these")
    parser.add_argument("--no-compile", dest="compile", action="store_false", default=None)
    asked = parser.parse_args(arguments)
    on_gpu = asked.device.startswith("cuda")
    if asked.emulated:
        asked.device, on_gpu = "emulated", False
    asked.torch = find_spec("torch") is not None and not asked.emulated
    known = find_spec("jax") is not None
    asked.jax = known and not asked.emulated and asked.device != "double"
    asked.workloads = asked.workloads or [w for w in WORKLOADS if on_gpu or w != "w6-large"]
    asked.compile = (on_gpu if asked.compile is None else asked.compile) and asked.torch
    return asked


if __name__ == "__main__":
    sys.exit(main())
