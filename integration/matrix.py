"""Tries the combinations of parts, each from wheels and by itself; exit status 1 names who fails.

    python integration/matrix.py                  # a path for each combination: seconds
    python integration/matrix.py --clean          # a virtual environment for each, made by pip
    python integration/matrix.py --oldest         # the oldest versions that the parts claim
    python integration/matrix.py --only frontend  # those whose id contains this; --list shows all

Each combination proves that just its parts are there, that what is absent is said in a sentence,
and that the same recorded programs give the same answers.  Torch is not fetched unless
`--get-torch` says so; where it is missing, what needs it fails, unless `--without-torch`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from combinations.environment import (
    Environment,
    Installed,
    Linked,
    build_wheels,
    install,
    proof_home,
    virtual_environment,
)
from combinations.facts import Parts, closure, read_parts, requirements
from combinations.oldest import download, find_python, interpreter_version, older_parts, pins
from combinations.plan import MAY_LACK, Combination, combinations
from combinations.third_party import Missing, Packages
from combinations.verdict import FAIL, LEFT_OUT, Verdict, declined, prove, summary, table

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
RECORDERS = ("autodiff", "memplan", "opset")  # the parts that `proof.record` imports

Make = Callable[[Combination], Environment]


def main(argv: Sequence[str]) -> int:
    """Command line."""
    parser = _parser()
    given = parser.parse_args(argv)
    if given.python and not (given.clean or given.oldest):
        parser.error("--python goes with --clean or --oldest, which get packages for it")
    parts = read_parts(ROOT)
    rows = [c for c in combinations(parts, every_subset=given.full) if given.only in c.id]
    if given.clean:  # pip unpacks every wheel, and brings all that it requires
        rows = [row for row in rows if not (row.zipped or row.lacks)]
    if not rows or given.list:
        print(*(c.id for c in rows) if rows else [f"no id contains {given.only!r}"], sep="\n")
        return int(not rows)
    start = time.perf_counter()
    with TemporaryDirectory(prefix="matrix-") as folder:
        try:
            verdicts = list(_run(rows, parts, Path(folder), given))
        except Missing as error:
            print(error, file=sys.stderr)
            return 1
    print(f"\n{table(verdicts)}\n", *declined(verdicts), sep="\n")
    print(summary(verdicts, time.perf_counter() - start))
    return int(any(v.state == FAIL for v in verdicts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--clean", action="store_true", help="a virtual environment for each, by pip")
    how.add_argument("--oldest", action="store_true", help="the oldest versions that are claimed")
    parser.add_argument("--only", default="", metavar="TEXT", help="ids that contain this")
    parser.add_argument("--list", action="store_true", help="print the ids and stop")
    parser.add_argument("--full", action="store_true", help="every subset of passes and planners")
    parser.add_argument("--python", default="", help="interpreter of the combinations")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--get-torch", action="store_true", help="by pip, where it is missing")
    parser.add_argument("--without-torch", action="store_true", help="leave out what needs it")
    return parser


def _run(
    rows: Sequence[Combination], parts: Parts, folder: Path, given: argparse.Namespace
) -> Iterator[Verdict]:
    """Prepare, then one verdict after the other, each printed when it is known."""
    start = time.perf_counter()
    build_wheels(parts, folder / "wheels")
    home, programs = proof_home(folder / "home"), folder / "programs"
    _record(parts, folder, home, programs)
    print(
        f"{len(parts)} wheels and the programs in {time.perf_counter() - start:.1f} s", flush=True
    )
    make = _maker(parts, folder, given)
    skip = partial(left_out, parts=parts) if given.without_torch else lambda _: None
    with ThreadPoolExecutor(given.jobs) as workers:
        proof = partial(prove, make=make, home=home, programs=programs, parts=parts)
        for verdict in workers.map(lambda row: skip(row) or proof(row), rows):
            print(verdict, flush=True)
            if verdict.state == FAIL:
                print(f"\n{verdict.said}\n", flush=True)
            yield verdict


def _record(parts: Parts, folder: Path, home: Path, programs: Path) -> None:
    """The programs, made by the parts of the tree on the packages of this environment."""
    programs.mkdir()
    linked = _linked(parts, folder / "here", folder / "wheels", Path(sys.executable), _sites())
    made = linked.make(Combination("record", closure(RECORDERS, parts)))
    done = made.run("-m", "proof.record", str(programs), home=home)
    if done.returncode:
        raise Missing(f"the programs cannot be recorded:\n{done.stderr}")


def _maker(parts: Parts, folder: Path, given: argparse.Namespace) -> Make:
    """How environments are made in the mode that was asked for."""
    wheels = folder / "wheels"
    if given.oldest:
        return _oldest(parts, folder, given)
    python = Path(given.python or sys.executable)
    if given.clean:
        return Installed(parts, wheels, python, folder / "clean", CONSTRAINTS).make
    if given.get_torch and not given.without_torch:
        _get_torch()
    return _linked(parts, folder / "bare", wheels, python, _sites()).make


def _oldest(parts: Parts, folder: Path, given: argparse.Namespace) -> Make:
    """All at the lower bounds, in one environment that lends its packages to every combination."""
    python, remark = find_python(parts, given.python)
    claimed = pins(parts, CONSTRAINTS.read_text(encoding="utf-8"))
    older = older_parts(parts)
    print(f"{remark}; {', '.join(map(str, claimed))}")
    print("parts of older releases:", ", ".join(f"{n} {v}" for n, v in older.items()) or "none")
    download(older, folder / "older")
    lender = virtual_environment(python, folder / "oldest")
    torch = given.get_torch and not given.without_torch
    wanted = [pin.requirement for pin in claimed if pin.name != MAY_LACK or torch]
    install(lender, wanted, CONSTRAINTS)
    sites = list((folder / "oldest").glob("lib/python*/site-packages"))
    return _linked(parts, folder / "bare", folder / "wheels", python, sites, folder / "older").make


def _linked(
    parts: Parts,
    folder: Path,
    wheels: Path,
    python: Path,
    sites: Sequence[Path],
    older: Path | None = None,
) -> Linked:
    """A bare interpreter like `python`, with the packages of `sites` to choose from."""
    version = interpreter_version(python)
    if version is None:
        raise Missing(f"{python} is no Python that runs")
    bare = virtual_environment(python, folder / "venv")
    return Linked(parts, wheels, bare, Packages(sites, folder / "links", version), older)


def _sites() -> list[Path]:
    return sorted({Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")})


def _get_torch() -> None:
    """Into this environment, if it is not there; what needs it says so if that fails."""
    if find_spec(MAY_LACK) is not None:
        return
    pinned = re.search(r"^torch==\S+", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned, "constraints.txt pins torch: an open range may take gigabytes"
    try:
        install(Path(sys.executable), [pinned[0]], CONSTRAINTS)
    except Missing as error:
        print(f"{pinned[0]}: {error}", file=sys.stderr)


def left_out(row: Combination, parts: Parts) -> Verdict | None:
    """The verdict on a row that needs torch, where that was not wanted; else `None`."""
    names = {r.name for r in requirements(row.parts, parts)} - row.lacks
    if MAY_LACK not in names:
        return None
    return Verdict(row.id, LEFT_OUT, said=f"needs {MAY_LACK}: --without-torch was given")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
