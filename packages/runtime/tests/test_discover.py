"""What `"auto"` and names mean, with parts of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from toy_backend import TOY, Add, f32, given

import byparts_graph_ir.parts.hub
from byparts_graph_ir import Backend, BackendError, Graph, GraphError, Kernel, Node, Table
from byparts_graph_ir.parts.hub import PartError
from byparts_runtime import Executor, build
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

    def backends(self) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        working = {name: b for name, b in self.objects["backends"].items() if b is not None}
        failed = [f"{name} does not start" for name in self.objects["backends"].keys() - working]
        return tuple(working.values()), tuple(failed)


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
    with pytest.raises(GraphError, match="backends='toy2': give \"auto\", or a tuple"):
        find_backends("toy2")


def test_auto_is_all_backends_that_start(install: Install) -> None:
    """Alone, and among others; a program says why one is missing."""
    install(backends={"npu": None, "toy2": TOY})

    assert find_backends("auto") == find_backends(("auto",)) == (TOY,)
    assert "without    npu does not start" in build(_doubled(), backends="auto").explain()
    assert (
        "without    npu does not start"
        in Executor(backends="auto").program(_doubled(), (f32(2),)).explain()
    )
    assert "without" not in build(_doubled(), backends=(TOY,)).explain()


@pytest.mark.parametrize("when", ["compile", "bind"])
def test_a_backend_that_fails_is_left_out_with_a_warning(when: str) -> None:
    """When it compiles or when it binds; alone it is the error."""
    bad = _failing(when)

    with pytest.warns(RuntimeWarning, match="going on without it: bad: no space left on device"):
        program = build(_doubled(), backends=(bad, TOY))
    assert [step.backend for step in program.steps] == [TOY.name]
    assert "without    bad: no space left on device" in program.explain()
    with pytest.raises(BackendError, match="bad: no space left on device"):
        build(_doubled(), backends=(bad,))


def _doubled() -> Graph:
    x = given("x", 2)
    return Graph.of([x], Node(Add(), (x, x)).outputs)


def _failing(when: str) -> Backend:
    """A backend that has `add`, and fails at this moment."""
    kernels: Table[Any] = Table("kernel")
    backend = Backend("bad", TOY.view, kernels)

    def fail(*_: object) -> Any:
        raise BackendError("bad: no space left on device", "bad")

    kernels.compiles(Add)(fail if when == "compile" else lambda *_: Kernel(fail))
    return backend
