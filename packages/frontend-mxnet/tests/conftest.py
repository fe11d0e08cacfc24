"""Programs of NumPy kernels: they build in milliseconds."""

from collections.abc import Iterator

import pytest

from byparts_frontend_mxnet.context import options


@pytest.fixture(autouse=True)
def numpy_kernels() -> Iterator[None]:
    before = dict(options)
    options["backends"] = ("numpy",)
    yield
    options.update(before)
