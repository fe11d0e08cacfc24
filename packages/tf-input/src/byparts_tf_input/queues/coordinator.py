"""`tf.train.Coordinator`: threads that stop together, and raise what the first one raised."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import OutOfRangeError

_LOOK_S = 1.0  # how long `join` waits until it looks again whether threads live


@symbol("train.Coordinator", "python.training.coordinator.Coordinator")
class Coordinator:
    """Stops threads together.

    Args:
        clean_stop_exception_types: exceptions that are no failure, only the end; by default
            `OutOfRangeError`, the end of the input.
    """

    def __init__(self, clean_stop_exception_types: Optional[Sequence[type]] = None) -> None:
        given = clean_stop_exception_types
        self._clean = (OutOfRangeError,) if given is None else tuple(given)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._raised: Optional[BaseException] = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; `join` raises the first exception that was given here.

        Args:
            ex: an exception, or what `sys.exc_info()` gives.

        Raises:
            BaseException: `ex` itself, if the threads were joined already.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self._joined and error is not None:
                raise error
            if self._stop.is_set():
                return
            if error is not None:
                info("Error reported to Coordinator: %s, %s", type(error), str(error))
                self._raised = error
            self._stop.set()

    def clear_stop(self) -> None:
        """Go on as if nobody had asked to stop."""
        with self._lock:
            self._joined, self._raised = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self._stop.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An exception inside the block asks all threads to stop, and goes no further."""
        try:
            yield
        except BaseException as error:  # `join` raises it
            self.request_stop(error)

    def wait_for_stop(self, timeout: Optional[float] = None) -> bool:
        """Wait until somebody asks to stop, at most so many seconds; whether somebody did."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """`join` waits for this thread, too."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Optional[Sequence[threading.Thread]] = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until all threads have ended.

        Args:
            threads: with those registered.
            stop_grace_period_secs: how long they may take to end when somebody asked to stop.
            ignore_live_threads: whether those that live on are no error.

        Raises:
            BaseException: what a thread gave to `request_stop`.
            RuntimeError: some live on.
        """
        with self._lock:
            waited_for = list(self._threads | set(threads or ()))
        while not self._stop.is_set() and any(t.is_alive() for t in waited_for):
            _wait_for_one(waited_for, self._stop)
        until_s = time.monotonic() + stop_grace_period_secs
        for thread in waited_for:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until_s - time.monotonic()))
        alive = [t.name for t in waited_for if t.is_alive()]
        with self._lock:
            self._joined = True
            self._threads.clear()
            if self._raised is not None:
                raise self._raised
        if alive and ignore_live_threads:
            info("Coordinator stopped with threads still running: %s", " ".join(alive))
        elif alive:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")

    @property
    def joined(self) -> bool:
        """Whether the threads have ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raise what a thread gave to `request_stop`, if one did."""
        with self._lock:
            if self._raised is not None:
                raise self._raised


def _wait_for_one(threads: Sequence[threading.Thread], stop: threading.Event) -> None:
    """Wait until one of the threads ends, or somebody asks to stop; not for long."""
    alive = [t for t in threads if t.is_alive() and t is not threading.current_thread()]
    if len(alive) == 1:
        alive[0].join(_LOOK_S / 10)
    else:
        stop.wait(_LOOK_S / 10)


@symbol("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that calls a function again and again, until its coordinator stops.

    Args:
        coord: when it stops, the thread ends; exceptions stop it.
        timer_interval_secs: from call to call, in seconds; `None`: without a pause.
        target: the function; or override `run_loop`.
        args, kwargs: its arguments.

    Raises:
        ValueError: `coord` is none.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: Optional[float],
        target: Optional[Callable[..., Any]] = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord, self._interval_s = coord, timer_interval_secs
        self._call, self._args, self._kwargs = target, args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: Optional[float],
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """A thread that has been started."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        """Run the loop until the coordinator says to stop, in the thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval_s is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_s = time.monotonic()
                while not self._coord.wait_for_stop(max(0.0, next_s - time.monotonic())):
                    next_s += self._interval_s
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called when the thread starts."""

    def stop_loop(self) -> None:
        """Called when the thread ends."""

    def run_loop(self) -> None:
        """Called each time."""
        if self._call is not None:
            self._call(*self._args, **self._kwargs)
