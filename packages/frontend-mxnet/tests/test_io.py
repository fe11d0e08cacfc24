import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_graph_ir import ArgumentError, ShapeError


def _rows(batches: Any) -> list[list[float]]:
    return [b.data[0].asnumpy().ravel().tolist() for b in batches]


def test_the_last_batch_is_padded_discarded_or_rolls_over() -> None:
    """Ten samples in batches of four."""
    x = np.arange(10)
    pad = mx.io.NDArrayIter(x, batch_size=4)
    assert _rows(pad)[-1] == [8, 9, 0, 1]
    pad.reset()
    assert [b.pad for b in pad] == [0, 0, 2]
    assert len(_rows(mx.io.NDArrayIter(x, batch_size=4, last_batch_handle="discard"))) == 2
    rolls = mx.io.NDArrayIter(x, batch_size=4, last_batch_handle="roll_over")
    assert _rows(rolls)[-1] == [8, 9, 0, 1]
    rolls.reset()
    assert _rows(rolls)[0] == [2, 3, 4, 5]


def test_arrays_have_names_shapes_and_one_order() -> None:
    """A dict, a list; shuffled data keep their labels."""
    x = np.arange(6).reshape(3, 2)
    it = mx.io.NDArrayIter({"a": x, "b": x}, x[:, 0], 2, shuffle=True)
    assert [(d.name, d.shape) for d in it.provide_data] == [("a", (2, 2)), ("b", (2, 2))]
    assert it.provide_label == [("softmax_label", (2,))]
    for batch in it:
        assert (batch.data[0].asnumpy()[:, 0] == batch.label[0].asnumpy()).all()
    assert [d.name for d in mx.io.NDArrayIter([x, x], None, 1).provide_data] == [
        "_0_data",
        "_1_data",
    ]


def test_iterators_around_iterators() -> None:
    """Resized rounds; batches that a thread makes in advance, of two iterators."""
    inner = mx.io.NDArrayIter(np.arange(4), np.arange(4), 2)
    assert len(list(mx.io.ResizeIter(inner, 5))) == 5
    other = mx.io.NDArrayIter(np.arange(4) * 10, None, 2)
    names = [{"data": "x"}, {"data": "y"}]
    inner.reset()
    both = mx.io.PrefetchingIter([inner, other], rename_data=names)
    assert [d.name for d in both.provide_data] == ["x", "y"]
    for _ in range(2):
        assert [b.data[1].asnumpy().tolist() for b in both] == [[0, 10], [20, 30]]
        both.reset()


def test_files_of_numbers_and_of_digits(tmp_path: Path) -> None:
    """CSV with labels; MNIST's format."""
    np.savetxt(tmp_path / "x.csv", np.arange(12).reshape(3, 4), delimiter=",")
    csv = mx.io.CSVIter(str(tmp_path / "x.csv"), (2, 2), batch_size=2)
    assert next(csv).data[0].shape == (2, 2, 2)
    images, labels = tmp_path / "i", tmp_path / "l"
    images.write_bytes(struct.pack(">HBB3I", 0, 8, 3, 2, 2, 2) + bytes(range(0, 240, 30)))
    labels.write_bytes(struct.pack(">HBBI", 0, 8, 1, 2) + bytes([3, 7]))
    batch = next(mx.io.MNISTIter(str(images), str(labels), batch_size=2, shuffle=False))
    assert batch.data[0].shape == (2, 1, 2, 2)
    assert batch.label[0].asnumpy().tolist() == [3, 7]
    np.testing.assert_allclose(batch.data[0].asnumpy().max(), 210 / 255)
    part = mx.io.MNISTIter(
        str(images), str(labels), 1, data_shape=(4,), num_parts=2, part_index=1, shuffle=False
    )
    assert [(b.data[0].shape, b.label[0].asscalar()) for b in part] == [((1, 4), 7)]
    with pytest.raises(ArgumentError, match="is no file of bytes in MNIST's format"):
        mx.io.MNISTIter(str(tmp_path / "x.csv"), str(labels))


def test_errors_say_the_numbers() -> None:
    """Lengths that differ, too few samples, a batch without its list."""
    with pytest.raises(ShapeError, match="arrays of different lengths"):
        mx.io.NDArrayIter(np.ones(3), np.ones(2))
    with pytest.raises(ShapeError, match="3 samples for a batch of 4"):
        mx.io.NDArrayIter(np.ones(3), batch_size=4)
    with pytest.raises(mx.MXNetError, match="give their arrays to NDArrayIter"):
        mx.io.ImageRecordIter(path_imgrec="x.rec")
    with pytest.raises(ArgumentError, match="data is a list of arrays"):
        mx.io.DataBatch(mx.nd.ones((1,)))


def test_labels_of_an_iterator_get_another_name() -> None:
    """What programs of 2016 assign to `label`, to rename it."""
    rows = mx.io.NDArrayIter(np.ones((4, 2)), np.arange(4), 2)
    rows.label = mx.io._init_data(np.arange(4), allow_empty=True, default_name="svm_label")
    assert rows.provide_label[0].name == "svm_label"
    assert rows.next().label[0].asnumpy().tolist() == [0, 1]


def test_files_are_found_and_not_downloaded(tmp_path: Path) -> None:
    """A file that is there is what `download` returns; else the error says where to put it."""
    with pytest.raises(
        mx.MXNetError, match=r"fetch http://x\.org/a/b\.txt and save it as .*b\.txt"
    ):
        mx.test_utils.download("http://x.org/a/b.txt", dirname=tmp_path)
    (tmp_path / "b.txt").touch()
    path = mx.test_utils.download("http://x.org/a/b.txt", dirname=tmp_path)
    assert path == str(tmp_path / "b.txt")
