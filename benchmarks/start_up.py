"""What small systems take from the start of a process to its end, beside NumPy by hand.

    python benchmarks/start_up.py [--device WHEELS] [--rounds 20]

Processes take turns; of each the least processor time and memory are printed, for a neighbour on
the machine can only make a program dearer.  `python tools/device_wheels.py WHEELS` makes
wheels, which are tried as they are, and installed to a folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "integration"))

from small import by_hand, mlp, plan_only
from small.measure import Process, process

NEARLY = "import numpy, byparts_opset, byparts_memplan, byparts_runtime, byparts_kernels_numpy as k"


@dataclass(frozen=True)
class Row:
    """A program, where its modules are, and its arguments."""

    text: str
    path: tuple[Path, ...] = ()
    files: tuple[str, ...] = ()


def rows(folder: Path, wheels: Path | None) -> dict[str, Row]:
    graph, weights = str(folder / "graph.json"), str(folder / "weights.npz")
    mlp.write(graph, weights)
    hand, ours, planned = (
        Path(str(module.__file__)).read_text() for module in (by_hand, mlp, plan_only)
    )
    found = {
        "bare interpreter": Row(""),
        "import byparts_graph_ir, byparts_memplan": Row("import byparts_graph_ir, byparts_memplan"),
        "a graph built and planned, no NumPy": Row(planned),
        "import numpy": Row("import numpy"),
        "... and opset": Row("import numpy, byparts_opset"),
        "... and memplan, runtime, kernels-numpy": Row(f"{NEARLY}; k.make()"),
        "MLP by hand": Row(hand),
        "MLP of our parts": Row(ours),
        "MLP by hand, weights from a file": Row(hand, files=(weights,)),
        "MLP of our parts, graph and weights from files": Row(ours, files=(graph, weights)),
    }
    if wheels:
        here, packed = folder / "site", tuple(sorted(wheels.glob("*+device*.whl")))
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
        subprocess.run([*pip, "--target", str(here), *map(str, packed)], check=True)
        found["... from device wheels, installed"] = Row(ours, (here,))
        found["... from device wheels as they are"] = Row(ours, packed)
    return found


def measure(programs: dict[str, Row], rounds: int, cache: Path) -> dict[str, Process]:
    """The least of so many rounds; the first one, which compiles, is not counted."""
    best: dict[str, Process] = {}
    for turn in range(rounds + 1):
        for name, row in programs.items():
            new = process(row.text, cache, row.path, row.files)
            old = best.get(name, new)
            if turn:
                best[name] = Process(min(new.ms, old.ms), min(new.mb, old.mb))
        print(f"\rround {turn} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", type=Path, metavar="WHEELS", help="a folder of device wheels")
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        programs = rows(Path(name), asked.device)
        found = measure(programs, max(1, asked.rounds), Path(name) / "cache")
    print("| | ms | MB |\n|---|---|---|")
    for label, cost in found.items():
        print(f"| {label} | {cost.ms:.1f} | {cost.mb:.1f} |")


if __name__ == "__main__":
    main()
