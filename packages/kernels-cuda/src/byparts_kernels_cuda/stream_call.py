"""Calls of the driver on a stream: what runs of kernels consist of, and what a CUDA graph records.

A run is one call, or several in order.  Each can be made again on another stream, so recording a
program is calling all its calls on the stream that records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, Any, Protocol

from byparts_graph_ir import CaptureRefused
from byparts_graph_ir.backend.kernel import Run

if TYPE_CHECKING:
    from byparts_kernels_cuda.gpu import Gpu


class StreamCall(partial):  # type: ignore[type-arg]  # of whatever the function gives
    """A function of C with all its arguments, one of which is a stream.

    Attributes:
        at: which argument that is.
        kept: what must live as long as the call.
    """

    at: int
    kept: tuple[Any, ...]

    @classmethod
    def of(
        cls, function: Callable[..., Any], *arguments: Any, at: int, kept: tuple[Any, ...] = ()
    ) -> StreamCall:
        """The call; the stream stands at position `at`."""
        call = cls(function, *arguments)
        call.at, call.kept = at, kept
        return call

    def on(self, stream: int) -> StreamCall:
        """The same call on another stream."""
        arguments = (*self.args[: self.at], stream, *self.args[self.at + 1 :])
        return StreamCall.of(self.func, *arguments, at=self.at, kept=self.kept)


class Told(Protocol):
    """Something that may fail without a failing status, and says so when the stream is waited for.

    It is asked once after each run.
    """

    def tell(self) -> None:
        """Raise the error, if there is one."""


class Calls:
    """A run of several calls, some of which have something to tell.

    Args:
        gpu: on whose stream.
        calls: in order.
        told: asked when somebody waits for the stream.
    """

    __slots__ = ("_gpu", "calls", "told")

    def __init__(
        self, gpu: Gpu, calls: tuple[StreamCall, ...], told: tuple[Told, ...] = ()
    ) -> None:
        self._gpu, self.calls, self.told = gpu, calls, told

    def __call__(self) -> None:
        self._gpu.told.extend(self.told)
        if self._gpu.alone:
            for call in self.calls:
                call()
        else:
            with self._gpu:
                for call in self.calls:
                    call()


def run_of(gpu: Gpu, calls: Sequence[StreamCall], told: Sequence[Told] = ()) -> Run:
    """The run that makes these calls: one call of C, where there is one.

    Where the process uses several GPUs, a program may run on another one as well, and each run sets
    its context.
    """
    if len(calls) == 1 and not told and gpu.alone:
        return calls[0]
    return Calls(gpu, tuple(calls), tuple(told))


def calls_of(run: Run) -> Iterator[StreamCall | Told]:
    """The calls that a run consists of, and what it has to tell.

    Raises:
        CaptureRefused: it needs Python.
    """
    while type(run) is partial and not run.args and not run.keywords:
        run = run.func
    if isinstance(run, StreamCall):
        yield run
    elif isinstance(run, Calls):
        yield from run.calls
        yield from run.told
    elif isinstance(run, partial) and run.func is setitem and hasattr(run.args[0], "filled_by"):
        yield from run.args[0].filled_by(run.args[2])
    else:
        raise CaptureRefused(f"a step is Python: {run!r:.80}")
