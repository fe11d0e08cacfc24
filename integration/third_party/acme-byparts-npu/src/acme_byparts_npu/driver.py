"""The host's side of the device: starts it, sends commands, and says what became of them.

The memory is a file without a name that belongs to the host, so it outlives the device: when that
dies, or is stopped because the user interrupts, what variables hold is still there, and the next
command starts another device on the same memory.

A fork copies neither device nor memory, so a forked child is refused: its commands would mix with
those of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from byparts_graph_ir.fork import make_lock

MEMORY_BYTES = 1 << 32  # of address space; pages are taken when they are written

_DEVICE = str(Path(__file__).with_name("device.py"))


class NpuError(RuntimeError):
    """A command failed; the device goes on."""


class NpuLost(NpuError):
    """The device died; the next command starts another."""


class Driver:
    """One device and its memory.  Thread-safe: commands are done in the order they were sent."""

    def __init__(self) -> None:
        self.lock, self._owner = make_lock(), os.getpid()
        self._file = TemporaryFile()  # noqa: SIM115  (for as long as we live)
        self._file.truncate(MEMORY_BYTES)
        self._process: list[subprocess.Popen[bytes]] = []  # one or none
        self._sent: list[str] = []  # since the last synchronize
        self._count = 0
        weakref.finalize(self, self._file.close)
        weakref.finalize(self, _stop_own, self._process, self._owner)

    @property
    def pid(self) -> int | None:
        """Of the device, if it runs."""
        return self._process[0].pid if self._process else None

    def read(self, offset: int, size_bytes: int) -> bytes:
        """Bytes of the memory, after all that was sent."""
        with self.lock:
            self._check_owner()
            self.synchronize()
            return os.pread(self._file.fileno(), size_bytes, offset)

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Bytes into the memory, after all that was sent."""
        with self.lock:
            self._check_owner()
            self.synchronize()
            os.pwrite(self._file.fileno(), data, offset)

    def send(self, name: str, line: bytes) -> None:
        """A command; comes back at once."""
        with self.lock:
            self._check_owner()
            process = self._started()
            try:
                _write(process, line)
            except BrokenPipeError as error:
                self._sent.append(name)
                raise self._lost(process) from error
            except BaseException:  # half a line may be out
                self._stop()
                raise
            self._sent.append(name)

    def synchronize(self) -> None:
        """Wait until everything sent is done.

        Raises:
            NpuError: one of the commands failed; those after it were not done.
            NpuLost: the device died.
        """
        with self.lock:
            self._check_owner()
            if not self._sent:
                return
            try:
                error = self._answer(self._started())
            except BaseException:  # also Ctrl-C: nothing of what was interrupted must run on
                self._stop()
                raise
            names = self._sent[:]
            self._sent.clear()
        if error:
            raise NpuError(f"npu: {error} (in one of {', '.join(dict.fromkeys(names))})")

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise NpuError(
                f"npu: the device is that of process {self._owner}, which this one is a fork of; "
                "make() another one here"
            )

    def _answer(self, process: subprocess.Popen[bytes]) -> str:
        self._count += 1
        try:
            _write(process, json.dumps({"sync": self._count}).encode() + b"\n")
            assert process.stdout is not None, "opened with a pipe"
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise self._lost(process)
        answer: dict[str, Any] = json.loads(line)
        assert answer["done"] == self._count, "answers come in the order of the questions"
        return str(answer.get("error", ""))

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process and not self._sent and self._process[0].poll() is not None:
            self._stop()  # it died while it had nothing to do: nothing is lost
        if not self._process:
            command = [sys.executable, _DEVICE, str(self._file.fileno())]
            self._process.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=(self._file.fileno(),),
                    start_new_session=True,
                    bufsize=0,
                )
            )
        return self._process[0]

    def _lost(self, process: subprocess.Popen[bytes]) -> NpuLost:
        code = process.wait()
        begun = int.from_bytes(os.pread(self._file.fileno(), 8, 0), "little")
        where = self._sent[begun - 1] if 0 < begun <= len(self._sent) else "nothing"
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        self._stop()
        return NpuLost(
            f"the npu (process {process.pid}) {how} while it computed {where}; "
            "the next run starts it again"
        )

    def _stop(self) -> None:
        """Stop the device, if it runs, and forget what it was told."""
        _stop(self._process)
        self._sent.clear()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None, "opened with a pipe"
    rest = memoryview(line)
    while rest:
        rest = rest[process.stdin.write(rest) :]


def _stop_own(processes: list[subprocess.Popen[bytes]], owner: int) -> None:
    if os.getpid() == owner:
        _stop(processes)


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    while processes:
        process = processes.pop()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
