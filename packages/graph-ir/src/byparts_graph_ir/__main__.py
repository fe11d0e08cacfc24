"""`byparts parts`, `byparts check NAME`, `byparts new backend NAME`, and commands of other parts.

Also `python -m byparts_graph_ir ...`.  Each command imports what it needs.  A part adds commands of
its own with the hook `byparts_commands`: `byparts plan` is memplan's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from byparts_graph_ir.discover import Part


OWN = ("parts", "check", "new")
WHOSE = {"plan": "byparts-memplan", "place": "byparts-memplan"}  # where to find what is not here


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit status.

    A command that is interrupted, or whose reader has gone, ends as a Unix tool would: 130, 141.
    """
    try:
        status = _main(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:  # which `>&-` closes
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or flushing at exit fails
        return 141
    return status


def _main(argv: list[str]) -> int:
    if argv and not argv[0].startswith("-") and argv[0] not in OWN:
        return _foreign(argv[0], argv[1:])
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    if args.command == "check":
        return _check(args.backend, rest)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if args.command == "new":
        return _new(args.name, args.folder)
    return _parts(args.verbose, args.strict)


def _foreign(name: str, arguments: list[str]) -> int:
    """A command that another part provides."""
    from byparts_graph_ir.hub import PartError, parts

    try:
        command = parts.get("commands", name)
    except PartError as error:
        print(f"byparts: {error}", file=sys.stderr)
        if name in WHOSE and name not in parts.names("commands"):
            print(f"  it comes with {WHOSE[name]}: pip install {WHOSE[name]}", file=sys.stderr)
        elif near := get_close_matches(name, OWN, n=1):
            print(f"  did you mean {near[0]!r}?", file=sys.stderr)
        return 2
    return int(command(arguments) or 0)


class _Parser(argparse.ArgumentParser):
    """Its help also lists the commands of other parts; they are looked for when it is asked for."""

    def format_help(self) -> str:
        from byparts_graph_ir.hub import parts

        found = [(record.name, record.doc) for _, record in parts.records("commands")]
        if not found:
            return super().format_help()
        width = max(len(name) for name, _ in found)
        lines = [f"  {name:<{width}}  {doc}".rstrip() for name, doc in sorted(found)]
        return "\n".join([super().format_help(), "commands of other parts:", *lines, ""])


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("byparts", description="The parts that are installed, and new ones.")
    commands = parser.add_subparsers(
        dest="command", required=True, parser_class=argparse.ArgumentParser
    )
    listing = commands.add_parser("parts", help="list the installed parts")
    listing.add_argument(
        "-v", "--verbose", action="store_true", help="records, tracebacks of broken parts"
    )
    listing.add_argument(
        "--strict", action="store_true", help="exit 1 if a part is broken or incompatible"
    )
    check = commands.add_parser(
        "check", help="run the conformance kit on a backend; more options go to pytest"
    )
    check.add_argument("backend", nargs="+")
    new = commands.add_parser("new", help="start a part of your own")
    new.add_argument("kind", choices=["backend"])
    new.add_argument("name")
    new.add_argument("--folder", default=".", help="where to put it (default: here)")
    return parser


def _parts(verbose: bool, strict: bool) -> int:
    from byparts_graph_ir.hub import parts, table

    found = parts.all()
    print(table(found))
    records = [record for part in found for group in part.provides.values() for record in group]
    if any(record.missing() for record in records):
        print("* needs a module that is not installed")
    for line in _unknown_switches(found):
        print(line)
    if verbose:
        for record in records:
            print(f"{type(record).__name__} {record.name} = {record.load}  {record.doc}".rstrip())
        print(*(part.detail for part in found if part.detail), sep="\n", end="")
    return int(strict and any(part.state in ("broken", "incompatible") for part in found))


def _unknown_switches(found: tuple[Part, ...]) -> list[str]:
    """A misspelt switch silently does nothing, or disables everything: say so."""
    from byparts_graph_ir.discover import switch

    known = {name for part in found for name in (part.name, part.distribution)}
    return [
        f"{variable} names no installed part: {', '.join(sorted(unknown))}"
        for variable in ("BYPARTS_DISABLE", "BYPARTS_ONLY")
        if (unknown := switch(variable) - known)
    ]


def _check(backends: list[str], options: list[str]) -> int:
    """Run the kit in its own process: pytest cannot rewrite the asserts of imported modules."""
    from byparts_graph_ir.hub import parts

    if find_spec("byparts_conformance") is None:
        print(
            "byparts check needs the conformance kit: pip install byparts-conformance",
            file=sys.stderr,
        )
        return 2
    names = parts.names("backends")
    if unknown := [name for name in backends if name not in names]:
        print(
            f"no backend {unknown[0]!r}; installed: {', '.join(names) or 'none'}", file=sys.stderr
        )
        return 2
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-c", os.devnull]
    kit = [
        "-p",
        "no:cacheprovider",
        "-p",
        "byparts_conformance.plugin",
        "--pyargs",
        "byparts_conformance.suite",
    ]
    return subprocess.call(
        [*pytest, *kit, *(f"--byparts-backend={name}" for name in backends), *options]
    )


def _new(name: str, folder: str) -> int:
    from byparts_graph_ir.new import new_backend

    try:
        made = new_backend(name, folder)
    except (ValueError, FileExistsError) as error:
        print(error, file=sys.stderr)
        return 2
    print(*made, sep="\n")
    print(f"next: pip install -e {made[0].parent} && byparts check {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
