"""`byparts parts`, `byparts new KIND NAME`, and the commands that other parts add.

Also `python -m byparts_graph_ir ...`.  Each command imports what it needs.  A part adds commands
with the hook `byparts_commands`.  The exit status is 2 where the command was asked wrongly, with
one line that says how.
"""

from __future__ import annotations

import argparse
import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts import isolate
from byparts_graph_ir.parts.install import install_command, provider

if TYPE_CHECKING:
    from byparts_graph_ir.parts.discover import Part


OWN = ("parts", "new")


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit status.

    A command that is interrupted, or whose reader has gone, ends as a Unix tool would: 130, 141.
    """
    isolate.capture = True  # until the end: what a part writes is told on stderr
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
    finally:
        isolate.capture = False
    return status


def _main(argv: list[str]) -> int:
    if argv and not argv[0].startswith("-") and argv[0] not in OWN:
        return _foreign(argv[0], argv[1:])
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}", args.command)
    if args.command == "new":
        return _new(args.kind, args.name, args.folder)
    return _parts(args)


def _foreign(name: str, arguments: list[str]) -> int:
    """A command that another part provides."""
    from byparts_graph_ir.parts.hub import parts

    try:
        command = parts.get("commands", name)
    except PartError as error:
        there = name in parts.names("commands") or parts.without("commands", name)
        return _refused(str(error) if there else _no_command(name))
    try:
        return int(command(arguments) or 0)
    finally:
        _tell_notes()


def _no_command(name: str) -> str:
    from byparts_graph_ir.parts.hub import parts

    known = [*OWN, *parts.names("commands")]
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if whose := provider("commands", name):
        there = [p for p in parts.all() if p.distribution == whose]
        hint = f"; it comes with {whose}: {install_command(whose)}"
        hint = f"; {whose} is {there[0].state}: {there[0].why}" if there else hint
    return f"no command {name!r}; there are {', '.join(known)}{hint}"


def _refused(sentence: str, command: str = "") -> int:
    """Say on stderr why the command was asked wrongly; the exit status of that."""
    print(f"byparts{' ' * bool(command)}{command}: {sentence}", file=sys.stderr)
    return 2


def _tell_notes() -> None:
    """Print what parts wrote while they were loaded, and what else they should not have done."""
    from byparts_graph_ir.parts.hub import parts

    for part in parts.all():
        for note in part.notes:
            print(f"note: {part.name} ({part.distribution}) {note}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose help also lists the commands of other parts."""

    def format_help(self) -> str:
        if " " in self.prog:  # the help of one command
            return super().format_help()
        from byparts_graph_ir.parts.hub import parts  # which are looked for when help is asked for

        commands = [(record.name, record.doc) for _, record in parts.records("commands")]
        if not commands:
            return super().format_help()
        width = max(len(name) for name, _ in commands)
        lines = [f"  {name:<{width}}  {doc}".rstrip() for name, doc in sorted(commands)]
        return "\n".join([super().format_help(), "commands of other parts:", *lines, ""])

    def error(self, message: str, command: str = "") -> NoReturn:
        """End the process with one line and exit status 2."""
        prog = f"{self.prog} {command}".rstrip()
        self.exit(2, f"{prog}: {message}; see {prog} --help\n")


def _parser() -> _Parser:
    parser = _Parser("byparts", description="The parts that are installed, and new ones.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("parts", help="list the installed parts")
    listing.add_argument(
        "-v", "--verbose", action="store_true", help="records, tracebacks of broken parts"
    )
    listing.add_argument(
        "--strict",
        action="store_true",
        help="load all that they provide, start each backend; "
        "exit 1 if a part is broken, incompatible or in conflict with another",
    )
    listing.add_argument("--json", action="store_true", help="print JSON")
    new = commands.add_parser("new", help="start a part of your own")
    new.add_argument("kind", choices=["backend", "op", "pass", "planner", "frontend"])
    new.add_argument("name")
    new.add_argument("--folder", default=".", help="where to put it (default: here)")
    return parser


def _parts(args: argparse.Namespace) -> int:
    from byparts_graph_ir.parts.hub import parts
    from byparts_graph_ir.parts.listing import as_json, inspected, table

    listed = inspected(parts, load=args.strict)
    failed = any(part.state in ("broken", "incompatible", "conflict") for part in listed)
    status = int(args.strict and failed)
    if args.json:
        import json

        print(json.dumps(as_json(listed), indent=1))
        return status
    print(table(listed, _width()))
    records = [record for part in listed for group in part.provides.values() for record in group]
    if any(record.missing() for record in records):
        print("* needs a module that is not installed")
    for line in _unknown_switches(listed):
        print(line)
    if args.verbose:
        for record in records:
            print(f"{type(record).__name__} {record.name} = {record.load}  {record.doc}".rstrip())
        print(*(part.detail for part in listed if part.detail), sep="\n", end="")
    return status


def _width() -> int:
    """The width of the terminal; 0 where the output goes to a file or another program."""
    from shutil import get_terminal_size

    there = sys.stdout is not None and sys.stdout.isatty()
    return get_terminal_size().columns if there else 0


def _unknown_switches(listed: list[Part]) -> list[str]:
    """A misspelt switch silently does nothing, or disables everything: say so."""
    from byparts_graph_ir.parts.discover import switch

    known = {name for part in listed for name in (part.name, part.distribution)}
    return [
        f"{variable} names no installed part: {', '.join(sorted(unknown))}"
        for variable in ("BYPARTS_DISABLE", "BYPARTS_ONLY")
        if (unknown := switch(variable) - known)
    ]


def _new(kind: str, name: str, folder: str) -> int:
    try:
        from byparts_graph_ir.parts.new import new_part

        part = new_part(kind, name, folder)
    except (PartError, ValueError, OSError) as error:
        return _refused(str(error), "new")
    print(*part.files, sep="\n")
    print(f"next: {part.advice}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
