"""Files with one thing wrong, for the tests of those who read them."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np

from byparts_weights.dtypes import Array


def npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    """A .npy file with this text in front of its data."""
    length = struct.pack("<H" if version == 1 else "<L", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode("latin-1") + data


def shaped(shape: str, descr: str = "<f4", order: str = "False") -> str:
    """The text that stands in front of an array."""
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


def archive(path: Path, *entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    """A zip archive of these."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in entries:
            file.writestr(name, content)
    return path


def one_array(path: Path, header: str, data: bytes = b"", version: int = 1) -> Path:
    """An .npz of one array, "w"."""
    return archive(path, ("w.npy", npy(header, data, version)))


def patched(path: Path, mark: bytes, offset: int, new: bytes) -> Path:
    """The file with other bytes behind the last `mark`."""
    data = bytearray(path.read_bytes())
    at = data.rindex(mark) + offset
    data[at : at + len(new)] = new
    path.write_bytes(bytes(data))
    return path


def numpy_saved(path: Path, **arrays: Array) -> Path:
    """What NumPy makes of them."""
    with io.BytesIO() as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # names are arrays
        path.write_bytes(file.getvalue())
    return path
