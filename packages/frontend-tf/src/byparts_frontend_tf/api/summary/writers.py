"""`tf.contrib.summary`: operations that write summaries themselves, at the global step.

A summary is written where there is a default writer and what `record_summaries...` asks for holds
when it runs; it gives whether it was.  Nothing is recorded outside of such a `with`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.identity import no_op
from byparts_frontend_tf.api.math.binary import equal
from byparts_frontend_tf.api.summary import summary
from byparts_frontend_tf.api.train.global_step import get_or_create_global_step
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, int64
from byparts_tf_files.errors import NotFoundError
from byparts_tf_files.event_file import FileWriter
from byparts_tf_files.paths import path_of

_WRITERS, _WRITTEN = "_SUMMARY_WRITER_V2", "_SUMMARY_V2"


class _State(threading.local):
    """Writer of summaries that is in force in a thread, and whether it records."""

    writer: Optional[SummaryWriter] = None
    recorded: Any = False


_STATE = _State()


@symbol("contrib.summary.SummaryWriter")
class SummaryWriter:
    """A folder of events, which is opened when a session runs `init()`."""

    def __init__(self, folder: str, max_queue: int, flush_s: float, suffix: str) -> None:
        self._folder = folder
        self._file: Optional[FileWriter] = None
        self._arguments: dict[str, Any] = {
            "max_queue": max_queue,
            "flush_secs": flush_s,
            "filename_suffix": suffix,
        }
        add_to_collection(_WRITERS, self.init())

    def init(self) -> Operation:
        """Open the file."""
        return self._done(lambda: self.file(True) if self._folder else None)

    def flush(self) -> Operation:
        """Hand what is written to the system."""
        return self._done(lambda: self.file().flush())

    def close(self) -> Operation:
        """Close the file."""
        return self._done(lambda: self.file().close())

    def set_as_default(self) -> None:
        """Summaries made from now on are of this writer."""
        if self._folder:
            _STATE.writer = self

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Summaries made here are of this writer."""
        before = _STATE.writer
        self.set_as_default()
        try:
            yield self
        finally:
            _STATE.writer = before

    def file(self, opened: bool = False) -> FileWriter:
        """The open file.

        Raises:
            NotFoundError: no session has run `init()`.
        """
        if self._file is None and opened and self._folder:
            self._file = FileWriter(self._folder, **self._arguments)
        if self._file is None:
            raise NotFoundError(None, None, f"Resource logdir:{self._folder} does not exist")
        return self._file

    def _done(self, function: Callable[[], Any]) -> Operation:
        return _DO.operation((), None, function=function)


def _do(function: Callable[[], Any]) -> tuple[()]:
    function()
    return ()


def _write(step: Any, data: Any, writer: SummaryWriter) -> Any:
    writer.file().add_summary(bytes(np.asarray(data).item()), int(step))
    return np.array(True)


_DO = Kind("SummaryWriterCall", host=_do, shape=lambda inputs, **_: [], dtype=(), effect=True)
_WRITE = Kind(
    "WriteSummary", host=_write, shape=lambda inputs, **_: (), dtype=bool_, effect=True,
    gradient=False,
)  # fmt: skip


@symbol("contrib.summary.create_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: Optional[int] = None,
    flush_millis: Optional[int] = None,
    filename_suffix: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """A writer into a folder; one that writes nothing where that is `None`."""
    del name
    if logdir is None:
        return SummaryWriter("", 0, 0.0, "")
    return SummaryWriter(
        path_of(logdir), max_queue or 10, (flush_millis or 120_000) / 1000, filename_suffix or ".v2"
    )


@symbol("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op() -> list[Operation]:
    """The operations that open the writers of the graph."""
    return list(get_collection(_WRITERS))


@symbol("contrib.summary.initialize", "summary.initialize")
def initialize(graph: Any = None, session: Any = None) -> None:
    """Open the writers in a session, and write a graph.

    Raises:
        RuntimeError: there is no default writer.
        ValueError: there is no session.
    """
    if _STATE.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        _STATE.writer.file().add_graph(graph, 0)


@contextmanager
def _recorded(condition: Any) -> Iterator[None]:
    before, _STATE.recorded = _STATE.recorded, condition
    try:
        yield
    finally:
        _STATE.recorded = before


@symbol("contrib.summary.always_record_summaries")
def always_record_summaries() -> Any:
    """Summaries made here are written whenever they run."""
    return _recorded(True)


@symbol("contrib.summary.never_record_summaries")
def never_record_summaries() -> Any:
    """Summaries made here are never written."""
    return _recorded(False)


@symbol("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """Summaries made here are written at each n-th global step."""
    step = get_or_create_global_step() if global_step is None else global_step
    return _recorded(equal(step % n, 0))


@symbol("contrib.summary.should_record_summaries")
def should_record_summaries() -> Any:
    """Whether summaries are written here: a bool, or a tensor."""
    return _STATE.recorded


@symbol("contrib.summary.all_summary_ops", "summary.all_v2_summary_ops")
def all_summary_ops() -> list[Any]:
    """The summaries of the graph."""
    return list(get_collection(_WRITTEN))


@symbol("contrib.summary.flush")
def flush(writer: Optional[SummaryWriter] = None, name: Optional[str] = None) -> Operation:
    """Hand what a writer, or the default one, has written to the system."""
    del name
    used = writer or _STATE.writer
    return used.flush() if used else no_op()


def _summary(make: Callable[..., Any], step: Any, *args: Any, **kwargs: Any) -> Any:
    writer = _STATE.writer
    if writer is None:
        return no_op()

    def record() -> Any:
        data = make(*args, collections=(), **kwargs)
        at = get_or_create_global_step() if step is None else step
        return _WRITE(convert_to_tensor(at, int64), data, writer=writer)

    held = _STATE.recorded
    if isinstance(held, bool):
        made = record() if held else constant(False)
    else:
        made = cond(held, record, lambda: constant(False), name="")
    add_to_collection(_WRITTEN, made)
    return made


@symbol("contrib.summary.scalar")
def scalar(name: str, tensor: TensorLike, family: Any = None, step: Any = None) -> Any:
    """Write a number."""
    return _summary(summary.scalar, step, name, tensor, family=family)


@symbol("contrib.summary.histogram")
def histogram(name: str, tensor: TensorLike, family: Any = None, step: Any = None) -> Any:
    """Write how numbers are distributed."""
    return _summary(summary.histogram, step, name, tensor, family=family)


@symbol("contrib.summary.image")
def image(
    name: str,
    tensor: TensorLike,
    bad_color: Any = None,
    max_images: int = 3,
    family: Any = None,
    step: Any = None,
) -> Any:
    """Write the first images of a batch."""
    del bad_color
    return _summary(summary.image, step, name, tensor, max_images, family=family)


@symbol("contrib.summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: Any = None,
    step: Any = None,
) -> Any:
    """Write the first sounds of a batch."""
    return _summary(summary.audio, step, name, tensor, sample_rate, max_outputs, family=family)
