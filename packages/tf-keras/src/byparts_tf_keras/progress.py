"""The line that training prints, as Keras prints it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol


@symbol("keras.utils.Progbar")
class Progbar:
    """A bar that grows, and values beside it.

    Args:
        target: how many there are; `None` if that is not known.
        width: of the bar.
        verbose: 1 a bar, 2 a line at the end, 0 nothing.
        interval: seconds between two prints.
        stateful_metrics: names of values that are printed as they are, not as means.
        unit_name: of what is counted.
    """

    def __init__(
        self,
        target: Optional[int],
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Optional[Sequence[str]] = None,
        unit_name: str = "step",
    ) -> None:
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name, self.stateful_metrics = unit_name, set(stateful_metrics or ())
        self._dynamic = bool(getattr(sys.stdout, "isatty", lambda: False)()) or (
            "ipykernel" in sys.modules
        )
        self._total_width, self._seen = 0, 0
        self._values: dict[str, Any] = {}
        self._start, self._last = time.time(), 0.0

    def update(self, current: int, values: Any = None) -> None:
        """Show that `current` are done, and the values now."""
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = value
            else:
                total, count = self._values.get(name, (0.0, 0))
                step = current - self._seen if name in self._values else current
                self._values[name] = (total + value * step, count + step)
        self._seen = current
        now = time.time()
        whole = self.target is not None and current >= self.target
        if self.verbose == 1:
            if now - self._last < self.interval and not whole:
                return
            self._print_bar(current, now, whole)
        elif self.verbose == 2 and whole:
            digits = len(str(self.target))
            begin = f"{current:>{digits}d}/{self.target}" + f" - {now - self._start:.0f}s"
            sys.stdout.write(begin + self._shown() + "\n")
            sys.stdout.flush()
        self._last = now

    def add(self, n: int, values: Any = None) -> None:
        """Show that `n` more are done."""
        self.update(self._seen + n, values)

    def _print_bar(self, current: int, now: float, whole: bool) -> None:
        before = self._total_width
        sys.stdout.write("\b" * before + "\r" if self._dynamic else "\n")
        if self.target is None:
            bar = f"{current:7d}/Unknown"
        else:
            digits = len(str(self.target))
            filled = int(self.width * current / self.target) if self.target else 0
            arrow = ("=" * (filled - 1) + ("=" if whole else ">")) if filled > 0 else ""
            bar = f"{current:{digits}d}/{self.target} [{arrow}{'.' * (self.width - filled)}]"
        each = (now - self._start) / current if current else 0.0
        if self.target is not None and not whole:
            info = f" - ETA: {_clock(each * (self.target - current))}"
        else:
            info = f" - {now - self._start:.0f}s {_short(each)}/{self.unit_name}"
        info += self._shown()
        self._total_width = len(bar) + len(info)
        info += " " * max(0, before - self._total_width)
        sys.stdout.write(bar + info + ("\n" if whole else ""))
        sys.stdout.flush()

    def _shown(self) -> str:
        text = ""
        for name, value in self._values.items():
            mean = value[0] / max(1, value[1]) if isinstance(value, tuple) else value
            number = float(np.mean(mean))
            form = f"{number:.4f}" if abs(number) > 1e-3 else f"{number:.4e}"
            text += f" - {name}: {form}"
        return text


def _clock(seconds: float) -> str:
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{(seconds % 3600) // 60:02.0f}:{seconds % 60:02.0f}"
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f}" if seconds > 60 else f"{seconds:.0f}s"


def _short(seconds: float) -> str:
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"
