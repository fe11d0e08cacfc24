"""Arrays and frames as batches; how an estimator runs; one device as a strategy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

X = np.arange(5, dtype=np.float32)
numpy_input_fn = tf.estimator.inputs.numpy_input_fn


def batches(input_fn: Any, most: int = 9) -> list[Any]:
    """What an input function gives, until its end."""
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        made = input_fn()
        try:
            while len(found) < most:
                found.append(session.run(made))
        except tf.errors.OutOfRangeError:
            pass
    return found


def test_epochs_follow_each_other_and_the_last_batch_is_what_is_left() -> None:
    found = batches(numpy_input_fn({"x": X}, 10 * X, 3, num_epochs=2, shuffle=False))

    assert [x["x"].tolist() for x, _ in found] == [[0, 1, 2], [3, 4, 0], [1, 2, 3], [4]]
    assert [y.tolist() for _, y in found][1] == [30, 40, 0]


def test_without_epochs_there_is_no_end_and_the_shape_is_known() -> None:
    input_fn = numpy_input_fn(X, batch_size=2, num_epochs=None, shuffle=False)
    with tf.Graph().as_default():
        assert input_fn().shape.as_list() == [2]

    assert np.concatenate(batches(input_fn, 4)).tolist() == [0, 1, 2, 3, 4, 0, 1, 2]


def test_shuffled_epochs_have_all_examples() -> None:
    found = batches(numpy_input_fn(X, batch_size=5, num_epochs=2, shuffle=True))

    assert [sorted(b.tolist()) for b in found] == [X.tolist()] * 2


def test_frames_of_pandas_give_their_columns() -> None:
    class Column:
        def __init__(self, values: Any) -> None:
            self.values = np.array(values)

        def to_frame(self) -> None:
            """It is a series."""

    class Frame(dict[str, Any]):
        index = np.arange(2)

    x, y = Frame(a=Column([1.0, 2.0]), b=Column(["u", "v"])), Column([7, 8])
    y.index = Frame.index  # type: ignore[attr-defined]  # as a series has
    found = batches(tf.estimator.inputs.pandas_input_fn(x, y, shuffle=False))

    (features, labels) = found[0]
    assert features["a"].tolist() == [1.0, 2.0] and features["b"].tolist() == [b"u", b"v"]
    assert labels.tolist() == [7, 8] and len(found) == 1


BAD = {
    r"shuffle must be provided": lambda: numpy_input_fn(X),
    r"mismatched": lambda: numpy_input_fn({"x": X}, X[1:], shuffle=False)(),
    r"Can not provide both": lambda: tf.estimator.RunConfig(
        save_checkpoints_steps=1, save_checkpoints_secs=1
    ),
    r"keep_checkpoint_max should be": lambda: tf.estimator.RunConfig(keep_checkpoint_max=-1),
    r"Replacing task_type is not supported": lambda: tf.estimator.RunConfig().replace(
        task_type="worker"
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_what_does_not_fit_is_said(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BAD[message]()


def test_a_config_says_after_what_a_checkpoint_is_saved() -> None:
    usual = tf.estimator.RunConfig("folder")
    other = usual.replace(save_checkpoints_steps=7, tf_random_seed=3)

    assert (usual.save_checkpoints_secs, usual.save_checkpoints_steps) == (600, None)
    assert (other.save_checkpoints_secs, other.save_checkpoints_steps) == (None, 7)
    assert (other.model_dir, other.tf_random_seed, other.is_chief) == ("folder", 3, True)


def test_a_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"chief": ["a:1"], "worker": ["b:2"]}}')
    with pytest.raises(ValueError, match=r"cluster of 2 processes"):
        tf.estimator.RunConfig()


def test_one_device_is_a_strategy() -> None:
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy and tf.distribute.has_strategy()

    assert strategy.experimental_run_v2(lambda x: x + 1, args=(1,)) == 2
    assert strategy.num_replicas_in_sync == 1 and not tf.distribute.has_strategy()


def test_several_devices_are_refused() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=r"MirroredStrategy on 2 devices"):
        tf.contrib.distribute.MirroredStrategy(num_gpus=2)
