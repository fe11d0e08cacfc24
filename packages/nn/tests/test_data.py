"""Batches: each sample once, in an order that (seed, epoch) decides; resumed anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from byparts_graph_ir import ArgumentError, GraphError, ShapeError
from byparts_nn.data import Data, Position, Stream, TextLines, crop, cutout, flip, normalise

NUMBERS = np.arange(10)


def seen(data: Data, epoch: int = 0, skip: int = 0) -> list[list[int]]:
    return [batch[0].tolist() for batch in data.epoch(epoch, skip)]


def test_batches_have_the_rows_in_order() -> None:
    """Without `shuffle` the order is that of the source, and the last batch is smaller."""
    assert seen(Data(NUMBERS).batch(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert seen(Data(NUMBERS).batch(4, drop_last=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_batch_has_what_a_sample_has() -> None:
    """Tuples of arrays give tuples, dictionaries give dictionaries."""
    x, t = np.ones((5, 3), "f4"), np.arange(5)
    (pair,) = Data((x, t)).batch(5).epoch(0)
    (named,) = Data({"x": x, "t": t}).batch(5).epoch(0)
    (chosen,) = Data({"x": x, "t": t}).columns("t", "x").batch(5).epoch(0)

    assert isinstance(pair, tuple) and [a.shape for a in pair] == [(5, 3), (5,)]
    assert isinstance(named, dict) and [*named] == ["x", "t"]
    assert isinstance(chosen, tuple) and [a.shape for a in chosen] == [(5,), (5, 3)]


@given(
    count=st.integers(1, 40),
    size=st.integers(1, 9),
    seed=st.integers(-5, 2**70),
    epoch=st.integers(0, 3),
    skip=st.integers(0, 12),
)
def test_an_epoch_has_each_sample_once_and_goes_on_anywhere(
    count: int, size: int, seed: int, epoch: int, skip: int
) -> None:
    """The batches after a place are those of the whole epoch, for any place."""
    data = Data(np.arange(count), seed=seed).shuffle().batch(size)
    whole = seen(data, epoch)

    assert sorted(chain(*whole)) == list(range(count))
    assert len(whole) == data.batches
    assert seen(data, epoch, skip) == whole[skip:]


def test_epochs_differ_and_seeds_differ() -> None:
    """Another epoch and another seed are another order; the same ones are the same."""
    data = Data(np.arange(100), seed=1).shuffle().batch(100)
    other = Data(np.arange(100), seed=2).shuffle().batch(100)

    assert seen(data, 0) == seen(data, 0)
    assert seen(data, 0) != seen(data, 1)
    assert seen(data, 0) != seen(other, 0)


def test_a_position_is_saved_and_restored() -> None:
    """A loop that stopped goes on at the next batch, and then in the next epoch."""
    data = Data(np.arange(50), seed=3).shuffle().batch(20)
    whole = seen(data, 0) + seen(data, 1)
    for _ in data:
        break
    saved = data.position
    again = Data(np.arange(50), seed=3).shuffle().batch(20)
    again.position = saved
    rest = [batch[0].tolist() for batch in [*again, *again]]

    assert saved == Position(0, 1)
    assert rest == whole[1:]
    data = again
    assert data.position == Position(2, 0)


@given(
    lengths=st.lists(st.integers(0, 30), min_size=1, max_size=40),
    size=st.integers(1, 6),
    width=st.integers(1, 9),
    stream=st.booleans(),
)
def test_buckets_have_each_sample_once_with_little_padding(
    lengths: list[int], size: int, width: int, stream: bool
) -> None:
    """Lengths of a batch round up to one multiple of the width, and to that it is padded."""
    items = [(np.full(n, i + 1), i) for i, n in enumerate(lengths)]
    source: Any = (lambda: iter(items)) if stream else items
    batches = list(Data(source).shuffle(7).bucket(size, width=width).epoch(0))
    indices = [int(i) for _, t in batches for i in t]

    assert sorted(indices) == list(range(len(lengths)))
    for x, t in batches:
        assert len(t) <= size
        assert {-(-lengths[i] // width) * width for i in t} == {x.shape[1]}
        for row, i in zip(x, t, strict=True):
            assert row.tolist() == [i + 1] * lengths[i] + [0] * (x.shape[1] - lengths[i])


def test_padding_is_that_of_each_element() -> None:
    """Labels are padded with a number of their own, and what has no length is not padded."""
    items = [(np.ones(2), np.ones(2, int), 7), (np.ones(3), np.ones(3, int), 8)]
    ((x, t, k),) = Data(items).bucket(2, pad=(0, -1, None), width=4).epoch(0)

    assert x.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    assert t.tolist() == [[1, 1, -1, -1], [1, 1, 1, -1]]
    assert k.tolist() == [7, 8]


def test_maps_change_samples_and_then_batches() -> None:
    """In front of `batch` a function gets a sample, behind it a batch."""
    data = Data([(1, 2), (3, 4)]).map(lambda a, b: a + b).batch(2).map(lambda x: x * 10)

    assert seen(data) == [[30, 70]]


def test_python_floats_are_f32() -> None:
    """Numbers of samples have the dtypes that arrays made of them would have."""
    ((x, t),) = Data([(0.5, 1), (1.5, 2)]).batch(2).epoch(0)

    assert (x.dtype, t.dtype) == (np.float32, np.int64)


def test_augmentation_is_that_of_the_sample_and_the_epoch() -> None:
    """Resuming in the middle, and working in threads, gives the same pictures to the bit."""
    pictures = np.random.default_rng(0).random((20, 3, 6, 6), np.float32)
    steps = (flip(), crop(2), cutout(3), normalise((0.5, 0.4, 0.3), 0.25))
    data = Data(pictures, seed=5).shuffle().augment(*steps).batch(4)
    whole = [x for (x,) in data.epoch(1)]
    rest = [x for (x,) in data.prefetch(3, threads=3).epoch(1, 2)]

    assert all(np.array_equal(a, b) for a, b in zip(whole[2:], rest, strict=True))
    assert not np.array_equal(whole[0], next(iter(data.epoch(2)))[0])
    assert whole[0].dtype == np.float32


def test_a_crop_is_a_part_of_the_padded_picture() -> None:
    """All places of the cut occur; the size may be another."""
    picture = np.arange(1, 5).reshape(1, 2, 2)
    cuts = {tuple(crop(1)(picture, np.random.default_rng(i)).ravel().tolist()) for i in range(200)}

    assert len(cuts) == 9 and (1, 2, 3, 4) in cuts and (4, 0, 0, 0) in cuts
    with pytest.raises(ShapeError, match="no 5x5 in a picture of 2x2 padded by 1"):
        crop(1, (5, 5))(picture, np.random.default_rng(0))


def test_a_stream_is_shuffled_within_a_window() -> None:
    """Each sample comes once, none earlier than the window allows; a place is reached again."""
    data = Data(lambda: iter(range(30)), seed=1).shuffle(window=5).batch(3)
    whole = seen(data, 0)
    flat = list(chain(*whole))

    assert sorted(flat) == list(range(30)) and flat != list(range(30))
    assert all(value - at < 5 for at, value in enumerate(flat))
    assert seen(data, 0, 4) == whole[4:]
    assert seen(data, 1) != whole


def test_an_iterator_is_good_for_one_epoch() -> None:
    """The error of the second one says what to give instead."""
    data = Data(iter([1, 2, 3])).batch(2)

    assert seen(data) == [[1, 2], [3]]
    with pytest.raises(GraphError, match="cannot start again for another epoch; give a function"):
        seen(data)


def test_batches_that_others_made_are_taken_as_they_are() -> None:
    """A loader of another library is a stream of batches."""
    data = Data(Stream([(np.ones(3), np.zeros(3))] * 2, batches=True))

    assert [x.shape for x, _ in data.epoch(0)] == [(3,), (3,)]
    with pytest.raises(GraphError, match="in batches already"):
        data.batch(2)


def test_a_split_has_each_sample_in_one_part() -> None:
    """The parts are the same in each run, and the held-out one has the share asked for."""
    rest, held = Data(NUMBERS).split(0.3, seed=4)
    parts = seen(rest.batch(10))[0], seen(held.batch(10))[0]

    assert sorted(parts[0] + parts[1]) == NUMBERS.tolist() and len(parts[1]) == 3


def test_dictionaries_of_a_data_set() -> None:
    """Rows that are dictionaries, as those of Hugging Face, give columns by name."""

    class Rows:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> dict[str, object]:
            return {"pixels": [0.5, index], "label": index, "text": "unused"}

    ((x, t),) = (
        Data(Rows()).columns("pixels", "label").map(lambda x, t: (np.array(x), t)).batch(3).epoch(0)
    )

    assert x.tolist() == [[0.5, 0], [0.5, 1], [0.5, 2]] and t.tolist() == [0, 1, 2]
    with pytest.raises(GraphError, match="no 'image' in a sample of pixels, label, text"):
        next(Data(Rows()).columns("image").batch(1).epoch(0))


def test_rows_that_are_read_at_once() -> None:
    """A data set that reads many rows at once, as Hugging Face's, is asked once for a batch."""
    asked: list[list[int]] = []

    class Rows:
        def __len__(self) -> int:
            return 6

        def __getitem__(self, index: int) -> dict[str, int]:
            raise AssertionError("one at a time")

        def __getitems__(self, numbers: list[int]) -> list[dict[str, int]]:
            asked.append(numbers)
            return [{"n": number} for number in numbers]

    rest, held = Data(Rows()).columns("n").split(0.5)

    assert sorted(chain(*seen(rest.batch(3)), *seen(held.batch(3)))) == list(range(6))
    assert [len(numbers) for numbers in asked] == [3, 3]


def test_data_of_pytorch() -> None:
    """A data set of tensors is a sequence of samples, its loader a stream of batches."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    pairs = torch.utils.data.TensorDataset(torch.arange(6.0), torch.arange(6))
    ((x, t),) = Data(pairs).batch(6).epoch(0)
    batches = list(Data(torch.utils.data.DataLoader(pairs, batch_size=4)).epoch(0))

    assert x.tolist() == t.tolist() == list(range(6)) and x.dtype == np.float32
    assert [[len(x), len(t)] for x, t in batches] == [[4, 4], [2, 2]]


def test_lines_of_a_text(tmp_path: Path) -> None:
    """Lines are read where they stand; what is no text is an error with its line."""
    path = tmp_path / "a.txt"
    path.write_bytes("één\r\n\ntwee".encode() + b"\n\xff\n")
    lines = TextLines(path)

    assert [lines[i] for i in range(3)] == ["één", "", "twee"]
    with pytest.raises(GraphError, match=r"a.txt:4: 'utf-8' codec can't decode"):
        lines[3]
    with pytest.raises(IndexError, match="4 lines, and no line 4"):
        lines[4]


def test_batches_are_counted_where_they_are_known() -> None:
    """Buckets and streams are counted when they have been made."""
    assert (
        Data(NUMBERS).batch(4).batches == 3 and Data(NUMBERS).batch(4, drop_last=True).batches == 2
    )
    assert Data(ragged).batch(2).batches is None and Data([[1]]).bucket(2).batches is None


def ragged() -> Iterator[object]:
    yield np.ones(3), 1
    yield np.ones(4), 2


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Data((np.ones(3), np.ones(4))), ShapeError, r"\(3,\), 1: \(4,\)} differ"),
        (lambda: Data((np.ones(()), np.ones(4))), ShapeError, "each needs rows"),
        (lambda: Data(5), ArgumentError, "int 5 is none of arrays, a sequence of samples"),
        (lambda: Data("text"), ArgumentError, "str 'text' is none of"),
        (lambda: Data(NUMBERS).batch(0), ArgumentError, "size=0: give a whole number"),
        (lambda: Data(NUMBERS).batch(2).batch(2), GraphError, "in batches already"),
        (lambda: Data(NUMBERS).batch(2).augment(flip()), GraphError, "in front of batch"),
        (lambda: Data(NUMBERS).prefetch(0), ArgumentError, "ahead=0, threads=1"),
        (lambda: Data(ragged).split(0.5), GraphError, "a stream has no length"),
        (
            lambda: list(Data(ragged).batch(2).epoch(0)),
            ShapeError,
            r"of sample 0 of a batch is \[3\], of sample 1 \[4\]; make them equal",
        ),
        (lambda: list(Data([(1, 2), (1,)]).batch(2).epoch(0)), ShapeError, "no element 1"),
    ],
)
def test_mistakes_are_named(make: Any, error: type[Exception], words: str) -> None:
    """Each error has the actual values and what to do."""
    with pytest.raises(error, match=words):
        make()
