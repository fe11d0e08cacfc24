"""`byparts check NAME --programs N`: random programs on a backend, with progress on a terminal."""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence

from byparts_conformance.programs.campaign import Report, campaign, campaign_on_threads
from byparts_conformance.programs.generate import THEMES
from byparts_graph_ir.parts.hub import parts


def try_programs(names: Sequence[str], count: int, words: Sequence[str]) -> int:
    """Try programs on each backend.

    What a backend lacks runs on byparts-kernels-numpy, where that is installed.

    Args:
        names: of installed backends.
        count: how many programs.
        words: more of the command line: `--seed`, `--batch`, `--theme`, `--not-finite`, `--prints`,
            `--threads`.

    Returns:
        The status of the process: 1 if a program is wrong, 2 for words that are no options.
    """
    args = _parser().parse_args(words)
    status = 0
    others = [name for name in ("numpy",) if name in parts.names("backends")]
    for name in names:
        backends = list(dict.fromkeys((name, *others)))
        options = {"batch": args.batch, "theme": args.theme, "progress": _Progress(name, count)}
        options["not_finite"] = True if args.not_finite else None
        options["prints"] = True if args.prints else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of overflows on the way; results are compared
            tried = campaign_on_threads if args.threads else campaign
            report = tried(backends, count, args.seed, **options)
        _erase()
        print(f"backends {', '.join(backends)}: {report}")
        status = status or int(bool(report.failures))
    return status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="byparts check NAME --programs N")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument("--batch", type=int, default=16, help="programs built together")
    parser.add_argument("--theme", choices=list(THEMES), default="", help="kinds of nodes; or all")
    words = "inputs hold nan and infinities; without it, those of every eighth program do"
    parser.add_argument("--not-finite", action="store_true", help=words)
    words = "values are printed; without it, in every fifth program"
    parser.add_argument("--prints", action="store_true", help=words)
    words = "loops are shared among threads, however short they are"
    parser.add_argument("--threads", action="store_true", help=words)
    return parser


class _Progress:
    """A line on a terminal that says how far it is; nothing elsewhere."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count

    def __call__(self, report: Report) -> None:
        if sys.stderr.isatty():
            done = f"{report.programs:,} of {self.count:,} programs"
            wrong = f", {len(report.failures)} wrong" if report.failures else ""
            print(f"\r{self.name}: {done}{wrong} ", end="", file=sys.stderr, flush=True)


def _erase() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
