"""`tf.logging`: messages of programs, by Python's logger "tensorflow".

They go to stderr, as "INFO:tensorflow:text"; below WARN they are not shown unless asked for.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from functools import cache
from typing import Any, Union

from byparts_frontend_tf.symbols import symbol

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_seen: Counter[str] = Counter()  # messages of `log_every_n` and `log_first_n`, by the line


@cache
def _logger() -> logging.Logger:
    """The logger; where the program has set up none, one that writes to stderr."""
    logger = logging.getLogger("tensorflow")
    if not logging.getLogger().handlers:
        interactive = bool(getattr(sys, "ps1", "")) or bool(sys.flags.interactive)
        handler = _ToStandardError()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        if interactive:
            logger.setLevel(INFO)
    return logger


class _ToStandardError(logging.StreamHandler[Any]):
    """Writes to what is stderr now, and not to what was when the program began."""

    @property
    def stream(self) -> Any:
        """The file."""
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Nothing: it is always stderr."""


@symbol("logging.log")
def log(level: int, msg: object, *args: object, **how: Any) -> None:
    """Say something of a level."""
    _logger().log(level, msg, *args, **how)


@symbol("logging.debug")
def debug(msg: object, *args: object, **how: Any) -> None:
    """Say something for who looks for mistakes."""
    _logger().debug(msg, *args, **how)


@symbol("logging.info")
def info(msg: object, *args: object, **how: Any) -> None:
    """Say what goes on."""
    _logger().info(msg, *args, **how)


@symbol("logging.warn", "logging.warning")
def warning(msg: object, *args: object, **how: Any) -> None:
    """Say what may be wrong."""
    _logger().warning(msg, *args, **how)


@symbol("logging.error")
def error(msg: object, *args: object, **how: Any) -> None:
    """Say what is wrong."""
    _logger().error(msg, *args, **how)


@symbol("logging.fatal")
def fatal(msg: object, *args: object, **how: Any) -> None:
    """Say what is very wrong; the program goes on."""
    _logger().critical(msg, *args, **how)


@symbol("logging.vlog")
def vlog(level: int, msg: object, *args: object, **how: Any) -> None:
    """Say something of a level."""
    _logger().log(level, msg, *args, **how)


@symbol("logging.log_if")
def log_if(level: int, msg: object, condition: object, *args: object) -> None:
    """Say something if the condition is true."""
    if condition:
        _logger().log(level, msg, *args)


@symbol("logging.log_every_n")
def log_every_n(level: int, msg: object, n: int, *args: object) -> None:
    """Say something each n-th time this line of the program is run, the first time included."""
    log_if(level, msg, _times() % n == 0, *args)


@symbol("logging.log_first_n")
def log_first_n(level: int, msg: object, n: int, *args: object) -> None:
    """Say something the first n times this line of the program is run."""
    log_if(level, msg, _times() < n, *args)


def _times() -> int:
    """Number of earlier calls from the line that called the caller."""
    frame = sys._getframe(2)
    line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    _seen[line] += 1
    return _seen[line] - 1


@symbol("logging.TaskLevelStatusMessage")
def task_level_status_message(msg: object) -> None:
    """Say what goes on, as an error."""
    _logger().error(msg)


@symbol("logging.set_verbosity")
def set_verbosity(v: Union[int, str]) -> None:
    """Show messages of this level and above."""
    _logger().setLevel(v)


@symbol("logging.get_verbosity")
def get_verbosity() -> int:
    """The level from which messages are shown."""
    return _logger().getEffectiveLevel()


@symbol("logging.flush")
def flush() -> None:
    """Write what waits to be written."""
    for handler in _logger().handlers:
        handler.flush()


_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_FUNCTIONS = {
    **{s: s for s in ("log", "debug", "info", "error", "fatal", "flush", "vlog", "warning")},
    **{s: s for s in ("set_verbosity", "get_verbosity", "log_if", "log_every_n", "log_first_n")},
    "warn": "warning",
}
SYMBOLS = {
    **{f"logging.{level}": level for level in _LEVELS},
    **{f"python.platform.tf_logging.{level}": level for level in _LEVELS},
    **{f"python.platform.tf_logging.{name}": place for name, place in _FUNCTIONS.items()},
}
