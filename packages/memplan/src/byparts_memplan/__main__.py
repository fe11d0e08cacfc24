"""`python -m byparts_memplan place FILE.csv`: offsets for buffers, without any graph.

The offsets go to stdout, as CSV or JSON; what a person wants to know goes to stderr.  Exit status:
0 placed, 1 does not fit in the capacity (or not found in time: it says which), 2 wrong input, or
no place for the output, 130 interrupted, 141 nobody reads the output.

The JSON is one object; later versions add fields and, should one change, count `format` up:

    byparts, format     "offsets", 1
    fits                whether all is within the capacity; true where none was given
    arena_bytes         end of the highest buffer; of several spaces, the sum of their ends
    lower_bound_bytes   no arena can be smaller
    optimal             whether these two are equal
    how                 what found it, for people
    arenas              space -> bytes; the default space is ""
    offsets             id -> bytes from the start of its space's arena, also where it does not fit
    proved, subset      only where it does not fit: whether no placement does; ids that do not fit
                        even alone, as few as possible, [] where they are not known
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from math import isfinite
from threading import Timer
from time import perf_counter

from byparts_memplan import __version__
from byparts_memplan.amount import human, size_bytes
from byparts_memplan.buffer import Buffer, DoesNotFit, Placement, PlanError
from byparts_memplan.check import check
from byparts_memplan.csv_format import lines_of, read_buffers, write_placement
from byparts_memplan.place import place

JSON_FORMAT = 1
DEFAULT_TIME_LIMIT_S = 10.0
_MOST_NAMED = 40  # buffers of a reason


def main(argv: Sequence[str] | None = None, program: str = "python -m byparts_memplan") -> int:
    """The command line; returns the exit status."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python flushes again
        return 141
    except PlanError as error:
        _say(str(error))
    except OSError as error:
        _say(f"{error.filename or '<stdout>'}: {error.strerror or error}")
    return 2


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
            made = place(buffers, capacity, time_limit_s=args.time_limit, seed=args.seed)
        failed = None
    except DoesNotFit as error:
        made, failed = error.placement, error
    check(buffers, made.offsets, made.arenas, ids)
    if args.json:
        _print(_json(ids, made, failed))
    elif not failed:
        _print(write_placement(ids, made))
    if args.draw:
        _say(made.draw())
    if failed:
        _say(_refusal(ids, failed, capacity, perf_counter() - start))
    else:
        _say(f"{_summary(made)}; {perf_counter() - start:.2f} s")
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(made.svg(ids))
    return 1 if failed else 0


@contextmanager
def _patience(time_limit_s: float) -> Iterator[None]:
    """Says after a while that it goes on, to a person at a terminal."""
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
        raise PlanError("<stdin>: closed; expected a table of buffers, or the name of a file")
    return read_buffers(lines_of(sys.stdin.buffer, "<stdin>"), "<stdin>")


def _capacities(
    given: Sequence[tuple[str | None, int]], buffers: Sequence[Buffer]
) -> int | Mapping[str, int] | None:
    """One for all, or by space."""
    named: dict[str, int] = {}
    for name, amount in given:
        if name is not None and named.setdefault(name, amount) != amount:
            raise PlanError(f"--capacity: {name}={named[name]} and {name}={amount}; give one")
    plain = [amount for name, amount in given if name is None]
    if plain and (named or len(plain) > 1):
        raise PlanError("--capacity: give one N for every space, or NAME=N for each")
    spaces = dict.fromkeys([b.space for b in buffers])
    if unknown := [name for name in named if name not in spaces]:
        known = ", ".join(map(repr, spaces)) or "no buffers"
        raise PlanError(f"--capacity: no buffer is in space {unknown[0]!r}; there are {known}")
    return plain[0] if plain else named or None


def _check_pinned(file: str, ids: Sequence[str], buffers: Sequence[Buffer]) -> None:
    """With the ids in the error."""
    pinned = [i for i, b in enumerate(buffers) if b.pinned is not None]
    some, offsets = [buffers[i] for i in pinned], [buffers[i].pinned or 0 for i in pinned]
    arenas = Placement(tuple(some), tuple(offsets), 0, 0, "").arenas
    try:
        check(some, offsets, arenas, [ids[i] for i in pinned])
    except PlanError as error:
        raise PlanError(f"{'<stdin>' if file == '-' else file}: {error}") from None


def _summary(made: Placement) -> str:
    bound = made.lower_bound_bytes
    over = 100 * (made.arena_bytes / bound - 1) if bound else 0
    verdict = "none is smaller" if made.optimal else f"it is {over:.2f} % over"
    return (
        f"placed {len(made.buffers)} buffers in {made.arena_bytes} bytes "
        f"({human(made.arena_bytes)}); lower bound {bound}: {verdict}; {made.how}"
    )


def _refusal(
    ids: Sequence[str],
    failed: DoesNotFit,
    capacity: int | Mapping[str, int] | None,
    time_s: float,
) -> str:
    made = failed.placement
    proof = "proved" if failed.proved else f"not proved: none was found in {time_s:.2f} s"
    lines = [
        f"{len(made.buffers)} buffers do not fit in {_told(capacity)} bytes; {proof}",
        f"the best found takes {made.arena_bytes}; lower bound {made.lower_bound_bytes}",
    ]
    if failed.subset:
        lines += _reason(ids, made.buffers, failed.subset)
    return "\n".join(lines)


def _told(capacity: int | Mapping[str, int] | None) -> str:
    """As it was given."""
    if not isinstance(capacity, Mapping):
        return str(capacity)
    return ", ".join([f"{name}={amount}" for name, amount in capacity.items()])


def _reason(ids: Sequence[str], buffers: Sequence[Buffer], subset: Sequence[int]) -> list[str]:
    """The smallest set that does not fit, as a table."""
    some = [buffers[i] for i in subset]
    total = sum([b.size_bytes for b in some])
    born = max([b.lives[0][0] for b in some if b.lives], default=0)
    here = all(any(lower <= born < upper for lower, upper in b.lives) for b in some)
    step = f", all needed at step {born}" if here else ""
    lines = [
        f"{len(subset)} of them ({total} bytes{step}) do not fit even alone; "
        "without any one of these, the others do:",
        *_table([ids[i] for i in subset[:_MOST_NAMED]], some[:_MOST_NAMED]),
    ]
    more = len(subset) - _MOST_NAMED
    return [*lines, f"and {more} more"] if more > 0 else lines


def _table(ids: Sequence[str], buffers: Sequence[Buffer]) -> list[str]:
    """As the file says them, in columns; those that say nothing are left out."""
    text = write_placement(ids, Placement(tuple(buffers), (0,) * len(buffers), 0, 0, ""))
    rows = [list(row) for row in csv.reader(text.splitlines())]
    for row, pin in zip(rows, ["offset", *[b.pinned for b in buffers]], strict=True):
        row[-1] = "" if pin is None else str(pin)
    if all(b.pinned is None for b in buffers):
        rows = [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]).rstrip()
        for row in rows
    ]


def _json(ids: Sequence[str], made: Placement, failed: DoesNotFit | None) -> str:
    fields: dict[str, object] = {
        "byparts": "offsets",
        "format": JSON_FORMAT,
        "fits": failed is None,
        "arena_bytes": made.arena_bytes,
        "lower_bound_bytes": made.lower_bound_bytes,
        "optimal": made.optimal,
        "how": made.how,
        "arenas": made.arenas,
        "offsets": dict(zip(ids, made.offsets, strict=True)),
    }
    if failed is not None:
        fields["proved"] = failed.proved
        fields["subset"] = [ids[i] for i in failed.subset]
    return json.dumps(fields, ensure_ascii=False, indent=1) + "\n"


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


if __name__ == "__main__":
    sys.exit(main())
