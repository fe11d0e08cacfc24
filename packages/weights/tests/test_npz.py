"""Arrays in .npz files: which are taken, and how damaged ones are refused."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile, ZipInfo

import numpy as np
import pytest
from damaged import archive, npy, numpy_saved, one_array, patched, shaped

from byparts_graph_ir import FormatError
from byparts_weights import load, save
from byparts_weights.dtypes import numpy_dtype

SIX = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions_of_the_header(tmp_path: Path, version: int) -> None:
    path = one_array(tmp_path / "x.npz", shaped("(2, 3)"), SIX.tobytes(), version)

    assert (load(path)["w"] == SIX).all()


def test_orders_of_bytes_and_axes(tmp_path: Path) -> None:
    """As NumPy writes them."""
    big, columns = SIX.astype(">f4"), np.asfortranarray(SIX)
    path = numpy_saved(tmp_path / "x.npz", big=big, columns=columns, both=np.asfortranarray(big))

    for array in load(path).values():
        assert array.dtype == np.dtype("<f4")
        assert array.flags.c_contiguous
        assert (array == SIX).all()


def test_a_number_has_no_axes_in_either_order(tmp_path: Path) -> None:
    """Found by the fuzzer: it came back as an array of one element."""
    path = one_array(tmp_path / "x.npz", shaped("()", "<i8", "True"), b"\7" + bytes(7))

    assert load(path)["w"].shape == ()


def test_bf16_of_numpy_itself(tmp_path: Path) -> None:
    """Which has no word for it, and writes two bytes each."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = numpy_saved(tmp_path / "x.npz", w=SIX.astype(ml_dtypes.bfloat16))

    assert load(path)["w"].dtype == numpy_dtype("bf16")


def test_four_bits_are_whole_numbers_to_others(tmp_path: Path) -> None:
    """`numpy.load` reads int8, and `load` i4 again: of any shape, also without ml_dtypes."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    every = np.arange(-8, 8).astype(ml_dtypes.int4)
    given = {"a": every.reshape(4, 4).T, "b": every[3], "c": every[:0], "V": every.view("V1")}
    save(tmp_path / "x.npz", given)

    again = load(tmp_path / "x.npz")

    assert {a.dtype for a in again.values()} == {every.dtype}
    assert [again[n].tolist() for n in "abc"] == [given[n].tolist() for n in "abc"]
    assert again["V"].tolist() == every.tolist()
    with np.load(tmp_path / "x.npz", allow_pickle=False) as theirs:
        assert (theirs["a"].dtype, theirs["a"].tolist()) == (np.int8, given["a"].tolist())


def test_a_number_of_more_than_four_bits_is_damage(tmp_path: Path) -> None:
    """Which an array of i4 would take for another number."""
    with ZipFile(tmp_path / "x.npz", "w") as archive:
        entry = ZipInfo("w.npy")
        entry.comment = b"i4"
        with archive.open(entry, "w") as content:
            np.lib.format.write_array(content, np.array([7, 8, -9], np.int8))

    with pytest.raises(FormatError, match="a number of i4 is 8; expected -8 to 7"):
        load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (shaped("(1000000000000,)"), r"f32\[1000000000000\] takes 4000000000000 bytes"),
        (shaped("(99999999999999999999,)"), "its header is "),
        (shaped("(9999999999999999999,)"), r"no array has the shape \(9999999999999999999,\)"),
        (shaped("(0, 4611686018427387904, 4611686018427387904)"), "no array has the shape"),
        (shaped(f"({'1, ' * 40})"), "no array has the shape"),
        (shaped("(-3,)"), "its header is "),
        (shaped("(3)"), "its header is "),
        (shaped("3"), "its header is "),
        (shaped("(3.0,)"), "its header is "),
        (shaped("(3,)", "|O"), r"its dtype is '\|O'; expected one of f2"),
        (shaped("(3,)", "<c8"), "its dtype is '<c8'"),
        (shaped("(3,)", "<M8[s]"), r"its dtype is '<M8\[s\]'"),
        (shaped("(3,)").replace("'<f4'", "[('a', '<f4')]"), "its header is "),
        (shaped("(3,)", order="0"), "its header is "),
        (shaped("(3,)").replace("shape", "shapes"), "its header is "),
        (shaped("(3,)").replace("'descr': '<f4', ", ""), "its header is "),
        (shaped("(3,)").replace("descr", "shape"), "its header is "),
        (shaped("(3,)") + "x", "its header is "),
        ("", "its header is "),
        ("{" * 60_000, "its header is "),
        ("x\0(", "its header is "),
        (shaped("(2,)"), "f32.2. takes 8 bytes after a header of .*, the entry has"),
    ],
)  # fmt: skip
def test_a_header_is_what_it_says(tmp_path: Path, header: str, message: str) -> None:
    path = one_array(tmp_path / "x.npz", header, bytes(12))

    with pytest.raises(FormatError, match=rf"x.npz is .* byte \d+: entry 'w.npy': .*{message}"):
        load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes; expected 8 more"),
        (b"PK\3\4 not an array", "expected a .npy file of version 1 to 3"),
        (npy(shaped("()"), version=9), "expected a .npy file of version 1 to 3"),
        (b"\x93NUMPY\2\0\xff\xff\xff\x7f{}", "a header of 2147483647 bytes; expected at most"),
        (b"\x93NUMPY\1\0\xff\xff{}", "12 bytes; expected 65535 more"),
    ],
)
def test_an_entry_is_an_array(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=rf"entry 'w.npy': .*{message}"):
        load(archive(tmp_path / "x.npz", ("w.npy", content)))


def test_a_bool_is_0_or_1(tmp_path: Path) -> None:
    """Others count as more than one in NumPy's sums."""
    path = one_array(tmp_path / "x.npz", shaped("(2,)", "|b1"), b"\1\2")

    with pytest.raises(FormatError, match="in 'w' a bool is the byte 2; expected 0 or 1"):
        load(path)


def test_names_are_keys_and_never_paths(tmp_path: Path) -> None:
    data = npy(shaped("()"), bytes(4))
    path = archive(tmp_path / "x.npz", ("../w.npy", data), ("/etc/w", data), ("a/../b.npy", data))

    assert sorted(load(path)) == ["../w", "/etc/w", "a/../b"]
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]


def test_a_changed_byte_of_data_is_refused_by_its_checksum(tmp_path: Path) -> None:
    save(tmp_path / "x.npz", {"w": SIX})
    patched(tmp_path / "x.npz", SIX.tobytes()[4:], 1, b"\7")

    with pytest.raises(FormatError, match=r"entry 'w.npy': checksum"):
        load(tmp_path / "x.npz")
