"""Native code of several programs, compiled by one call of the compiler.

The compiler takes 0.05 s to start, and the code of most small programs is a few lines.  Kernels of
`native` wait until one is bound, and are compiled with all that wait then, of whatever program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

from byparts_graph_ir import Graph
from byparts_runtime import BuildOptions
from byparts_runtime.building.build import bodies_for
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import find_parts
from byparts_runtime.building.lower import lower
from byparts_runtime.building.signature import signature_of


def wait(graphs: Iterable[Graph], backends: tuple[str, ...] = ("native", "numpy")) -> None:
    """Let the kernels of programs wait: the first that is bound afterwards compiles all of them.

    A program that cannot be built says so when its test builds it, as one whose code the compiler
    refuses does.
    """
    options = BuildOptions(backends=backends)
    for graph in graphs:
        with suppress(Exception):  # raised again where the test builds it
            parts = find_parts(options)
            seen, roles = signature_of(graph, (), (), parts.spaces)
            compile_kernels(lower(seen, roles, parts), parts, bodies_for(parts, options))


def wait_for_cases(request: pytest.FixtureRequest, **tests: Callable[..., Graph]) -> None:
    """`wait` for the cases of a file that this run has chosen: those whose `backend` is native.

    A test without a parameter `backend` builds all its cases for native alone.

    Args:
        request: of a fixture of the module.
        tests: by name of a test, the graph of a case: called with the case's parameters by name.
    """
    graphs = list(_graphs(request, tests))
    for backends in {chosen for chosen, _ in graphs}:
        wait([graph for chosen, graph in graphs if chosen == backends], backends)


def _graphs(
    request: pytest.FixtureRequest, tests: dict[str, Callable[..., Graph]]
) -> Iterable[tuple[tuple[str, ...], Graph]]:
    """(backends, graph) of each case."""
    for item in request.session.items:
        if item.path == request.path and isinstance(item, pytest.Function):
            parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
            if item.originalname in tests and parameters.get("backend", "native") == "native":
                case = {name: value for name, value in parameters.items() if name != "backend"}
                backends = ("native", "numpy") if "backend" in parameters else ("native",)
                yield backends, tests[item.originalname](**case)
