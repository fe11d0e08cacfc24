"""Numbers in the documentation that move with the code: what they are now, and where they stand.

    python tools/claims.py          # writes them into the pages; needs hatchling for wheels

A claim is a sentence with a number in it, found by its words, so the pages carry no marks.  A test
(`test_claims.py`) fails where a number is further from the truth than its tolerance, or where its
sentence is gone.  Tables between the marks "written by tools/claims.py" are made whole.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from byparts_kernels_numpy import make
from byparts_opset import OPS
from combinations.environment import build_wheels, wheel_of
from combinations.facts import closure, read_parts
from combinations.plan import SMALL_DEVICE
from device_wheels import device_wheels
from op_facts import made_of
from ops_table import recorded_kernels

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "packages/graph-ir/src/byparts_graph_ir/model"
Facts = Mapping[str, int]
SIZE = 0.05  # of a wheel: the prose rounds, and small changes are no news


@dataclass(frozen=True)
class Claim:
    """`words` is a pattern with one group, the number."""

    page: str
    words: str
    fact: str
    tolerance: float = 0.0


CLAIMS = (
    Claim("README.md", r"As wheels they are (\d+) KB", "wheels", SIZE),
    Claim("README.md", r"KB,\s+or (\d+) KB \[without", "device", SIZE),
    Claim("docs/why.md", r"(\d+) KB as wheels,", "wheels", SIZE),
    Claim("docs/why.md", r"wheels,\s+(\d+) KB as wheels for devices", "device", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: graph-ir (\d+)", "wheel graph-ir", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: .*opset (\d+)", "wheel opset", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: .*memplan (\d+)", "wheel memplan", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: .*runtime (\d+)", "wheel runtime", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: .*kernels-numpy (\d+)", "wheel kernels-numpy", SIZE),
    Claim("docs/benchmarks.md", r"Wheels, KB: .*together (\d+)", "wheels", SIZE),
    Claim("docs/benchmarks.md", r"For devices, KB: graph-ir (\d+)", "device graph-ir", SIZE),
    Claim("docs/benchmarks.md", r"For devices, KB: .*opset (\d+)", "device opset", SIZE),
    Claim("docs/benchmarks.md", r"For devices, KB: .*memplan (\d+)", "device memplan", SIZE),
    Claim("docs/benchmarks.md", r"For devices, KB: .*runtime (\d+)", "device runtime", SIZE),
    Claim(
        "docs/benchmarks.md",
        r"For devices, KB: .*kernels-numpy (\d+)",
        "device kernels-numpy",
        SIZE,
    ),
    Claim("docs/benchmarks.md", r"For devices, KB: .*together (\d+)", "device", SIZE),
    Claim("packages/graph-ir/README.md", r"a wheel of (\d+) KB", "wheel graph-ir", SIZE),
    Claim(
        "docs/architecture.md", r"`graph.py` in graph-ir are the model, (\d+) lines", "model", 0.1
    ),
)
_BLOCK = re.compile(
    r"(<!-- written by tools/claims.py: (\w+) -->\n).*?(<!-- end of what is written -->)",
    re.DOTALL,
)


def facts(*, wheels: bool) -> dict[str, int]:
    """What is so.  Wheels, which take seconds, on demand."""
    made = {
        "ops": len(OPS),
        "primitive": sum(not made_of(op) for op in OPS.values()),
        "numpy": sum(op in make().kernels for op in OPS.values()),
        "torch": len(recorded_kernels()),
        "model": sum(lines_of(MODEL / f"{name}.py") for name in ("op", "value", "graph")),
        **_imported(),
    }
    return made | _wheels() if wheels else made


def stale(page: Path, known: Facts) -> Iterator[str]:
    """What a page says that is not so."""
    text = page.read_text(encoding="utf-8")
    for claim in _claims(page, known):
        match = re.search(claim.words, text)
        if match is None:
            yield f"{claim.page}: no sentence has the words {claim.words!r}"
        elif abs(int(match[1]) - known[claim.fact]) > claim.tolerance * known[claim.fact]:
            yield f"{claim.page}: {match[0]!r}, and {claim.fact} is {known[claim.fact]}"
    if _with_blocks(text, known) != text:
        yield f"{page.relative_to(ROOT)}: a table is stale"


def updated(page: Path, known: Facts) -> str:
    """The page with the numbers as they are; those that are near enough stay."""
    text = page.read_text(encoding="utf-8")
    for claim in _claims(page, known):
        match = re.search(claim.words, text)
        if match is None:
            raise SystemExit(f"{claim.page}: no sentence has the words {claim.words!r}")
        if abs(int(match[1]) - known[claim.fact]) > claim.tolerance * known[claim.fact] / 2:
            text = text[: match.start(1)] + str(known[claim.fact]) + text[match.end(1) :]
    return _with_blocks(text, known)


def pages() -> list[Path]:
    """All that may have claims."""
    named = {ROOT / claim.page for claim in CLAIMS}
    return sorted(named | {p for p in ROOT.glob("docs/*.md") if _BLOCK.search(p.read_text())})


def lines_of(path: Path) -> int:
    """Of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def _claims(page: Path, known: Facts) -> list[Claim]:
    return [c for c in CLAIMS if ROOT / c.page == page and c.fact in known]


def _imported() -> dict[str, int]:
    """As the table of the importer says, which its own test keeps true."""
    text = (ROOT / "docs" / "frontend-torch.md").read_text(encoding="utf-8")
    match = re.search(r"(\d+) of the (\d+) ops of torch's core.*?and (\d+) ops beside", text)
    assert match is not None, "docs/frontend-torch.md does not say what is imported"
    return dict(zip(("imported", "core", "beside"), map(int, match.groups()), strict=True))


def _wheels() -> dict[str, int]:
    """Sizes in KB of the parts of a small device, whole and for devices."""
    parts = read_parts(ROOT)
    wanted = {name: parts[name] for name in sorted(closure(SMALL_DEVICE, parts))}
    with TemporaryDirectory() as folder:
        build_wheels(wanted, Path(folder))
        whole = [wheel_of(part, Path(folder)) for part in wanted.values()]
        small = device_wheels(whole, Path(folder) / "device")
        made = {"wheels": _kb(whole), "device": _kb(small)}
        for name, one, other in zip(wanted, whole, small, strict=True):
            made |= {f"wheel {name}": _kb([one]), f"device {name}": _kb([other])}
        return made


def _kb(files: list[Path]) -> int:
    return round(sum(file.stat().st_size for file in files) / 1000)


def _with_blocks(text: str, known: Facts) -> str:
    return _BLOCK.sub(lambda match: match[1] + _TABLES[match[2]](known) + match[3], text)


def _has(known: Facts) -> str:
    beside = f"and {known['beside']} beside"
    rows = {
        "standard ops": f"{known['ops']}, {known['primitive']} of them primitive",
        "kernels on NumPy": f"of {known['numpy']} ops; the others are decomposed",
        "kernels on PyTorch, for CPUs and GPUs": f"of {known['torch']} ops",
        "kernels of our own for GPUs": "none",
        "ops of PyTorch that are imported": (
            f"{known['imported']} of the {known['core']} of its core set, {beside}"
        ),
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join(["| what | how many |", "|---|---|", *lines, ""])


_TABLES = {"has": _has}


def main() -> None:
    """Write what has changed, and say it."""
    known = facts(wheels=True)
    for page in pages():
        if (text := updated(page, known)) != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
