"""Event files, which TensorBoard opens: `tf.summary.FileWriter` and `tf.train.summary_iterator`.

Source: TensorFlow's `event.proto` and `core/util/events_writer.h`: a TFRecord file of `Event`
messages called "events.out.tfevents.<seconds>.<host>", whose first event has the file version.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any, Optional, Union

from byparts_tf_files.errors import DataLossError
from byparts_tf_files.message import DecodeError
from byparts_tf_files.messages.meta_graph import MetaGraphDef
from byparts_tf_files.messages.summary import (
    Event,
    SessionLog,
    Summary,
    TaggedRunMetadata,
)
from byparts_tf_files.paths import path_of
from byparts_tf_files.records import TFRecordWriter, tf_record_iterator
from byparts_tf_files.system_errors import as_tensorflow_errors

FILE_VERSION = "brain.Event:2"


class EventFile:
    """An event file, which is made when the first event is written.

    Args:
        prefix: the path in front of ".out.tfevents".
        suffix: the end of its name.
    """

    def __init__(self, prefix: str, suffix: str = "") -> None:
        self._prefix, self._suffix = prefix, suffix
        self._writer: Optional[TFRecordWriter] = None
        self.path = ""

    def write(self, event: Event) -> None:
        """Write an event behind the others."""
        if self._writer is None:
            self._open()
        assert self._writer is not None, "it was opened"
        self._writer.write(event.serialize())

    def flush(self) -> None:
        """Hand to the system what was written."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the file; what is written later goes to another one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _open(self) -> None:
        now = time.time()
        stem = f"{self._prefix}.out.tfevents.{int(now):010d}.{socket.gethostname()}"
        number = 0
        while not self.path or os.path.exists(self.path):  # another writer in this second
            self.path = stem + (f".{os.getpid()}.{number}" if number else "") + self._suffix
            number += 1
        self._writer = TFRecordWriter(self.path)
        self.write(Event(wall_time=now, file_version=FILE_VERSION))
        self._writer.flush()


class FileWriter:
    """`tf.summary.FileWriter`: writes summaries, graphs and logs for TensorBoard into a folder.

    Args:
        logdir: the folder, which is made.
        graph: a graph to show.
        max_queue: how many events may wait until they are handed to the system.
        flush_secs: how long they may wait, in seconds; looked at when an event is written.
        graph_def: the message of a graph to show; TensorFlow calls it out of date.
        filename_suffix: the end of the file's name.
        session: not supported, as in TensorFlow's graphs.

    Raises:
        OpError: the folder cannot be made.
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: Optional[str] = None,
        session: Any = None,
    ) -> None:
        if session is not None:
            raise NotImplementedError("FileWriter(session=...) is not here; leave `session` out")
        self._logdir = path_of(logdir)
        with as_tensorflow_errors(self._logdir):
            os.makedirs(self._logdir, exist_ok=True)
        self._file = EventFile(os.path.join(self._logdir, "events"), filename_suffix or "")
        self._max_queue, self._flush_s = max_queue, flush_secs
        self._waiting, self._flushed_s, self._closed = 0, time.monotonic(), False
        self._described: set[str] = set()
        if graph is not None or graph_def is not None:
            message = self._graph_def(graph, graph_def)
            self._add(Event(graph_def=message.SerializeToString()), None)
            self.add_meta_graph(MetaGraphDef(graph_def=message))

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def add_summary(self, summary: Union[Summary, bytes], global_step: Any = None) -> None:
        """Write a summary, as a message or its bytes.

        Raises:
            DecodeError: the bytes are no summary.
        """
        made = Summary()
        if isinstance(summary, bytes):
            made.ParseFromString(summary)
        else:
            made.CopyFrom(summary)
        for value in made.value:  # what TensorBoard is told of a tag is told once
            if not value.has("metadata"):
                continue
            if value.tag in self._described:
                value.ClearField("metadata")
            self._described.add(value.tag)
        self._add(Event(summary=made), global_step)

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Write a graph: a `Graph`, or the message of one.

        Raises:
            ValueError: there is none, or two.
            TypeError: it is no graph.
        """
        message = self._graph_def(graph, graph_def)
        self._add(Event(graph_def=message.SerializeToString()), global_step)

    @staticmethod
    def _graph_def(graph: Any, graph_def: Any) -> Any:
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph_def if graph is None else graph
        if given is None:
            raise ValueError("The argument is None; pass a tf.Graph")
        message = given.as_graph_def() if hasattr(given, "as_graph_def") else given
        if not hasattr(message, "SerializeToString"):
            raise TypeError(f"The passed graph must be an instance of `Graph`, got {graph!r:.60}")
        return message

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Write the message of a graph with its collections.

        Raises:
            TypeError: it is none.
        """
        if not hasattr(meta_graph_def, "graph_def"):
            kind = type(meta_graph_def)
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {kind}")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_session_log(self, session_log: SessionLog, global_step: Any = None) -> None:
        """Write that a session starts, stops or has written a checkpoint."""
        self._add(Event(session_log=session_log), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Write what a run has told of itself.

        Raises:
            ValueError: the tag was used before.
        """
        if f"run {tag}" in self._described:
            raise ValueError(f"The provided tag was already used for this event type: {tag}")
        self._described.add(f"run {tag}")
        data = run_metadata.SerializeToString()
        self._add(
            Event(tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=data)), global_step
        )

    def add_event(self, event: Event) -> None:
        """Write an event as it is."""
        if self._closed:
            return
        self._file.write(event)
        self._waiting += 1
        waited_s = time.monotonic() - self._flushed_s
        if self._waiting >= self._max_queue or waited_s >= self._flush_s:
            self.flush()

    def flush(self) -> None:
        """Hand all events to the system, so that others read them."""
        self._file.flush()
        self._waiting, self._flushed_s = 0, time.monotonic()

    def close(self) -> None:
        """Close the file; events that come later are lost, until `reopen`."""
        self._file.close()
        self._closed = True

    def reopen(self) -> None:
        """Take events again, in another file."""
        self._closed = False

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, event: Event, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)


class FileWriterCache:
    """`tf.summary.FileWriterCache`: one writer for each folder."""

    _writers: dict[str, FileWriter] = {}  # noqa: RUF012 - one for the process, as in TensorFlow

    @classmethod
    def get(cls, logdir: Any) -> FileWriter:
        """The writer of a folder."""
        path = path_of(logdir)
        if path not in cls._writers:
            cls._writers[path] = FileWriter(path)
        return cls._writers[path]

    @classmethod
    def clear(cls) -> None:
        """Close and forget all writers."""
        for writer in cls._writers.values():
            writer.close()
        cls._writers.clear()


def summary_iterator(path: Any) -> Iterator[Event]:
    """The events of a file.

    Raises:
        OpError: the file cannot be read.
        DataLossError: it is damaged.
    """
    for record in tf_record_iterator(path):
        try:
            yield Event.FromString(record)
        except DecodeError as error:
            raise DataLossError(None, None, f"{path_of(path)}: no event: {error}") from error


class EventsWriter:
    """`pywrap_tensorflow.EventsWriter`: one event file whose name begins as is said.

    Args:
        prefix: the path in front of ".out.tfevents".
    """

    def __init__(self, prefix: Any) -> None:
        self._file = EventFile(path_of(prefix))

    def FileName(self) -> bytes:  # noqa: N802 - TensorFlow's name
        """The path, once something is written."""
        return self._file.path.encode()

    def WriteEvent(self, event: Event) -> None:  # noqa: N802 - TensorFlow's name
        """Write an event."""
        self._file.write(event)

    def Flush(self) -> bool:  # noqa: N802 - TensorFlow's name
        """Hand to the system what was written."""
        self._file.flush()
        return True

    def Close(self) -> bool:  # noqa: N802 - TensorFlow's name
        """Close the file."""
        self._file.close()
        return True
