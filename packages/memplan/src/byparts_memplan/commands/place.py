"""`byparts place FILE.csv`, also `python -m byparts_memplan place`: offsets for buffers, no graph.

The offsets go to stdout; what a person wants to know goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from math import isfinite
from threading import Timer
from time import perf_counter

from byparts_graph_ir import FormatError
from byparts_memplan import __version__
from byparts_memplan.amount import size_bytes
from byparts_memplan.buffer import Buffer, DoesNotFit, PlanError
from byparts_memplan.check import check
from byparts_memplan.commands.place_words import json_of, refusal, summary
from byparts_memplan.csv_format import lines_of, read_buffers, write_placement
from byparts_memplan.place import place
from byparts_memplan.placed import Placement

DEFAULT_TIME_LIMIT_S = 10.0


def main(argv: Sequence[str] | None = None, program: str = "python -m byparts_memplan") -> int:
    """Run the command line.  Returns the exit status."""
    args = _parser(program).parse_args(argv)
    start = perf_counter()
    try:
        return _place(args)
    except KeyboardInterrupt:
        _say(
            f"interrupted after {perf_counter() - start:.1f} s; --time-limit keeps the best so far"
        )
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except (PlanError, FormatError) as error:
        _say(str(error))
    except OSError as error:
        _say(f"{error.filename or '<stdout>'}: {error.strerror or error}")
        if error.filename is None:
            _drop_output()
    return 2


def _drop_output() -> None:
    """Discard what could not be written, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command(arguments: Sequence[str]) -> int:
    """`byparts place FILE.csv`, which is `python -m byparts_memplan place FILE.csv`."""
    return main(["place", *arguments], "byparts")


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        program, description="Plans memory: which buffers may share bytes."
    )
    parser.add_argument("--version", action="version", version=f"byparts-memplan {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "place",
        help="give each buffer of a CSV file an offset in one arena",
        description="Gives each buffer an offset so that none alive together overlap, in the "
        "smallest arena it finds, or in the capacity.  Prints id,lower,upper,size,offset.",
        epilog="exit status: 0 placed, 1 does not fit (or not found in time), 2 wrong input, 130 "
        "interrupted.  What is printed can be placed again, with --svg for example, or edited: "
        "buffers that have an offset stay there.  help(byparts_memplan.__main__) lists the fields "
        "of the JSON.",
    )
    _add_options(one)
    return parser


def _add_options(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "file",
        metavar="FILE",
        help="columns id,lower,upper,size and perhaps alignment,gaps,space,offset (where a buffer "
        "must lie); steps [lower, upper), bytes; - is stdin",
    )
    one.add_argument(
        "--capacity",
        metavar="N",
        type=_capacity,
        action="append",
        default=[],
        help="bytes that may be used, such as 1048576 or 1MiB; of one space: NAME=N, for each",
    )
    one.add_argument(
        "--time-limit",
        metavar="S",
        type=_seconds,
        default=DEFAULT_TIME_LIMIT_S,
        help="seconds to search for (default: 10); the best found by then is printed",
    )
    one.add_argument("--seed", metavar="N", type=int, default=0, help="of the search (default: 0)")
    one.add_argument("--json", action="store_true", help="print one JSON object instead of CSV")
    one.add_argument("--svg", metavar="OUT", help="also write a picture")
    one.add_argument("--draw", action="store_true", help="also draw the arena on stderr")


def _capacity(text: str) -> tuple[str | None, int]:
    name, equals, amount = text.rpartition("=")
    try:
        return (name if equals else None), size_bytes(amount)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if seconds < 0 or not isfinite(seconds):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return seconds


def _place(args: argparse.Namespace) -> int:
    start = perf_counter()
    ids, buffers = _read(args.file)
    capacity = _capacities(args.capacity, buffers)
    _check_pinned(args.file, ids, buffers)
    try:
        with _patience(args.time_limit):
            placement = place(buffers, capacity, time_limit_s=args.time_limit, seed=args.seed)
        failed = None
    except DoesNotFit as error:
        placement, failed = error.placement, error
    check(buffers, placement.offsets, placement.arenas, ids)
    if args.json:
        _print(json_of(ids, placement, failed))
    elif not failed:
        _print(write_placement(ids, placement))
    if args.draw:
        _say(placement.draw())
    if failed:
        _say(refusal(ids, failed, capacity, perf_counter() - start))
    else:
        _say(f"{summary(placement)}; {perf_counter() - start:.2f} s")
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(placement.svg(ids))
    return 1 if failed else 0


@contextmanager
def _patience(time_limit_s: float) -> Iterator[None]:
    """Tell a person at a terminal after a while that the search goes on."""
    timer = Timer(
        1.5, _say, [f"searching, for {time_limit_s:g} s at most; --time-limit changes it"]
    )
    timer.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read(file: str) -> tuple[tuple[str, ...], tuple[Buffer, ...]]:
    if file != "-":
        return read_buffers(file)
    if sys.stdin is None:
        raise FormatError("<stdin>: closed; expected a table of buffers, or the name of a file")
    return read_buffers(lines_of(sys.stdin.buffer, "<stdin>"), "<stdin>")


def _capacities(
    amounts: Sequence[tuple[str | None, int]], buffers: Sequence[Buffer]
) -> int | Mapping[str, int] | None:
    """The capacity of every space, or of each by name."""
    named: dict[str, int] = {}
    for name, amount in amounts:
        if name is not None and named.setdefault(name, amount) != amount:
            raise PlanError(f"--capacity: {name}={named[name]} and {name}={amount}; give one")
    plain = [amount for name, amount in amounts if name is None]
    if plain and (named or len(plain) > 1):
        raise PlanError("--capacity: give one N for every space, or NAME=N for each")
    spaces = dict.fromkeys([b.space for b in buffers])
    if unknown := [name for name in named if name not in spaces]:
        known = ", ".join(map(repr, spaces)) or "no buffers"
        raise PlanError(f"--capacity: no buffer is in space {unknown[0]!r}; there are {known}")
    return plain[0] if plain else named or None


def _check_pinned(file: str, ids: Sequence[str], buffers: Sequence[Buffer]) -> None:
    """Check that pinned buffers do not overlap; errors name them by their ids."""
    pinned = [i for i, b in enumerate(buffers) if b.pinned is not None]
    some, offsets = [buffers[i] for i in pinned], [buffers[i].pinned or 0 for i in pinned]
    arenas = Placement(tuple(some), tuple(offsets), 0, 0, "").arenas
    try:
        check(some, offsets, arenas, [ids[i] for i in pinned])
    except PlanError as error:
        raise PlanError(f"{'<stdin>' if file == '-' else file}: {error}") from None


def _print(text: str) -> None:
    if sys.stdout is None:
        raise PlanError("<stdout>: closed, so there is no place for the offsets")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as files are read, whatever the console's
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    if sys.stderr is not None:  # otherwise `print` would take stdout
        print(text, file=sys.stderr)
