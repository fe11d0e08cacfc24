"""`tf.app.run`: reads the flags and runs the program's `main`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from byparts_frontend_tf.api.flags.definitions import define_boolean
from byparts_frontend_tf.api.flags.flags import FLAGS
from byparts_frontend_tf.api.flags.kinds import Error
from byparts_frontend_tf.symbols import symbol

_HELP = ("help", "helpshort", "helpfull")


@symbol("app.run", "python.platform.app.run")
def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Run `main(argv)` with what the flags leave of the command line, and exit with its result.

    Args:
        main: the function; by default that of this name in the program's file.
        argv: the command line; by default that of the process.

    Raises:
        SystemExit: always: with what `main` returns, or 1 if a flag is wrong or help is asked for.
    """
    main = main or sys.modules["__main__"].main
    for name in _HELP:
        if name not in FLAGS:
            define_boolean(name, False, "show this help")
    words = list(sys.argv if argv is None else argv)
    try:
        left = FLAGS(words, known_only=True)
    except Error as error:
        print(f"FATAL Flags parsing error:\n  {error}", file=sys.stderr)
        print("Pass --helpshort or --helpfull to see help on flags.", file=sys.stderr)
        sys.exit(1)
    if any(FLAGS[name].value for name in _HELP):
        print(f"\n       USAGE: {words[0]} [flags]\nflags:\n\n{FLAGS.get_help()}")
        sys.exit(1)
    sys.exit(main(left))
