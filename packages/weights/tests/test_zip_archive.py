"""Damaged archives: each a FormatError that names the byte."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from damaged import archive, npy, numpy_saved, one_array, patched, shaped

from byparts_graph_ir import FormatError
from byparts_weights import load

ENTRY, LOCAL, END = b"PK\1\2", b"PK\3\4", b"PK\5\6"
ONES = np.ones(3, np.float32)


def test_what_numpy_compresses_is_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(100_000), b=np.zeros((0, 3), bool))

    arrays = load(tmp_path / "x.npz")
    assert (arrays["a"] == np.arange(100_000)).all()
    assert arrays["b"].shape == (0, 3)


def test_a_written_stream_is_read(tmp_path: Path) -> None:
    """Its sizes stand behind the entries, because it could not go back."""

    class OneWay:
        def __init__(self, path: Path) -> None:
            self.file = path.open("wb")

        def write(self, data: bytes) -> int:
            return self.file.write(data)

        def flush(self) -> None:
            self.file.flush()

    out = OneWay(tmp_path / "x.npz")
    with zipfile.ZipFile(out, "w") as file:  # type: ignore[call-overload]  # all that it needs
        file.writestr("w.npy", npy(shaped("(3,)"), ONES.tobytes()))
    out.file.close()

    assert load(tmp_path / "x.npz")["w"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("saturated", [False, True])
def test_an_archive_with_64_bit_numbers_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saturated: bool
) -> None:
    """As of more entries than 16 bits count; the short numbers are all ones, or right as well."""
    path, content = tmp_path / "x.npz", npy(shaped("()"), bytes(4))
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    archive(path, *((f"{k}.npy", content) for k in range(3)))
    if saturated:
        patched(path, END, 8, b"\xff\xff\xff\xff")

    assert b"PK\6\6" in path.read_bytes()
    assert sorted(load(path)) == ["0", "1", "2"]
    with pytest.raises(FormatError, match="lacks its 64-bit numbers"):
        load(patched(path, b"PK\6\6", 0, b"PK\6\5"))


@pytest.mark.parametrize(
    ("mark", "offset", "new", "message"),
    [
        pytest.param(ENTRY, 8, b"\1", "entry 'w.npy' is encrypted", id="encrypted"),
        pytest.param(ENTRY, 10, b"\x0c", "of method 12 and flags 0x0", id="bzip2"),
        pytest.param(ENTRY, 8, b"\x20", "of method 0 and flags 0x20", id="patch"),
        pytest.param(
            ENTRY, 16, bytes(4), "entry 'w.npy': checksum [0-9a-f]+; expected 0", id="crc"
        ),
        pytest.param(ENTRY, 24, b"\xff\xff\xff", "bytes packed into .* which cannot be", id="size"),
        pytest.param(ENTRY, 42, b"\xff\xff\xff", "which cannot be", id="behind the file"),
        pytest.param(ENTRY, 42, b"\1", "does not begin as an entry", id="elsewhere"),
        pytest.param(ENTRY, 28, b"\xff", "reaches beyond its end", id="long name"),
        pytest.param(ENTRY, 9, b"\x08", "begins with another name or way of packing", id="utf-8"),
        pytest.param(ENTRY, 46, b"v", "begins with another name", id="name"),
        pytest.param(LOCAL, 26, b"\xff", r"reaches byte \d+, which is not its own", id="long"),
        pytest.param(END, 16, b"\xff\xff", "expected it to end here", id="directory elsewhere"),
        pytest.param(END, 10, b"\2", "one of several", id="count"),
        pytest.param(END, 8, b"\2\0\2", "expected an entry of the directory", id="two entries"),
        pytest.param(END, 20, b"\1", "does not end where it says", id="comment"),
        pytest.param(END, 8, b"\xff\xff\xff\xff", "lacks its 64-bit numbers", id="64 bits"),
    ],
)
def test_a_wrong_number_is_found(
    tmp_path: Path, mark: bytes, offset: int, new: bytes, message: str
) -> None:
    path = one_array(tmp_path / "x.npz", shaped("(3,)"), ONES.tobytes())
    patched(path, mark, offset, new)

    with pytest.raises(FormatError, match=rf"x.npz is no .npz of arrays: byte \d+: .*{message}"):
        load(path)


def test_every_end_that_is_too_early_is_found(tmp_path: Path) -> None:
    whole = numpy_saved(tmp_path / "x.npz", a=ONES).read_bytes()

    for length in range(len(whole)):
        (tmp_path / "y.npz").write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"y.npz is no .npz of arrays: byte \d+"):
            load(tmp_path / "y.npz")


def test_entries_do_not_share_bytes(tmp_path: Path) -> None:
    """Or a small file could hold what a machine cannot: https://www.bamsoftware.com/hacks/zipbomb."""
    content = npy(shaped("(3,)"), ONES.tobytes())
    path = archive(tmp_path / "x.npz", ("a.npy", content), ("a2.npy", content))
    with zipfile.ZipFile(path) as file:
        second = file.infolist()[1].header_offset
    patched(path, struct.pack("<L", second) + b"a2.npy", 0, bytes(4))

    with pytest.raises(FormatError, match=r"entry 'a(2)?.npy'.*(not its own|another name)"):
        load(path)


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = archive(tmp_path / "x.npz", ("w.npy", b""), ("w.npy", b""))

    with pytest.raises(FormatError, match=r"byte 35: a second entry 'w.npy'"):
        load(path)


@pytest.mark.parametrize("claimed", [10**9, (1 << 63) - 1, 10**19 - 1])
def test_what_claims_to_be_large_takes_no_memory(tmp_path: Path, claimed: int) -> None:
    """Also in the directory, of a compressed entry."""
    path = tmp_path / "x.npz"
    content = npy(shaped(f"({claimed},)"), bytes(1000))
    archive(path, ("w.npy", content), method=zipfile.ZIP_DEFLATED)
    lie = struct.pack("<L", min(claimed, 0xFFFFFFFE))

    tracemalloc.start()
    for damaged in (path, patched(path, ENTRY, 24, lie)):
        with pytest.raises(FormatError, match=r"the entry has|no array has|which cannot be"):
            load(damaged)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("more", [-100, 100])
def test_a_compressed_entry_has_the_bytes_it_says(tmp_path: Path, more: int) -> None:
    path = tmp_path / "x.npz"
    archive(path, ("w.npy", npy(shaped("(1000,)", "|u1"), bytes(1000 + more))), method=8)
    length = len(npy(shaped("(1000,)", "|u1"), bytes(1000)))
    patched(path, ENTRY, 24, struct.pack("<L", length))

    with pytest.raises(FormatError, match=r"entry 'w.npy': (ends too early|goes on after)"):
        load(path)


def test_a_damaged_compressed_entry_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", ("w.npy", npy(shaped("(3,)"))), method=8)
    patched(path, b"PK\1\2", -8, bytes(8))

    with pytest.raises(FormatError, match=r"entry 'w.npy': "):
        load(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="no file of arrays, but a pipe or a device"):
        load(Path("/dev/null"))
