"""What the part says without a driver, and with a driver but no kernels."""

from __future__ import annotations

import ctypes
import re

import pytest

from byparts_graph_ir.parts.hub import PartError, parts
from byparts_kernels_cuda import backend


class FakeDriver:
    """Answers as the driver does; `status` is what every call returns."""

    def __init__(self, count: int, status: int = 0) -> None:
        self.count = count
        self.status = status

    def cuInit(self, flags: int) -> int:  # noqa: N802 - the driver's name
        return self.status

    def cuDriverGetVersion(self, version: object) -> int:  # noqa: N802 - the driver's name
        return self._answer(version, 12040)

    def cuDeviceGetCount(self, count: object) -> int:  # noqa: N802 - the driver's name
        return self._answer(count, self.count)

    def cuGetErrorString(self, status: int, text: object) -> int:  # noqa: N802 - the driver's name
        return self._answer(text, b"out of luck")

    def _answer(self, where: object, value: object) -> int:
        where._obj.value = value  # type: ignore[attr-defined]  # what `byref` points to
        return self.status


def use(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> None:
    monkeypatch.setattr(backend, "CDLL", lambda name: driver)


def test_without_a_driver_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "DRIVER", "libnosuchdriver.so.1")

    with pytest.raises(RuntimeError, match=r"no NVIDIA driver on this machine \(libnosuchdriver"):
        backend.make()


def test_with_a_driver_it_says_that_it_has_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeDriver(count=1))

    with pytest.raises(RuntimeError, match=r"1 NVIDIA GPU found \(driver API 12.4\), .*no kernels"):
        backend.make()


def test_a_driver_without_a_device_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeDriver(count=0))

    with pytest.raises(RuntimeError, match="finds no GPU"):
        backend.devices()


def test_a_failing_driver_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeDriver(count=1, status=100))

    with pytest.raises(RuntimeError, match="cuInit failed with 100: out of luck"):
        backend.devices()


def test_the_real_driver_is_asked_or_reported_absent() -> None:
    """Whatever this machine has, the answer is one sentence, not a crash."""
    try:
        ctypes.CDLL(backend.DRIVER)
    except OSError:
        expected = "no NVIDIA driver"
    else:
        expected = "GPU|cuInit failed"

    with pytest.raises(RuntimeError, match=expected):
        backend.make()


def test_the_hub_passes_the_reason_on() -> None:
    reason = "backend 'cuda' of byparts-kernels-cuda does not start: RuntimeError: "

    with pytest.raises(PartError, match=re.escape(reason)):
        parts.backend("cuda")
