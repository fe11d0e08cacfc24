"""Programs of NumPy kernels: they build in milliseconds."""

from collections.abc import Iterator

import pytest

from byparts_frontend_mxnet import executor


@pytest.fixture(autouse=True)
def numpy_kernels() -> Iterator[None]:
    before = dict(executor.options)
    executor.options["backends"] = ("numpy",)
    yield
    executor.options.update(before)
