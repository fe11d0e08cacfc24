"""`byparts check NAME...`: the kit on installed backends, in a process of its own."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from byparts_graph_ir.parts.hub import PartError, parts


def check(words: Sequence[str]) -> int:
    """Run the kit; returns pytest's exit status, or 2 where a backend is unknown.

    pytest runs in another process, because it cannot rewrite the asserts of imported modules.
    """
    args, options = _parser().parse_known_args(words)
    for name in args.backend:
        try:
            parts.record("backends", name)
        except PartError as error:
            print(f"byparts check: {error}", file=sys.stderr)
            return 2
    if args.programs is not None:
        from byparts_conformance.programs.command import try_programs  # needs byparts-runtime

        os.environ.update(
            {variable_of(name): args.emulated for name in args.backend if args.emulated}
        )
        return try_programs(args.backend, args.programs, options)
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-c", os.devnull]
    kit = ["-p", "no:cacheprovider", "-p", "byparts_conformance.plugin"]
    suite = ["--pyargs", "byparts_conformance.suite"]
    chosen = [f"--byparts-backend={name}" for name in args.backend]
    emulated = {variable_of(name): args.emulated for name in args.backend if args.emulated}
    command = [*pytest, *kit, *suite, *chosen, *options]
    return subprocess.call(command, env={**os.environ, **emulated})


def variable_of(backend: str) -> str:
    """The variable of the environment that lets a backend emulate its device: `BYPARTS_CUDA`."""
    return f"BYPARTS_{re.sub('[^A-Z0-9]', '_', backend.upper())}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End the process with one line and exit status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> _Parser:
    about = "Run the conformance kit on backends; more options go to pytest."
    parser = _Parser(prog="byparts check", description=about)
    parser.add_argument(
        "--emulated",
        nargs="?",
        const="emulated",
        metavar="MODE",
        help="without the device: BYPARTS_NAME=MODE for each backend, e.g. BYPARTS_CUDA=checked",
    )
    parser.add_argument(
        "--programs",
        type=int,
        metavar="N",
        help="try N random programs instead; also --seed, --batch, --theme",
    )
    parser.add_argument("backend", nargs="+", help="the name of an installed backend")
    return parser
