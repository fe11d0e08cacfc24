"""`parse_example` and its like, `decode_raw`, `decode_csv`: as TensorFlow answered for the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _feature(values: list[Any]) -> Any:
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**values: list[Any]) -> bytes:
    features = tf.train.Features(feature={k: _feature(v) for k, v in values.items()})
    data: bytes = tf.train.Example(features=features).SerializeToString()
    return data


A = example(x=[1, 2], y=[0.5], s=[b"ab", b"c"])
B = example(x=[3, 4, -5])


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def lists(value: Any) -> list[Any]:
    """A SparseTensorValue as lists."""
    return [part.tolist() for part in value]


def test_dense_features() -> None:
    """One Example and a batch; a default stands for what is missing."""
    features = {"y": tf.FixedLenFeature([1], tf.float32, 7.0)}
    one = tf.parse_single_example(A, {"x": tf.FixedLenFeature([2], tf.int64), **features})
    many = tf.parse_example([A, B], features)

    assert one["x"].shape.as_list() == [2] and many["y"].shape.as_list() == [2, 1]
    assert run(one)["x"].tolist() == [1, 2]
    assert run(many)["y"].tolist() == [[0.5], [7.0]]


def test_features_of_any_length() -> None:
    """Sparse tensors, and dense ones that are filled up."""
    sparse = {"x": tf.VarLenFeature(tf.int64), "s": tf.VarLenFeature(tf.string)}
    row = tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)
    many = run(tf.parse_example([A, B], sparse))

    assert lists(run(tf.parse_single_example(A, sparse))["x"]) == [[[0], [1]], [1, 2], [2]]
    assert lists(many["x"]) == [
        [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]],
        [1, 2, 3, 4, -5],
        [2, 3],
    ]
    assert lists(many["s"]) == [[[0, 0], [0, 1]], [b"ab", b"c"], [2, 2]]
    assert run(tf.parse_example([A, B], {"x": row}))["x"].tolist() == [[1, 2, -1], [3, 4, -5]]
    assert run(tf.parse_single_example(B, {"x": row}))["x"].tolist() == [3, 4, -5]


def test_sparse_features() -> None:
    """Indices and values are two features; they are sorted."""
    data = example(i=[3, 1], v=[1.0, 2.0])
    feature = {"z": tf.SparseFeature("i", "v", tf.float32, 10)}

    one = run(tf.parse_single_example(data, feature))["z"]
    many = run(tf.parse_example([data, data], feature))["z"]

    assert lists(one) == [[[1], [3]], [2.0, 1.0], [10]]
    assert lists(many) == [[[0, 1], [0, 3], [1, 1], [1, 3]], [2.0, 1.0, 2.0, 1.0], [2, 10]]


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ({"q": tf.FixedLenFeature([], tf.int64)}, r"Feature: q \(data type: int64\) is required"),
        (
            {"x": tf.FixedLenFeature([2], tf.float32)},
            "Key: x.*Data type: int64 but expected .*float",
        ),
        ({"x": tf.FixedLenFeature([3], tf.int64)}, r"Values size: 2 but output shape: \[3\]"),
    ],
)
def test_examples_that_do_not_fit(feature: Any, message: str) -> None:
    """A feature that is missing, of another dtype, of another size."""
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_single_example(A, feature))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Name: <unknown>.*{message}"):
        run(tf.parse_example([A], feature))


@pytest.mark.parametrize("data", [b"\xff\xffzz", A[:-1], b"\x0a\xff\xff\xff\xff\x0f"])
def test_damaged_examples(data: bytes) -> None:
    """Bytes that are no message, or end too early."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example"):
        run(tf.parse_single_example(data, {"x": tf.VarLenFeature(tf.int64)}))


def test_features_that_cannot_be_read() -> None:
    """What is wrong is said when the graph is built."""
    for feature, message in (
        (tf.FixedLenFeature([None], tf.int64), "First dimension of shape for feature x unknown"),
        (tf.FixedLenFeature([2, None], tf.int64), "need to be known"),
        (tf.FixedLenSequenceFeature([], tf.int64), "requires allow_missing"),
    ):
        with pytest.raises(ValueError, match=message):
            tf.parse_single_example(A, {"x": feature})


def test_sequence_examples() -> None:
    """The context and the lists."""
    rows = {
        "t": [_feature([1, 2]), _feature([3, 4])],
        "w": [_feature([b"a"]), _feature([b"b"] * 2)],
    }
    made = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": _feature([2])}),
        feature_lists=tf.train.FeatureLists(
            feature_list={k: tf.train.FeatureList(feature=v) for k, v in rows.items()}
        ),
    )
    pair = tf.FixedLenSequenceFeature([2], tf.int64)
    context, found = tf.parse_single_sequence_example(
        made.SerializeToString(),
        {"n": tf.FixedLenFeature([], tf.int64)},
        {"t": pair, "w": tf.VarLenFeature(tf.string), "u": pair._replace(allow_missing=True)},
    )
    missing = tf.parse_single_sequence_example(made.SerializeToString(), None, {"u": pair})

    values = run([context, found])
    assert found["t"].shape.as_list() == [None, 2]
    assert values[0] == {"n": 2} and values[1]["t"].tolist() == [[1, 2], [3, 4]]
    assert lists(values[1]["w"]) == [[[0, 0], [1, 0], [1, 1]], [b"a", b"b", b"b"], [2, 2]]
    assert values[1]["u"].shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Feature list 'u' is required"):
        run(missing)


def test_decode_raw() -> None:
    """Bytes as numbers, in either order."""
    assert run(tf.decode_raw([b"\1\2\3\0"], tf.int16)).tolist() == [[513, 3]]
    assert run(tf.decode_raw(b"\1\2", tf.int16, little_endian=False)).tolist() == [258]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a multiple of 2, the size"):
        run(tf.decode_raw("abc", tf.int16))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1 has size"):
        run(tf.decode_raw(["ab", "c"], tf.uint8))


def test_decode_csv() -> None:
    """Columns with their dtypes, defaults and quotes."""
    numbers = run(tf.decode_csv(["NA,2,z", "1,NA,z"], [[7], [8.5], [""]], na_value="NA"))

    assert [c.tolist() for c in numbers] == [[7, 1], [2.0, 8.5], [b"z", b"z"]]
    assert run(tf.decode_csv('"a,""b""", 2', [[""], [0]])) == [b'a,"b"', 2]
    assert run(tf.decode_csv("1,2,3", [[0], [0]], select_cols=[0, 2])) == [1, 3]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "Expect 2 fields but have 1 in record 0"),
        ("", "Expect 2 fields but have 0 in record 0"),
        ("3.5,1", "Field 0 in record 0 is not a valid int32: 3.5"),
        ("1,", "Field 1 is required but missing in record 0!"),
        ('1"2,3', "Unquoted fields cannot have quotes"),
        ('"1"2,3', "Quote inside a string has to be escaped"),
        ('"1,3', "Quoted field has to end with quote"),
    ],
)
def test_lines_that_do_not_fit(line: str, message: str) -> None:
    """Each in TensorFlow's words."""
    defaults = [tf.constant([0]), tf.constant([], tf.int32)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.decode_csv(line, defaults))


def test_a_default_may_be_a_constant_of_the_graph() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        default = tf.zeros([1], tf.int64) + 7
        feature = tf.FixedLenFeature([1], tf.int64, default_value=default)
        parsed = tf.parse_single_example(tf.train.Example().SerializeToString(), {"a": feature})

        assert session.run(parsed["a"]).tolist() == [7]
        with pytest.raises(ValueError, match="has to be a constant"):
            tf.parse_single_example(
                "", {"a": tf.FixedLenFeature([1], tf.int64, tf.placeholder(tf.int64, [1]))}
            )
