"""Records that readers find in files, as (key, record); and the state of a reader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Optional

from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.gfile import read_file_to_string
from byparts_tf_files.paths import local_path
from byparts_tf_files.records import tf_record_iterator
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_input.queues.storage import Storage

Record = tuple[bytes, bytes]
Open = Callable[[bytes], Iterator[Record]]  # the name of a file -> its records


def _path(work: bytes) -> str:
    return local_path(work.decode())


def whole_file(work: bytes) -> Iterator[Record]:
    """The name of the file, and what is in it."""
    yield work, read_file_to_string(work.decode(), binary_mode=True)


def itself(work: bytes) -> Iterator[Record]:
    """The name, twice."""
    yield work, work


def lines(work: bytes, skip: int) -> Iterator[Record]:
    """The lines without their ends; the first `skip` are left out."""
    with as_tensorflow_errors(_path(work)), open(_path(work), "rb") as file:
        for i, line in enumerate(file, 1):
            if i > skip:
                yield b"%s:%d" % (work, i), line.removesuffix(b"\n").replace(b"\r", b"")


def tf_records(work: bytes, compression: str) -> Iterator[Record]:
    """The records of a TFRecord file; a key has the byte where the record begins."""
    at = 0
    for record in tf_record_iterator(work.decode(), compression):
        yield b"%s:%d" % (work, at), record
        at += 16 + len(record)


def fixed_length(work: bytes, record: int, header: int, footer: int, hop: int) -> Iterator[Record]:
    """Pieces of `record` bytes, `hop` bytes apart, without `header` bytes and `footer` bytes."""
    data = read_file_to_string(work.decode(), binary_mode=True)
    if len(data) < header + footer:
        raise InvalidArgumentError(
            None, None, f"{_path(work)}: {len(data)} bytes are fewer than header and footer"
        )
    end = len(data) - footer
    step = hop or record
    if not hop and (end - header) % record:
        raise InvalidArgumentError(
            None,
            None,
            f"Excluding the header ({header} bytes) and the footer ({footer} bytes), input file "
            f"{_path(work)} has body length {end - header} bytes, which is not an exact multiple "
            f"of the record length ({record} bytes).",
        )
    for i, at in enumerate(range(header, end - record + 1, step)):
        yield b"%s:%d" % (work, i), data[at : at + record]


class ReaderState:
    """A reader of a session: the file it is in, and how much it has read.

    Args:
        open_file: gives the records of a file.

    Attributes:
        records: how many it gave.
        files: how many it has finished.
    """

    def __init__(self, open_file: Open) -> None:
        self._open = open_file
        self._waiting = threading.Lock()  # one thread at a time takes the next file
        self._now: Optional[Iterator[Record]] = None
        self.records = self.files = 0

    def read(self, queue: Storage, count: int) -> list[Record]:
        """The next records: `count`, or fewer at the end of a file, but one at least.

        Raises:
            OutOfRangeError: there is no further file.
            OpError: a file cannot be read.
        """
        with self._waiting:
            found: list[Record] = []
            while len(found) < count:
                if self._now is None:
                    ((name,),) = queue.take(1)
                    self._now = self._open(bytes(name[()]))
                if not self._read_from(self._now, found, count) and found:
                    break
            return found

    def _read_from(self, records: Iterator[Record], found: list[Record], count: int) -> bool:
        """Read records of this file into `found`; whether there may be more in it."""
        try:
            while len(found) < count:
                found.append(next(records))
                self.records += 1
        except StopIteration:
            self._now = None
            self.files += 1
            return False
        except BaseException:
            self._now = None
            raise
        return True

    def reset(self) -> None:
        """Forget the file and what was counted."""
        with self._waiting:
            self._now = None
            self.records = self.files = 0
