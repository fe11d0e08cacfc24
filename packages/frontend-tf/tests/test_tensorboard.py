"""What is written beside event files: the projector's embeddings, a run's timeline."""

import json
from pathlib import Path

import pytest

import byparts_frontend_tf as tf


def test_embeddings_are_shown(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = "words:0"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.summary.FileWriter(tmp_path) as writer:
        projector.visualize_embeddings(writer, config)

    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "words:0"\n  sprite {\n'
        "    single_image_dim: 28\n    single_image_dim: 28\n  }\n}\n"
    )


class _NoFolder:
    def get_logdir(self) -> None:
        return None


def test_a_writer_without_a_folder_is_refused() -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    with pytest.raises(ValueError, match="must have a logdir"):
        projector.visualize_embeddings(_NoFolder(), projector.ProjectorConfig())


def test_a_timeline_has_a_lane_for_what_overlaps() -> None:
    """Operations one after the other share one."""
    metadata = tf.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/cpu:0")
    for name, start, duration in (("a", 10, 5), ("b", 12, 9), ("c", 15, 1)):
        device.node_stats.add(
            node_name=name,
            all_start_micros=start,
            all_end_rel_micros=duration,
            timeline_label=f"{name} = MatMul(x, y)",
        )
    trace = tf.python.client.timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    first, *events = json.loads(trace)["traceEvents"]

    assert first["args"] == {"name": "/cpu:0 Compute"}
    assert [(e["args"]["name"], e["name"], e["tid"], e["ts"], e["dur"]) for e in events] == [
        ("a", "MatMul", 0, 10, 5),
        ("b", "MatMul", 1, 12, 9),
        ("c", "MatMul", 0, 15, 1),
    ]
