"""Summaries and events: `summary.proto`, `event.proto`, `histogram.proto`."""

from byparts_tf_files.enums import Enum
from byparts_tf_files.fields import many, one
from byparts_tf_files.message import Message
from byparts_tf_files.messages.tensor import TensorProto


class HistogramProto(Message):
    min = one(1, "double")
    max = one(2, "double")
    num = one(3, "double")
    sum = one(4, "double")
    sum_squares = one(5, "double")
    bucket_limit = many(6, "double")
    bucket = many(7, "double")


class SummaryDescription(Message):
    type_hint = one(1, "string")


class SummaryMetadata(Message):
    class PluginData(Message):
        plugin_name = one(1, "string")
        content = one(2, "bytes")

    plugin_data = one(1, PluginData)
    display_name = one(2, "string")
    summary_description = one(3, "string")


class Summary(Message):
    class Image(Message):
        height = one(1, "int32")
        width = one(2, "int32")
        colorspace = one(3, "int32")
        encoded_image_string = one(4, "bytes")

    class Audio(Message):
        sample_rate = one(1, "float")
        num_channels = one(2, "int64")
        length_frames = one(3, "int64")
        encoded_audio_string = one(4, "bytes")
        content_type = one(5, "string")

    class Value(Message):
        node_name = one(7, "string")
        tag = one(1, "string")
        metadata = one(9, SummaryMetadata)
        simple_value = one(2, "float", oneof="value")
        obsolete_old_style_histogram = one(3, "bytes", oneof="value")
        image = one(4, lambda: Summary.Image, oneof="value")
        histo = one(5, HistogramProto, oneof="value")
        audio = one(6, lambda: Summary.Audio, oneof="value")
        tensor = one(8, TensorProto, oneof="value")

    value = many(1, Value)


class LogMessage(Message):
    Level = Enum("Level", UNKNOWN=0, DEBUGGING=10, INFO=20, WARN=30, ERROR=40, FATAL=50)
    UNKNOWN, DEBUGGING, INFO, WARN, ERROR, FATAL = 0, 10, 20, 30, 40, 50

    level = one(1, Level)
    message = one(2, "string")


class SessionLog(Message):
    SessionStatus = Enum("SessionStatus", STATUS_UNSPECIFIED=0, START=1, STOP=2, CHECKPOINT=3)
    STATUS_UNSPECIFIED, START, STOP, CHECKPOINT = 0, 1, 2, 3

    status = one(1, SessionStatus)
    checkpoint_path = one(2, "string")
    msg = one(3, "string")


class TaggedRunMetadata(Message):
    tag = one(1, "string")
    run_metadata = one(2, "bytes")


class Event(Message):
    wall_time = one(1, "double")
    step = one(2, "int64")
    file_version = one(3, "string", oneof="what")
    graph_def = one(4, "bytes", oneof="what")
    summary = one(5, Summary, oneof="what")
    log_message = one(6, LogMessage, oneof="what")
    session_log = one(7, SessionLog, oneof="what")
    tagged_run_metadata = one(8, TaggedRunMetadata, oneof="what")
    meta_graph_def = one(9, "bytes", oneof="what")
