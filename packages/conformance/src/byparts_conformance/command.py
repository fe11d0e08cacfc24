"""`byparts check NAME...`: the kit on installed backends, in a process of its own."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from typing import NoReturn

from byparts_graph_ir.parts.hub import PartError, parts

_USAGE_ERROR = 4  # pytest's exit status


def check(words: Sequence[str]) -> int:
    """Run the kit; returns pytest's exit status, or 2 where it is asked for what there is not.

    pytest runs in another process, because it cannot rewrite the asserts of imported modules.
    """
    args, options = _parser().parse_known_args(words)
    for name in args.backend:
        try:
            parts.record("backends", name)
        except PartError as error:
            print(f"byparts check: {error}", file=sys.stderr)
            return 2
    emulated = {variable_of(name): args.emulated for name in args.backend if args.emulated}
    if args.programs is not None:
        from byparts_conformance.programs.command import try_programs  # needs byparts-runtime

        os.environ.update(emulated)
        return try_programs(args.backend, args.programs, options)
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-c", os.devnull, "--tb=short"]
    kit = ["-p", "no:cacheprovider", "-p", "byparts_conformance.plugin"]
    kit += ["-o", "console_output_style=classic"]  # no percentages: the rows say how far it is
    suite = ["--pyargs", "byparts_conformance.suite"]
    chosen = [f"--byparts-backend={name}" for name in dict.fromkeys(args.backend)]
    command = [*pytest, *kit, *suite, *chosen, *options]
    return _run(command, {**os.environ, **emulated})


def _run(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run pytest; where it was asked wrongly, one sentence in the place of its usage."""
    with TemporaryFile("w+") as said:  # no pipe: a device's process may hold its end for longer
        status = subprocess.call(command, env=env, stderr=said)
        said.seek(0)
        words = said.read()
    if status != _USAGE_ERROR:
        print(words, end="", file=sys.stderr)
        return status
    refused = re.search(r"^.*: error: (.*)", words, re.MULTILINE)
    message = f"{refused[1]}; see byparts check --help" if refused else words
    print(f"byparts check: {message.strip().removeprefix('ERROR: ')}", file=sys.stderr)
    return 2


def variable_of(backend: str) -> str:
    """The variable of the environment that lets a backend emulate its device: `BYPARTS_CUDA`."""
    return f"BYPARTS_{re.sub('[^A-Z0-9]', '_', backend.upper())}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End the process with one line and exit status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> _Parser:
    about = (
        "Run the conformance kit on backends. Also --byparts-op NAME: only this op, and what it "
        "means; --everything: what each op means, absent ops, and all cases of ops that are made "
        "of others. More options go to pytest."
    )
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
