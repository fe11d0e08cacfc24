"""Names of devices, as TensorFlow 1.15 writes them: strings anew, answers of functions as they are."""

from __future__ import annotations

from typing import Any

import pytest

import byparts_frontend_tf as tf


def made_in(*blocks: Any) -> str:
    """The device of an operation made inside these blocks, the outermost first."""
    if not blocks:
        return str(tf.constant(1.0).device)
    with tf.device(blocks[0]):
        return made_in(*blocks[1:])


@pytest.mark.parametrize(
    ("device", "wanted"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "/device:GPU:1"),
        ("/job:ps/replica:0/task:2/cpu:0", "/job:ps/replica:0/task:2/device:CPU:0"),
        (tf.DeviceSpec(job="ps", device_type="CPU", device_index=0), "/job:ps/device:CPU:0"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_string_is_written_anew(device: Any, wanted: str) -> None:
    assert made_in(device) == wanted


def test_the_answer_of_a_function_stands_as_it_is() -> None:
    """Towers of several GPUs: variables go where the function says, in its words."""

    def placed(op: Any) -> str:
        return "/cpu:0" if op.node_def.op == "VariableV2" else "/gpu:1"

    with tf.device(placed):
        v = tf.Variable(1.0)
        y = v + 1.0

    assert (v.device, y.device, y.op.node_def.device) == ("/cpu:0", "/gpu:1", "/gpu:1")


def test_a_string_around_a_function_adds_the_parts_that_it_lacks() -> None:
    assert made_in("/job:worker/gpu:1", lambda op: "/cpu:0") == "/job:worker/device:CPU:0"


def test_a_function_around_a_string_sees_it_and_has_the_last_word() -> None:
    seen: list[str] = []

    def device(op: Any) -> str:
        seen.append(op.device)
        return "/gpu:1"

    assert made_in(device, "/cpu:0") == "/gpu:1"
    assert seen == ["/device:CPU:0"]


def test_none_hides_what_is_around_it() -> None:
    assert made_in("/job:worker", None, "/cpu:0") == "/device:CPU:0"
