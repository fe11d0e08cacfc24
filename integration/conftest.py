"""Environments that several tests share."""

from __future__ import annotations

import os
from shutil import which

import pytest

from third_party.environment import HERE, NEEDS, Environment, make


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One with the distribution of a stranger: `third_party/acme-byparts-npu`, as a wheel."""
    if NEEDS:
        pytest.skip(f"needs {', '.join(NEEDS)}")
    environment = make(tmp_path_factory.mktemp("acme") / "env")
    environment.install(HERE / "acme-byparts-npu")
    return environment


@pytest.fixture(scope="session")
def acme_c(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One with `third_party/acme-byparts-c`, whose C is kept in a folder of its own."""
    needs = [*NEEDS, *["gcc"] * (which(os.environ.get("CC", "gcc")) is None)]
    if needs:
        pytest.skip(f"needs {', '.join(needs)}")
    folder = tmp_path_factory.mktemp("acme-c")
    environment = make(folder / "env", ACME_BYPARTS_C_CACHE=str(folder / "cache"))
    environment.install(HERE / "acme-byparts-c")
    return environment


@pytest.fixture(scope="session")
def acme_tf(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One with `third_party/acme-byparts-tf`, which adds names to TensorFlow's API."""
    if NEEDS:
        pytest.skip(f"needs {', '.join(NEEDS)}")
    environment = make(tmp_path_factory.mktemp("acme-tf") / "env")
    environment.install(HERE / "acme-byparts-tf")
    return environment
