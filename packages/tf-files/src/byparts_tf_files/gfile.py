"""`tf.gfile.GFile`: a file of this machine.

Text is UTF-8, and line ends stay as they are.  What the system refuses is a `tf.errors` of its
kind, with the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, Optional, Union

from byparts_tf_files import errors
from byparts_tf_files.file_system import stat
from byparts_tf_files.paths import local_path
from byparts_tf_files.system_errors import as_tensorflow_errors

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file, opened when it is first read or written.

    Args:
        name: the path.
        mode: "r", "w", "a", "r+", "w+", "a+", each perhaps with a "b" for bytes.

    Raises:
        InvalidArgumentError: no such mode.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(None, None, f"{mode} is not a valid mode of a file")
        self._name, self._mode = local_path(name), mode
        self._binary, self._plain = "b" in mode, plain
        self._file: Optional[IO[bytes]] = None

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    def size(self) -> int:
        """The size in bytes of what is on the disk."""
        return stat(self._name).length

    def write(self, file_content: Union[str, bytes]) -> None:
        """Write a text, or bytes.

        Raises:
            PermissionDeniedError: it was opened to be read.
        """
        if self._plain == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        data = file_content.encode() if isinstance(file_content, str) else bytes(file_content)
        with as_tensorflow_errors(self._name):
            self._opened().write(data)

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that are left; a text unless it was opened for bytes.

        Raises:
            PermissionDeniedError: it was opened to be written.
        """
        return self._given(self._read("read", n))

    def readline(self) -> Any:
        """The next line, with its end."""
        return self._given(self._read("readline"))

    def readlines(self) -> list[Any]:
        """All lines that are left, with their ends."""
        return list(self)

    def seek(self, offset: Optional[int] = None, whence: int = 0, position: Any = None) -> None:
        """Go to a byte: from the beginning (0), from here (1) or from the end (2)."""
        with as_tensorflow_errors(self._name):
            self._opened().seek(int((offset if position is None else position) or 0), whence)

    def tell(self) -> int:
        """The byte that is next."""
        with as_tensorflow_errors(self._name):
            return self._opened().tell()

    def seekable(self) -> bool:
        """Whether `seek` works: it does."""
        return True

    def flush(self) -> None:
        """Hand to the system what was written."""
        if self._file is not None:
            with as_tensorflow_errors(self._name):
                self._file.flush()

    def close(self) -> None:
        """Write what is left and close it."""
        if self._file is not None:
            with as_tensorflow_errors(self._name):
                self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        while line := self.readline():
            yield line

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = open(self._name, self._plain + "b")  # noqa: SIM115 - `close` closes it
        return self._file

    def _read(self, how: str, *args: int) -> bytes:
        if self._plain in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        with as_tensorflow_errors(self._name):
            data: bytes = getattr(self._opened(), how)(*args)
        return data

    def _given(self, data: bytes) -> Any:
        return data if self._binary else data.decode()


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """All of a file, as a text or as bytes."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Union[str, bytes]) -> None:
    """Make a file of a text or of bytes."""
    with GFile(filename, "w") as file:
        file.write(file_content)
