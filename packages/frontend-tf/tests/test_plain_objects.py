"""Lists, dicts and arrays of Keras's data sets are read without the machine that runs them."""

import ast
import pickle
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import byparts_frontend_tf as tf
from byparts_graph_ir import FormatError
from byparts_tf_files.array_files import MOST_RATIO, SPARE_BYTES, arrays_of
from byparts_tf_files.plain_objects import plain_object
from byparts_tf_keras import datasets

_PARTS = Path(tf.__file__).parents[3]
_small = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats())
_plain = st.recursive(
    st.one_of(_small, st.text(), st.binary()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.binary(), inner),
)


@given(value=_plain, protocol=st.integers(2, 5))
def test_what_python_wrote_is_read(value: Any, protocol: int) -> None:
    """Plain values, in every binary form."""
    found = plain_object(pickle.dumps(value, protocol))

    assert repr(found) == repr(value)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("array", [np.arange(6, dtype=">i4").reshape(2, 3), np.zeros((0, 2), "f2")])
def test_arrays_are_read(array: Any, protocol: int) -> None:
    """With their byte order and order of axes; those of Python 2, whose bytes are texts, too."""
    for a in (array, np.asfortranarray(array)):
        found = plain_object(pickle.dumps({"data": a}, protocol))["data"]

        np.testing.assert_array_equal(found, a)
        assert found.dtype == a.dtype


def test_no_part_imports_the_machine() -> None:
    """Neither by its name nor by that of a module that has one inside."""
    machines = {
        "pickle",
        "_pickle",
        "cPickle",
        "marshal",
        "shelve",
        "dill",
        "cloudpickle",
        "joblib",
    }
    found = set()
    for path in _PARTS.glob("packages/*/src/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if machines & {n.partition(".")[0] for n in names}:
                found.add(path.name)

    assert found == set()


class _Calls:
    def __init__(self, called: Any, *arguments: Any) -> None:
        self.called, self.arguments = called, arguments

    def __reduce__(self) -> Any:
        return self.called, self.arguments


_HOSTILE = {
    "a function": pickle.dumps([_Calls(print, "run")], 2),
    "a class of NumPy": pickle.dumps([_Calls(np.ndarray, (2,), np.dtype("O"), b"\1" * 16)], 2),
    "a dtype of objects": pickle.dumps(np.zeros(2, "u8"), 2).replace(b"u8", b"O8"),
    "a dtype of structures": pickle.dumps(np.zeros(2, [("a", "<u4")]), 2),
    "a name alone": b"cnumpy\nndarray\n.",
    "too many elements": pickle.dumps(np.zeros(2, "u1"), 2).replace(b"K\x02\x85", b"K\x09\x85"),
    "a list in itself": b"]q\0h\0a.",
    "a list twice": b"](]q\0h\0e.",
    "an array twice": b"]cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n)\x86Rq\0h\0a.",
    "an array of nothing": b"]cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x85Ra.",
    "more bytes than there are": b"B\xff\xff\xff\x7fabc.",
    "a number of 200 bytes": b"\x8a\xc8" + b"\1" * 200 + b".",
    "a mark that is not there": b"]e.",
    "two values": b"K\1K\2.",
    "a text that is none": b"X\1\0\0\0\xff.",
    "a text where a list is": b"U\1aK\1a.",
    "no end": b"(((((",
    "nothing": b"",
}


@pytest.mark.parametrize("data", _HOSTILE.values(), ids=_HOSTILE)
def test_whatever_else_is_said_is_refused(data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """Functions are not called, memory is not read, values are not meant twice."""
    with pytest.raises(FormatError, match=r"byte \d+|array|no dtype|where it cannot stand|bytes"):
        plain_object(data)

    assert capsys.readouterr().out == ""


def _peak_bytes(f: Any) -> int:
    tracemalloc.start()
    try:
        f()
    except FormatError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "piece", [b"]\x94", b"}\x94", b"(", b"K\1r\1\2\3\4", b"(]", b"G1234567\xff", b"]q\1"]
)
def test_memory_is_proportional_to_the_bytes(piece: bytes) -> None:
    """At most 200 bytes for each."""
    data = piece * 20_000

    assert _peak_bytes(lambda: plain_object(data)) < 200 * len(data) + 10_000


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    """A megabyte of zeros is packed into a thousand bytes; a header claims as much as it likes."""
    np.savez_compressed(tmp_path / "zeros.npz", x=np.zeros(1 << 24, np.uint8))
    size = (tmp_path / "zeros.npz").stat().st_size
    with pytest.raises(FormatError, match="unpacked it has more than 100 times its size"):
        arrays_of(tmp_path / "zeros.npz")

    most = MOST_RATIO * size + SPARE_BYTES
    assert _peak_bytes(lambda: arrays_of(tmp_path / "zeros.npz")) < 3 * most


def test_a_header_that_claims_too_much_allocates_nothing(tmp_path: Path) -> None:
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }\n"
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(FormatError, match="0 elements is said to be"):
        arrays_of(tmp_path / "x.npz")

    assert _peak_bytes(lambda: arrays_of(tmp_path / "x.npz")) < 1 << 20


def test_a_damaged_archive_is_refused_in_one_kind(tmp_path: Path) -> None:
    """Whatever `zipfile` and NumPy say of it."""
    texts = np.empty(2, object)
    texts[:] = [[1, 2, 300], [4]]
    np.savez(tmp_path / "x.npz", x=texts, y=np.arange(3.0))
    right, random = (tmp_path / "x.npz").read_bytes(), Random(0)
    for _ in range(500):
        data = bytearray(right)
        for _ in range(random.choice((1, 4))):
            data[random.randrange(len(data))] = random.randrange(256)
        (tmp_path / "y.npz").write_bytes(data)
        with suppress(FormatError):
            arrays_of(tmp_path / "y.npz", lists=True)


def _batches(folder: Path, count: int = 2) -> None:
    for name in (*[f"data_batch_{i}" for i in range(1, 6)], "test_batch"):
        data = np.arange(count * 3072).astype(np.uint8).reshape(count, 3072)
        held = {b"data": data, b"labels": [k + 3 for k in range(count)], b"batch_label": b"of 5"}
        (folder / name).write_bytes(pickle.dumps(held, 2))


def test_cifar_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "get_file", lambda *args, **given: str(tmp_path))
    _batches(tmp_path)
    (x, _), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()

    assert (x.shape, x_test.shape) == ((10, 32, 32, 3), (2, 32, 32, 3))
    assert y_test.tolist() == [[3], [4]] and x_test[0, 0, :2, 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    "held",
    [
        [],
        {"data": [1]},
        {"data": np.zeros((2, 7), np.uint8), "labels": [1, 2]},
        {"data": np.zeros((2, 3072), np.uint8), "labels": [1]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": [-1]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": [b"x"]},
    ],
)
def test_a_batch_of_other_things_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: Any
) -> None:
    monkeypatch.setattr(datasets, "get_file", lambda *args, **given: str(tmp_path))
    _batches(tmp_path)
    (tmp_path / "data_batch_3").write_bytes(pickle.dumps(held, 2))

    with pytest.raises(FormatError, match=r"data_batch_3: no images in rows of 3072 bytes"):
        tf.keras.datasets.cifar10.load_data()


@pytest.mark.parametrize("rows", [[b"ab"], [["a"]], [[1.5]], [{1: 2}], [[True]], [[[1]]]])
def test_texts_of_other_things_are_refused(tmp_path: Path, rows: list[Any]) -> None:
    x = np.empty(len(rows), object)
    x[:] = rows
    np.savez(tmp_path / "x.npz", x=x, y=np.zeros(len(x)))

    with pytest.raises(FormatError, match=r"no lists of numbers of words|cannot stand"):
        tf.keras.datasets.reuters.load_data(str(tmp_path / "x.npz"))
