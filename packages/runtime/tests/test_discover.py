"""What `"auto"` and names mean, with parts of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from toy_backend import TOY

import byparts_graph_ir.parts.hub
from byparts_graph_ir import GraphError
from byparts_graph_ir.parts.hub import PartError
from byparts_runtime.building.discover import (
    find_backends,
    find_pass,
    find_passes,
    find_planner,
)
from byparts_runtime.memory.plan import separate


class FakeParts:
    """The hub's three questions, answered from a dictionary; `None` stands for a broken part."""

    def __init__(self, **objects: dict[str, Any]) -> None:
        self.objects = objects

    def names(self, kind: str) -> tuple[str, ...]:
        return tuple(self.objects.get(kind, {}))

    def get(self, kind: str, name: str) -> Any:
        found = self.objects.get(kind, {}).get(name)
        if found is None:
            raise PartError(f"no {kind} {name!r}")
        return found

    def backend(self, name: str) -> Any:
        return self.get("backends", name)


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def replace(**objects: dict[str, Any]) -> None:
        monkeypatch.setattr(byparts_graph_ir.parts.hub, "parts", FakeParts(**objects))

    return replace


def test_auto_takes_the_passes_that_are_there(install: Install) -> None:
    """And no pass that we do not know."""
    install(passes={"merge": len, "zap": len, "optimize": len})

    assert [p.name for p in find_passes("auto")] == ["optimize"]


def test_auto_is_content_with_nothing(install: Install) -> None:
    """Every part but the kernels may be absent."""
    install()

    assert find_passes("auto") == ()
    assert find_pass("legalize", "auto") is None
    assert find_planner("auto") is separate


def test_auto_prefers_the_greedy_planner(install: Install) -> None:
    """Else any other."""
    install(planners={"best": min, "greedy": max})
    assert find_planner("auto") is max
    install(planners={"best": min})
    assert find_planner("auto") is min


def test_auto_goes_on_without_a_broken_part(install: Install) -> None:
    """And says so: a warning with the cause."""
    install(passes={"optimize": None, "merge": len}, planners={"greedy": None})

    with pytest.warns(RuntimeWarning, match="going on without it: no passes 'optimize'"):
        assert find_passes("auto") == ()
    with pytest.warns(RuntimeWarning, match="going on without it: no planners 'greedy'"):
        assert find_planner("auto") is separate


def test_what_is_named_must_be_there(install: Install) -> None:
    """No silent second best."""
    install()

    with pytest.raises(PartError, match="no passes 'fold'"):
        find_passes(("fold",))
    with pytest.raises(PartError, match="no planners 'best'"):
        find_planner("best")
    with pytest.raises(PartError, match="no backends 'npu'"):
        find_backends(("npu",))


def test_names_and_objects_mix(install: Install) -> None:
    """In the order given."""
    install(backends={"toy2": TOY}, passes={"fold": len})

    assert find_backends(("toy2", TOY)) == (TOY, TOY)
    assert [p.name for p in find_passes((max, "fold"))] == ["max", "fold"]
    with pytest.raises(GraphError, match="backends='toy2': give a tuple"):
        find_backends("toy2")
