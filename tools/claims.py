"""Numbers in the documentation that move with the code: what they are now, and where they stand.

    python tools/claims.py          # writes them into the pages; needs hatchling for wheels

A claim is a sentence with a number in it, found by its words, so the pages carry no marks.  A test
(`test_claims.py`) fails where a number is further from the truth than its tolerance, or where its
sentence is gone.  Tables between the marks "written by tools/claims.py" are made whole.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from absent import ABSENT
from budgets import lines_of
from byparts_conformance.kernel import ABSENT as NOWHERE
from byparts_conformance.presence import presence
from byparts_graph_ir.parts.hub import parts as hub
from byparts_opset import OPS
from combinations.environment import build_wheels, wheel_of
from combinations.facts import closure, read_parts
from combinations.plan import SMALL_DEVICE
from device_wheels import device_wheels
from layers import layers
from op_facts import made_of
from ops_table import recorded_kernels
from weekend import closure as weekend

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


WEEKEND = ("README.md", "docs/architecture.md")
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
    Claim("docs/architecture.md", r"`graph.py` in graph-ir, (\d+) lines", "model", 0.1),
    *(Claim(page, r"(\d+) files of [\d,]+ lines", "weekend files", 0.1) for page in WEEKEND),
    *(Claim(page, r"\d+ files of ([\d,]+) lines", "weekend lines", 0.1) for page in WEEKEND),
)
_BLOCK = re.compile(
    r"(<!-- written by tools/claims.py: ([\w-]+) -->\n).*?(<!-- end of what is written -->)",
    re.DOTALL,
)


def facts(*, wheels: bool) -> dict[str, int]:
    """What is so.  Wheels, which take seconds, on demand."""
    files = weekend().values()
    known = {
        "ops": len(OPS),
        "primitive": sum(not made_of(op) for op in OPS.values()),
        "torch": len(recorded_kernels()),
        "model": sum(lines_of(MODEL / f"{name}.py") for name in ("op", "value", "graph")),
        "weekend files": len(files),
        "weekend lines": sum(map(lines_of, files)),
        "names of TensorFlow": len(_names_of_tensorflow()),
        **_backends(),
        **_imported(),
    }
    return known | _wheels() if wheels else known


def stale(page: Path, known: Facts) -> Iterator[str]:
    """What a page says that is not so."""
    text = page.read_text(encoding="utf-8")
    for claim in _claims(page, known):
        match = re.search(claim.words, text)
        if match is None:
            yield f"{claim.page}: no sentence has the words {claim.words!r}"
        elif abs(_number(match) - known[claim.fact]) > claim.tolerance * known[claim.fact]:
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
        if abs(_number(match) - known[claim.fact]) > claim.tolerance * known[claim.fact] / 2:
            text = text[: match.start(1)] + _written(claim, known) + text[match.end(1) :]
    return _with_blocks(text, known)


def pages() -> list[Path]:
    """All that may have claims."""
    named = {ROOT / claim.page for claim in CLAIMS}
    return sorted(
        named | {p for p in ROOT.glob("docs/*.md") if _BLOCK.search(p.read_text("utf-8"))}
    )


def _claims(page: Path, known: Facts) -> list[Claim]:
    return [c for c in CLAIMS if ROOT / c.page == page and c.fact in known]


def _number(match: re.Match[str]) -> int:
    return int(match[1].replace(",", ""))


def _written(claim: Claim, known: Facts) -> str:
    """The number; with a comma, and rounded to hundreds, where the pattern allows commas."""
    number = known[claim.fact]
    return f"{round(number, -2):,}" if "," in claim.words.partition("(")[2][:8] else str(number)


def _names_of_tensorflow() -> set[str]:
    """Names, such as "nn.relu", in the tables of all parts that have some."""
    tables = sorted(ROOT.glob("packages/*/src/*/names.tsv"))
    rows = [line for table in tables for line in table.read_text(encoding="utf-8").splitlines()]
    return {row.partition("\t")[0] for row in rows}


def _backends() -> dict[str, int]:
    """Of each backend that starts here: ops with a kernel, and ops that it runs.

    Generated kernels for GPUs are counted without one.
    """
    counts = {}
    before = os.environ.get("BYPARTS_CUDA")
    os.environ["BYPARTS_CUDA"] = before or "emulated"
    try:
        for name in sorted({"numpy", "native", "cuda"} & set(hub.names("backends"))):
            backend = hub.backend(name)
            counts[name] = sum(op in backend.kernels for op in OPS.values())
            counts[f"{name} runs"] = sum(presence(backend, op) != NOWHERE for op in OPS.values())
    finally:
        if before is None:  # a test that runs later may ask for the GPU there is
            del os.environ["BYPARTS_CUDA"]
            hub.forget("cuda")
    return counts


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
        "kernels on NumPy": _of(known, "numpy"),
        "generated kernels for CPUs": _of(known, "native"),
        "generated kernels for NVIDIA GPUs": _of(known, "cuda"),
        "kernels on PyTorch, for CPUs and GPUs": f"of {known['torch']} ops",
        "names of TensorFlow 1": f"{known['names of TensorFlow']:,}",
        "ops of PyTorch that are imported": (
            f"{known['imported']} of the {known['core']} of its core set, {beside}"
        ),
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join(["| what | how many |", "|---|---|", *lines, ""])


def _of(known: Facts, backend: str) -> str:
    return f"of {known[backend]} ops; {known[f'{backend} runs']} of {known['ops']} run"


def _has_not(_: Facts) -> str:
    return "".join(f"- {claim.sentence}\n" for claim in ABSENT)


def _parts(_: Facts) -> str:
    """The parts, the lowest layer first, with the descriptions that their distributions have."""
    lines = ["| layer | part | |", "|---|---|---|"]
    for number, layer in enumerate(reversed(layers())):
        for part in layer:
            line = f"| {number} | [{part}](packages/{part}/README.md) | {_description(part)} |"
            lines.append(line)
    return "\n".join([*lines, ""])


def _description(part: str) -> str:
    """What the distribution says of itself."""
    text = (ROOT / "packages" / part / "pyproject.toml").read_text(encoding="utf-8")
    match = re.search(r'^description = "(.+)"$', text, re.MULTILINE)
    assert match is not None, f"packages/{part}/pyproject.toml has no description"
    return match[1]


_TABLES: Mapping[str, Callable[[Facts], str]] = {
    "has": _has,
    "has-not": _has_not,
    "parts": _parts,
}


def main() -> None:
    """Write what has changed, and say it."""
    known = facts(wheels=True)
    for page in pages():
        if (text := updated(page, known)) != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
