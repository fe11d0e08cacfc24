"""Which lines of passes, lowering, emitters, planner and runtime random programs run.

    python integration/program_coverage.py --programs 400            # prints a table
    python integration/program_coverage.py --programs 400 --write    # writes the page

Programs are built by nothing that was kept on the disk: on the native backend, which emits LLVM IR,
for a fifth of them C too, with NumPy for what it lacks; in all the ways of
`byparts_conformance/programs/ways.py`.  Lines are those of functions; what a module does when it
is imported is not counted.  Why a whole function is never run says `program_coverage.tsv`.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from byparts_conformance.programs import campaign
from mutation.source import GROUPS, file_of, lines_run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "program-coverage.md"
REASONS = Path(__file__).with_suffix(".tsv")
_COMMAND = "python integration/program_coverage.py"


@dataclass(frozen=True)
class Function:
    """A function of a module, and the lines that its code has.

    Attributes:
        module, name: where it is; a name inside another function stands behind a dot.
        lines: of its own body, without those of functions inside.
    """

    module: str
    name: str
    lines: frozenset[int]

    @property
    def key(self) -> str:
        """Names it in the file of reasons."""
        return f"{self.module}.{self.name}"


def functions_of(module: str) -> list[Function]:
    """The functions and methods of a module, those inside of others too."""
    source = inspect.getsource(importlib.import_module(module))
    return list(_inside(module, compile(source, file_of(module), "exec"), ""))


def _inside(module: str, code: CodeType, name: str) -> Iterator[Function]:
    for inner in code.co_consts:
        if not isinstance(inner, CodeType):
            continue
        shown = f"{name}.{inner.co_name}" if name else inner.co_name
        if inner.co_flags & inspect.CO_NEWLOCALS and not inner.co_name.startswith("<"):
            first = inner.co_firstlineno
            lines = {line for _, _, line in inner.co_lines() if line and line != first}
            yield Function(module, shown, frozenset(lines | _of_expressions(inner)))
        yield from _inside(module, inner, shown)


def _of_expressions(code: CodeType) -> set[int]:
    """The lines of comprehensions and lambdas in a function."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name.startswith("<")]
    own = {line for c in inner for _, _, line in c.co_lines() if line}
    return own.union(*map(_of_expressions, inner))


def run(programs: int, seed: int) -> dict[str, set[int]]:
    """The lines of each module that programs run."""
    modules = [m for group in GROUPS.values() for m in group]
    lines: dict[str, set[int]] = defaultdict(set)
    parts: list[tuple[str, Callable[[], object]]] = [
        ("llvm", lambda: campaign(("native", "numpy"), programs, seed, batch=4, shrink=False)),
        ("c", lambda: campaign(("native", "numpy"), max(1, programs // 5), seed, batch=20)),
    ]
    for emitter, job in parts:
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"BYPARTS_EMITTER": emitter, "BYPARTS_CACHE": folder}
            for module, some in lines_run(modules, job).items():
                lines[module] |= some
    return lines


def table(lines: dict[str, set[int]], known: dict[str, str]) -> str:
    """Markdown: for each file its share of lines that are run, and the functions that never are."""
    rows, notes = [], []
    counts: dict[str, tuple[int, int]] = {}
    for group, modules in GROUPS.items():
        for module in modules:
            functions = functions_of(module)
            every = frozenset().union(*[f.lines for f in functions])
            ran = every & lines.get(module, set())
            counts[module] = (len(ran), len(every))
            never = [f for f in functions if f.lines and not f.lines & ran]
            share = f"{100 * len(ran) / max(1, len(every)):.0f} %"
            names = ", ".join([f"`{f.name}`" for f in never])
            rows.append(f"| {group} | `{module}` | {len(every)} | {share} | {names} |")
            notes += [f"- `{f.key}`: {reason(f, known)}" for f in never]
    ran_all, all_lines = (sum(column) for column in zip(*counts.values(), strict=True))
    total = f"{ran_all:,} of {all_lines:,} lines, {100 * ran_all / all_lines:.1f} %"
    head = "| group | file | lines | run | functions that are never run |\n|---|---|---|---|---|"
    unique = list(dict.fromkeys(notes))
    return "\n".join([f"{total}.", "", head, *rows, "", "Never run:", "", *unique])


NOT_SAID = "programs could run it"


def reasons() -> dict[str, str]:
    """Why functions are never run, by their keys, or by what keys begin with (a dot at the end)."""
    rows = REASONS.read_text(encoding="utf-8").splitlines()
    pairs = [row.split("\t", 1) for row in rows if row and not row.startswith("#")]
    return {key: why for key, why in pairs}


def reason(function: Function, known: dict[str, str]) -> str:
    """Why a function is never run."""
    if function.key in known:
        return known[function.key]
    starts = [key for key in known if key.endswith(".") and function.key.startswith(key)]
    last = function.name.rsplit(".", 1)[-1]
    return known[max(starts, key=len)] if starts else known.get(last, NOT_SAID)


def main(words: Sequence[str]) -> int:
    """Run programs, print the table, or write the page."""
    parser = argparse.ArgumentParser(prog=_COMMAND)
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    args = parser.parse_args(words)
    if args.programs < 1:
        parser.error(f"--programs is {args.programs}, and must be at least 1")
    warnings.simplefilter("ignore")  # of overflows on the way
    text = table(run(args.programs, args.seed), reasons())
    if not args.write:
        print(text)
        return 0
    count = max(1, args.programs // 5)
    page = f"""# What random programs run of us

Written by `{_COMMAND} --programs {args.programs} --seed {args.seed} --write`:
{args.programs} programs of seeds {args.seed} on with LLVM IR, {count} of them with C, in all ways
of building, on the native backend and on NumPy.  Lines are those of functions of the passes, of
lowering, the emitters, the planner and the runtime; what a module does when it is imported is
not counted.

"""
    PAGE.write_text(page + text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
