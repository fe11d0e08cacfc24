from __future__ import annotations

from importlib.util import find_spec

import pytest

from byparts_graph_ir import Backend
from byparts_graph_ir.parts.hub import parts

BACKENDS = ["numpy", *(["torch"] if find_spec("torch") else [])]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    started: Backend = parts.backend(request.param)
    return started
