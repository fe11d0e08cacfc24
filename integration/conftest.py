"""Environments that several tests share."""

from __future__ import annotations

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
