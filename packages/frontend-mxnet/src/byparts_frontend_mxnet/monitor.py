"""A monitor: a statistic of the arrays that an executor computes, every few batches."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, Optional


def _size(x: Any) -> Any:
    """The norm of an array, divided by the root of its size."""
    return x.norm() / float(x.size) ** 0.5


class Monitor:
    """Collects `stat_func` of outputs and arguments whose names match a pattern.

    Args:
        interval: how many batches lie between two that are watched.
        stat_func: takes an array and gives one; the norm over the root of the size by default.
        pattern: a regular expression for names.
        sort: whether results are sorted by name.
    """

    def __init__(
        self, interval: int, stat_func: Optional[Callable[[Any], Any]] = None, pattern: str = ".*",
        sort: bool = False,
    ) -> None:  # fmt: skip
        self.interval, self.stat_func, self.sort = interval, stat_func or _size, sort
        self.re_prog = re.compile(pattern)
        self.exes: list[Any] = []
        self.queue: list[tuple[int, str, Any]] = []
        self.step, self.activated = 0, False

    def install(self, exe: Any) -> None:
        """Watch an executor."""
        exe.set_monitor_callback(self.stat_helper)
        self.exes.append(exe)

    def stat_helper(self, name: str, array: Any) -> None:
        """Take in an array that was computed."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def tic(self) -> None:
        """Begin a batch."""
        if self.step % self.interval == 0:
            self.queue, self.activated = [], True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """End a batch: step, name and value of what was watched."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in {**exe.arg_dict, **exe.aux_dict}.items():
                self.stat_helper(name, array)
            for name, array in exe.grad_dict.items():
                if array is not None:
                    self.stat_helper(f"{name}_grad", array)
        self.activated = False
        rows = sorted(self.queue, key=lambda row: row[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _shown(value)) for step, name, value in rows]

    def toc_print(self) -> None:
        """End a batch, and log what was watched."""
        for step, name, value in self.toc():
            logging.info("Batch: %7d %30s %s", step, name, value)


def _shown(value: Any) -> str:
    values = value if isinstance(value, (list, tuple)) else [value]
    shown = [v.asnumpy() if hasattr(v, "asnumpy") else v for v in values]
    return "\t".join(str(v.item() if getattr(v, "size", 2) == 1 else v) for v in shown)
