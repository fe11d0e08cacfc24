"""A GPU that is not there: stands for `torch.cuda`, on tensors of the CPU, and keeps a log.

What a GPU does later, it does later: a copy from pinned memory reads it when somebody waits, or
when the next kernel needs it; kernels launched while a graph is recorded do not run, and run at
each replay.  So a buffer that is filled too early, or a step that escaped the recording, gives
wrong numbers, and the log says in which order things happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

Work = Callable[[], object]


class Double(TorchDispatchMode):  # type: ignore[misc]  # of unknown type where torch is absent
    """Entered, it sees every kernel that torch runs.

    Attributes:
        log: what happened, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []
        self.pending: list[Work] = []  # asked for, and not begun
        self.recording: list[Work] | None = None
        self.current = "main"
        self.refuse = ""  # a kernel that must not be recorded

    def __torch_dispatch__(
        self, kernel: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        work = partial(kernel, *args, **given)
        if not kernel._schema.is_mutable:
            return self._functional(kernel, work)
        if self.recording is not None:
            if self.refuse and self.refuse in str(kernel):
                raise RuntimeError(f"operation not permitted when stream is capturing: {kernel}")
            self.recording.append(work)
        elif kernel is torch.ops.aten.copy_.default and args[2:] == (True,):
            self.log.append("copy asked for")
            self.pending.append(work)
        else:
            self.finish()
            work()
        return _written(kernel, args, given)

    def _functional(self, kernel: Any, work: Callable[[], Any]) -> Any:
        """A view, a new tensor, or one brought to the host."""
        returned = kernel._schema.returns
        views = bool(returned) and returned[0].alias_info is not None
        if not views:
            self.finish()
        if "aten.to.dtype_layout" in str(kernel) and self.log[-1:] != ["read by the host"]:
            self.finish()
            self.log.append("read by the host")
        made = work()
        if self.recording is not None and not views:  # computed anew at each replay
            self.recording.append(partial(_again, made, work))
        return made

    def finish(self) -> None:
        """Do what was asked for."""
        todo, self.pending = self.pending, []
        with _disable_current_modes():  # it is the GPU's work now, no longer asked for
            for work in todo:
                self.log.append("copied")
                work()

    # What `torch.cuda` has.

    def current_stream(self, device: Any) -> Any:
        return Stream(self, self.current)

    def Stream(self, device: Any) -> Any:  # noqa: N802
        return Stream(self, "side")

    def Event(self) -> Any:  # noqa: N802
        return Event(self)

    def CUDAGraph(self) -> Any:  # noqa: N802
        return RecordedGraph(self)

    def device(self, index: int) -> Any:
        return nullcontext()

    @contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        before, self.current = self.current, stream.name
        if stream.name != before:
            self.log.append(f"on {stream.name}")
        yield
        if stream.name != before:
            self.log.append(f"on {before}")
        self.current = before

    @contextmanager
    def graph(self, graph: RecordedGraph, **options: Any) -> Iterator[None]:
        self.finish()
        self.log.append("recording")
        self.recording = graph.work
        assert not torch.is_inference_mode_enabled(), "torch's own tensors would be of that mode"
        try:
            yield
        finally:
            self.recording = None
        self.log.append("recorded" if graph.work else "recorded nothing")


def _again(made: Any, work: Callable[[], Any]) -> None:
    """What a kernel allocates has its place in the recording."""
    news = work()
    for old, new in zip(
        *((x if isinstance(x, tuple) else (x,)) for x in (made, news)), strict=True
    ):
        if old is not None:  # a gradient that was not asked for
            old.copy_(new)


def _written(kernel: Any, args: Any, given: dict[str, Any]) -> Any:
    """What the kernel gives back: the tensors that it writes."""
    named = dict(zip((a.name for a in kernel._schema.arguments), args, strict=False)) | given
    writes = [a.name for a in kernel._schema.arguments if a.alias_info and a.alias_info.is_write]
    results = tuple(named[name] for name in writes)[: len(kernel._schema.returns)]
    return results[0] if len(results) == 1 else results or None


class Stream:
    """All of them are one here; the log knows them apart."""

    def __init__(self, double: Double, name: str) -> None:
        self.double, self.name = double, name

    def synchronize(self) -> None:
        self.double.finish()
        self.double.log.append("synchronized")

    def wait_stream(self, other: Stream) -> None:
        self.double.log.append(f"{self.name} waits for {other.name}")


class Event:
    """Waiting for it does what was asked for before it."""

    def __init__(self, double: Double) -> None:
        self.double, self.recorded = double, False

    def record(self, stream: Stream) -> None:
        self.recorded = True

    def synchronize(self) -> None:
        if self.recorded:
            self.double.finish()
            self.double.log.append("buffer is free")


class RecordedGraph:
    """Kernels that did not run yet."""

    def __init__(self, double: Double) -> None:
        self.double = double
        self.work: list[Work] = []

    def replay(self) -> None:
        self.double.finish()
        self.double.log.append("replayed")
        with _disable_current_modes():
            for work in self.work:
                work()
