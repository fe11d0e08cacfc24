"""Queues and readers in TensorFlow's words: rows of `forms.FORMS`."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.node_defs.forms import Form
from byparts_frontend_tf.node_defs.node import Node
from byparts_frontend_tf.node_defs.values import shape_value
from byparts_frontend_tf.node_defs.words import Attribute, Draft


class Shapes:
    """The shapes of components; no list is none."""

    def read(self, node: Node) -> Any:
        """Read the shapes of the components; `None` where the node has none."""
        return tuple(node.attribute("shapes", None) or ()) or None

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        written = draft.made.attr["shapes"].list
        written.shape.extend([shape_value(dims).shape for dims in value or ()])


class Seed:
    """The seed of an order; 0 is none."""

    def read(self, node: Node) -> Any:
        """Read the seed; `None` for 0."""
        return node.attribute("seed", 0) or None

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        draft.put("seed", (value or 0) & (1 << 63) - 1)


def _queue(**more: Any) -> Form:
    return Form(
        component_types=Attribute("component_types", ()),
        shapes=Shapes(),
        capacity=Attribute("capacity", -1),
        shared_name=Attribute("shared_name", ""),
        **more,
    )


_TAKEN = Form(component_types=Attribute("component_types", ()))
QUEUE_FORMS = {
    **{f"{kind}QueueV2": _queue() for kind in ("FIFO", "PaddingFIFO", "Priority")},
    "RandomShuffleQueueV2": _queue(
        min_after_dequeue=Attribute("min_after_dequeue", 0), seed=Seed()
    ),
    **{f"QueueDequeue{how}V2": _TAKEN for how in ("", "Many", "UpTo")},
    "QueueCloseV2": Form(cancel_pending_enqueues=Attribute("cancel_pending_enqueues", False)),
    "TextLineReaderV2": Form(skip=Attribute("skip_header_lines", 0)),
    "TFRecordReaderV2": Form(compression=Attribute("compression_type", "")),
    "FixedLengthRecordReaderV2": Form(
        record=Attribute("record_bytes", 1),
        header=Attribute("header_bytes", 0),
        footer=Attribute("footer_bytes", 0),
        hop=Attribute("hop_bytes", 0),
    ),
    **dict.fromkeys(
        (
            *("QueueEnqueueV2", "QueueEnqueueManyV2", "QueueSizeV2", "QueueIsClosedV2"),
            *("WholeFileReaderV2", "IdentityReaderV2", "ReaderReadV2", "ReaderReadUpToV2"),
            *("ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompletedV2", "ReaderResetV2"),
            *("MatchingFiles", "WriteFile"),
        ),
        Form(),
    ),
}
