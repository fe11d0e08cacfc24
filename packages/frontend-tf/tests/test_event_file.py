"""Event files."""

from pathlib import Path

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.event_file import (
    EventsWriter,
    FileWriter,
    FileWriterCache,
    summary_iterator,
)
from byparts_tf_files.messages.graph import GraphDef
from byparts_tf_files.messages.summary import Event, SessionLog, Summary
from byparts_tf_files.records import TFRecordWriter
from byparts_tf_files.summaries import text_summary

RECORDED = Path(__file__).parents[2] / "tf-files/tests/recorded"


def _events(folder: Path) -> list[Event]:
    return [event for file in sorted(folder.glob("events.*")) for event in summary_iterator(file)]


def test_a_file_of_tensorflow() -> None:
    """Its graph, and a summary of each kind."""
    events = list(summary_iterator(RECORDED / "events.out.tfevents.recorded"))

    assert [e.WhichOneof("what") for e in events[:3]] == [
        "file_version",
        "graph_def",
        "meta_graph_def",
    ]
    assert events[0].file_version == "brain.Event:2"
    assert len(GraphDef.FromString(events[1].graph_def).node) > 10
    assert [e.step for e in events[3:]] == list(range(9))
    assert [v.WhichOneof("value") for e in events[3:] for v in e.summary.value[:1]] == [
        *["histo"] * 2,
        *["image"] * 4,
        "tensor",
        "audio",
        "simple_value",
    ]


def test_events_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Messages and bytes of summaries, steps of NumPy, logs."""
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
    with FileWriter(tmp_path) as writer:
        writer.add_summary(summary, np.int64(3))
        writer.add_summary(summary.SerializeToString())
        writer.add_session_log(SessionLog(status=SessionLog.START), 4)
    first, one, two, log = _events(tmp_path)

    assert first.file_version == "brain.Event:2" and first.wall_time > 1e9
    assert (one.step, two.step, log.step) == (3, 0, 4)
    assert one.summary == two.summary == summary and log.session_log.status == SessionLog.START
    assert summary.value[0].simple_value == 0.5  # what was given is as it was


def test_a_graph_is_shown(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [None, 2], name="x"), 1.0, name="y")
    FileWriter(tmp_path, graph).close()
    found = GraphDef.FromString(_events(tmp_path)[1].graph_def)

    assert [(n.name, n.op, list(n.input)) for n in found.node] == [
        ("x", "Placeholder", []),
        ("y/y", "Const", []),
        ("y", "Add", ["x", "y/y"]),
    ]
    assert found.node[0].attr["shape"].shape.dim[0].size == -1
    assert found.node[2].attr["T"].type == 1 and found.versions.producer == 134


def test_what_a_tag_is_for_is_told_once(tmp_path: Path) -> None:
    """The second text has no metadata, which TensorBoard has from the first."""
    with FileWriter(str(tmp_path)) as writer:
        writer.add_summary(text_summary("t", "a"), 0)
        writer.add_summary(text_summary("t", "b"), 1)
    _, one, two = _events(tmp_path)

    assert one.summary.value[0].metadata.plugin_data.plugin_name == "text"
    assert not two.summary.value[0].HasField("metadata")


def test_events_are_there_after_flush_and_after_max_queue(tmp_path: Path) -> None:
    writer = FileWriter(tmp_path, max_queue=3)
    writer.add_summary(Summary())
    assert _events(tmp_path)[1:] == []
    writer.flush()
    assert len(_events(tmp_path)) == 2
    for _ in range(3):
        writer.add_summary(Summary())
    assert len(_events(tmp_path)) == 5
    writer.close()
    writer.add_summary(Summary())
    assert len(_events(tmp_path)) == 5  # what comes after `close` is lost, as in TensorFlow
    writer.reopen()
    writer.add_summary(Summary(), 9)
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2 and len(_events(tmp_path)) == 7


def test_what_cannot_be_written(tmp_path: Path) -> None:
    writer = FileWriter(tmp_path)
    with pytest.raises(ValueError, match="not both"):
        writer.add_graph(tf.Graph(), graph_def=GraphDef())
    with pytest.raises(ValueError, match=r"pass a tf.Graph"):
        writer.add_graph()
    with pytest.raises(TypeError, match="instance of `Graph`"):
        writer.add_graph("graph")
    with pytest.raises(TypeError, match="must be type MetaGraphDef"):
        writer.add_meta_graph(GraphDef())
    with pytest.raises(NotImplementedError, match="leave `session` out"):
        FileWriter(tmp_path, session=object())
    writer.add_run_metadata(tf.RunMetadata(), "step 1", 1)
    with pytest.raises(ValueError, match="already used for this event type: step 1"):
        writer.add_run_metadata(tf.RunMetadata(), "step 1", 1)
    writer.close()


def test_one_writer_for_a_folder(tmp_path: Path) -> None:
    assert FileWriterCache.get(tmp_path) is FileWriterCache.get(str(tmp_path))
    FileWriterCache.get(tmp_path).add_summary(Summary())
    FileWriterCache.clear()

    assert len(_events(tmp_path)) == 2


def test_a_writer_with_a_name_of_its_own(tmp_path: Path) -> None:
    writer = EventsWriter(tf.compat.as_bytes(str(tmp_path / "events")))
    writer.WriteEvent(tf.Event(step=5))
    assert writer.Flush() and Path(writer.FileName().decode()).parent == tmp_path
    assert writer.Close()

    assert [e.step for e in _events(tmp_path)] == [0, 5]


def test_records_that_are_no_events(tmp_path: Path) -> None:
    with TFRecordWriter(tmp_path / "events") as writer:
        writer.write(b"\xff")

    with pytest.raises(DataLossError, match="no event: byte 0"):
        list(tf.train.summary_iterator(str(tmp_path / "events")))
