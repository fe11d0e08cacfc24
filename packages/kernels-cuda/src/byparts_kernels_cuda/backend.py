"""NVIDIA GPUs: finds the driver, and declines until there are kernels.

Declining in `make` rather than at each op keeps "auto" honest: it goes on to the next backend
instead of choosing one that can do nothing.
"""

from __future__ import annotations

from ctypes import CDLL, byref, c_char_p, c_int

from byparts_graph_ir import Backend

DRIVER = "libcuda.so.1"


def make() -> Backend:
    """The backend, once there is one.

    Raises:
        RuntimeError: no driver, no device, or no kernels yet.
    """
    count, version = devices()
    raise RuntimeError(
        f"{count} NVIDIA GPU{'s' * (count != 1)} found (driver API {version // 1000}."
        f"{version % 1000 // 10}), but this version of byparts-kernels-cuda has no kernels yet; "
        f"they come with a later one"
    )


def devices() -> tuple[int, int]:
    """Number of devices, and the driver's API version, e.g. 12040 for 12.4.

    Raises:
        RuntimeError: no driver, or it finds no device.
    """
    try:
        driver = CDLL(DRIVER)
    except OSError:
        raise RuntimeError(f"no NVIDIA driver on this machine ({DRIVER} is not found)") from None
    count, version = c_int(), c_int()
    _check(driver, "cuInit", driver.cuInit(0))
    _check(driver, "cuDriverGetVersion", driver.cuDriverGetVersion(byref(version)))
    _check(driver, "cuDeviceGetCount", driver.cuDeviceGetCount(byref(count)))
    if count.value == 0:
        raise RuntimeError("the NVIDIA driver finds no GPU on this machine")
    return count.value, version.value


def _check(driver: CDLL, call: str, status: int) -> None:
    """Raise what the driver says of a failed call."""
    if status:
        text = c_char_p()
        driver.cuGetErrorString(status, byref(text))
        why = (text.value or b"unknown error").decode()
        raise RuntimeError(f"{call} failed with {status}: {why}")
