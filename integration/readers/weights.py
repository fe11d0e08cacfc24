"""Files of arrays: .npz and .safetensors."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from byparts_conformance.fuzz.mutations import NUMBERS, changed_bytes, changed_json, changed_words
from byparts_conformance.fuzz.reader import Data, Reader, scratch_folder
from byparts_graph_ir import TensorType
from byparts_weights import open_file
from byparts_weights.dtypes import Array, type_of

Found = dict[str, tuple[TensorType, Array]]
_HEADER_WORDS: tuple[str, ...] = (
    "(",
    ")",
    ",",
    "1",
    "-1",
    "0",
    "True",
    "'|O'",
    "'<f8'",
    "'>i4'",
    "'<V2'",
    "[",
    "L",
)
_HEADER_WORDS += ("'|b1'", "9" * 30, "[('a', '<f4')]", "__import__('os')", "'shape'", "\0", "\xff")
_NAMES = (".npz", "", "/../w.npy", "é.npy", ".npy.npy")


def npz() -> Reader:
    """With changed bytes, changed headers of arrays and changed numbers of the archive."""
    contents = [_npy(array) for array in _arrays().values()]
    archives = [_archive(Random(i), contents) for i in range(40)]
    return Reader("npz", [(contents, archives)], _changed_npz, _reader("x.npz"), _check)


def safetensors() -> Reader:
    """With changed bytes and changed values of the header."""
    from safetensors.numpy import save  # an optional extra

    data = save(_arrays(), metadata={"made": "here"})
    length = int.from_bytes(data[:8], "little")
    seed = (json.loads(data[8 : 8 + length]), data[8 + length :])
    return Reader("safetensors", [seed], _changed_safetensors, _reader("x.safetensors"), _check)


def _arrays() -> dict[str, Array]:
    return {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "count": np.array(7, np.int64),
        "mask": np.array([True, False, True]),
        "none": np.zeros((0, 4), np.float16),
    }


def _npy(array: Array) -> bytes:
    with io.BytesIO() as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
        return file.getvalue()


def _reader(name: str) -> Callable[[bytes], Found]:
    """Reads all arrays of bytes that stand in a file of that name."""
    path = scratch_folder() / name

    def read(data: bytes) -> Found:
        path.write_bytes(data)
        with open_file(path) as file:
            return {n: (file.type(n), file.read(n)) for n in file.names}

    return read


def _check(found: Found) -> None:
    """Arrays are of the types that are declared, their own and never too many."""
    for name, (kind, array) in found.items():
        assert type_of(array) == kind, f"{name}: {type_of(array)} is declared {kind}"
        assert array.nbytes <= 1 << 24, f"{name} has {array.nbytes} bytes"
        array.copy()
        if kind.dtype == "bool":
            assert array.size == 0 or int(array.view(np.uint8).max()) <= 1, name


def _changed_npz(random: Random, seed: tuple[list[bytes], list[bytes]]) -> Data:
    contents, archives = seed
    kind = random.randrange(8)
    if kind < 2:
        i = random.randrange(len(contents))
        changed = _changed_header(random, contents[i])
        return _archive(random, [*contents[:i], changed, *contents[i + 1 :]])
    data = random.choice(archives)
    if kind < 4:
        return changed_bytes(random, data)
    if kind == 4:
        return _spliced(random, data)
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2))):
        _change_number(random, made)
    return bytes(made)


def _archive(random: Random, contents: list[bytes]) -> bytes:
    """A right zip archive of these."""
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", method) as archive:
            for i, content in enumerate(contents):
                entry = zipfile.ZipInfo(f"{i}.npy")
                entry.compress_type = method
                entry.comment = random.choice((b"", b"", b"", b"bf16", b"i4"))
                if random.random() < 0.05:
                    entry.filename = f"{i}{random.choice(_NAMES)}"
                wide = random.random() < 0.3
                with archive.open(entry, "w", force_zip64=wide) as inside:
                    inside.write(content)
        return file.getvalue()


def _changed_header(random: Random, content: bytes) -> bytes:
    """An array with another text in front, whose length is right or not."""
    length = int.from_bytes(content[8:10], "little")
    text, data = content[10 : 10 + length].decode("latin-1"), content[10 + length :]
    made = changed_words(random, text, _HEADER_WORDS).encode("latin-1", "replace")
    if random.random() < 0.1:
        return changed_bytes(random, content)
    version = random.choice((1, 1, 1, 2, 3, 4))
    size = len(made) if random.random() < 0.9 else random.choice(NUMBERS) % (1 << 16)
    head = struct.pack("<H" if version == 1 else "<L", size % (1 << 16))
    return b"\x93NUMPY" + bytes([version, 0]) + head + made + data


def _change_number(random: Random, data: bytearray) -> None:
    """One number of the directory, of an entry or of the end."""
    marks = [
        m.start() for m in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06|\x06\x06|\x06\x07)", data)
    ]
    at = random.choice(marks) + 4 + 2 * random.randrange(21)
    width = random.choice((2, 2, 4, 4, 8))
    number = random.choice((*NUMBERS, len(data), at, random.choice(marks)))
    if random.random() < 0.3:
        number = int.from_bytes(data[at : at + width], "little") + random.choice((-1, 1, 8, -8))
    data[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")


def _spliced(random: Random, data: bytes) -> bytes:
    """With one piece of it put elsewhere."""
    i, j, k = sorted(random.randrange(len(data) + 1) for _ in range(3))
    return data[:i] + data[j:k] + data[i:j] + data[k:]


def _changed_safetensors(random: Random, seed: tuple[Any, bytes]) -> Data:
    header, data = seed
    if random.random() < 0.3:
        text = json.dumps(header).encode()
        return changed_bytes(random, len(text).to_bytes(8, "little") + text + data)
    text = changed_json(random, header).encode("utf-8", "surrogatepass")
    length = len(text) if random.random() < 0.95 else random.choice(NUMBERS) % (1 << 64)
    if random.random() < 0.3:
        data = changed_bytes(random, data)
    return length.to_bytes(8, "little") + text + data
