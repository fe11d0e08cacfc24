"""The hub: finds parts, survives bad ones, names whom to blame.  Parts are made on the spot."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from made_parts import API, BACKENDS, GOOD, GROUP, OPS, Install, install as install
from processes import forked, needs_fork

from byparts_graph_ir import fork
from byparts_graph_ir.parts import hooks
from byparts_graph_ir.parts.hooks import Backend, Pass
from byparts_graph_ir.parts.hub import Part, PartError, Parts, resolve
from byparts_graph_ir.parts.listing import table


def only(parts: Parts) -> Part:
    (part,) = parts.all()
    return part


BROKEN = {
    "importerror": ("import not_installed_lib", "broken", "No module named 'not_installed_lib'"),
    "sysexit": ("import sys; sys.exit('wrong platform')", "broken", "SystemExit: wrong platform"),
    "oldapi": ("BYPARTS_API = (0, 9)", "incompatible", "API 0.9, .* pip install -U made-oldapi"),
    "newapi": (
        "BYPARTS_API = (1, 7)",
        "incompatible",
        "made for plugin API 1.7, this IR has 1.4: ",
    ),
    "noapi": ("x = 1", "broken", r"does not define BYPARTS_API; write BYPARTS_API = \(1, 0\)"),
    "textapi": ("BYPARTS_API = '1.0'", "broken", r"API = '1.0'; write BYPARTS_API = \(1, 0\)"),
    "shortapi": ("BYPARTS_API = (1,)", "broken", r"API = \(1,\); write BYPARTS_API = \(1, 0\)"),
    "numberapi": ("BYPARTS_API = 1", "broken", r"API = 1; write BYPARTS_API = \(1, 0\)"),
    "mixedapi": ("BYPARTS_API = (1, '0')", "broken", r"\(1, '0'\); write BYPARTS_API = \(1, 0\)"),
    "listapi": ("BYPARTS_API = [1, 0]", "broken", r"API = \[1, 0\]; write BYPARTS_API = \(1, 0\)"),
    "longapi": ("BYPARTS_API = (1, 0, 0)", "broken", r"\(1, 0, 0\); write BYPARTS_API = \(1, 0\)"),
    "stop": ("class Stop(BaseException): pass\nraise Stop('here')", "broken", "Stop: here"),
    "iterating": (
        API + "@hookimpl\ndef byparts_backends():\n    yield Backend('x', 'y')\n    exit(3)",
        "broken",
        "SystemExit: 3",
    ),
    "name": (BACKENDS.format(3, "x:y"), "broken", "record 3: a name is a text"),
    "auto": (BACKENDS.format("auto", "x:y"), "broken", "neither '' nor 'auto'"),
    "listneeds": (
        API + "@hookimpl\ndef byparts_backends(): return [Backend('x', 'y:z', needs=[1])]",
        "broken",
        r"needs=\[1\] is no tuple of texts",
    ),
    "priority": (
        API + "@hookimpl\ndef byparts_backends(): return [Backend('x', 'y:z', priority='9')]",
        "broken",
        "priority='9' is no integer",
    ),
    "badrecord": (
        API + "@hookimpl\ndef byparts_backends(): return ['numpy']",
        "broken",
        r"must give hooks.Backend records, not 'numpy'",
    ),
    "wrongkind": (
        API + "@hookimpl\ndef byparts_backends(): return [Pass('x', 'y:z')]",
        "broken",
        r"must give hooks.Backend records, not Pass",
    ),
    "nothing": (
        API + "@hookimpl\ndef byparts_backends(): pass",
        "broken",
        "must give hooks.Backend records, not None",
    ),
    "raises": (
        API + "@hookimpl\ndef byparts_backends(): raise ValueError('boom')",
        "broken",
        "ValueError: boom",
    ),
    "badarg": (
        API + "@hookimpl\ndef byparts_backends(nonsense): return []",
        "broken",
        "nonsense",
    ),
    "typo": (API + "@hookimpl\ndef byparts_backend(): return []", "broken", "unknown hook"),
    "twice": (
        API + "@hookimpl\ndef byparts_backends(): return [Backend('x', 'y')] * 2",
        "broken",
        "gives 'x' twice",
    ),
    "badload": (BACKENDS.format("x", "y z"), "broken", "load is 'y z', not 'module:object'"),
    "needs": (
        API + "@hookimpl\ndef byparts_backends(): return [Backend('x', 'y:z', needs='numpy')]",
        "broken",
        r"no tuple; write \('numpy',\)",
    ),
}


def test_a_part_made_before_there_were_commands_is_used(install: Install) -> None:
    """API 1.0 asks for nothing that 1.4 lacks."""
    install("good", GOOD)

    assert only(Parts(GROUP)).state == "ok" and hooks.API == (1, 4)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_part_is_reported_with_its_cause(install: Install, name: str) -> None:
    source, state, why = BROKEN[name]
    install(name, source)

    part = only(Parts(GROUP))

    assert (part.name, part.distribution, part.version) == (name, f"made-{name}", "9.9")
    assert part.state == state
    with pytest.raises(PartError, match=why):
        raise PartError(part.why)


def test_broken_parts_do_not_hurt_a_good_one(install: Install) -> None:
    for name, (source, _, _) in BROKEN.items():
        install(name, source)
    install("good", GOOD)
    parts = Parts(GROUP)

    assert parts.names("backends") == ("good",)
    assert sum(part.state != "ok" for part in parts.all()) == len(BROKEN)
    assert all(len(line) < 400 for line in table(parts.all()).splitlines())


def test_a_broken_part_keeps_its_traceback(install: Install) -> None:
    install("raises", BROKEN["raises"][0])

    assert "in byparts_backends" in only(Parts(GROUP)).detail


def test_parts_come_in_name_order(install: Install) -> None:
    for name in ("b", "c", "a"):
        install(name, BACKENDS.format(name, "json:dumps"))

    assert [part.name for part in Parts(GROUP).all()] == ["a", "b", "c"]


def test_duplicate_is_an_error_when_used_and_names_both(install: Install) -> None:
    install("one", BACKENDS.format("numpy", "json:dumps"))
    install("two", BACKENDS.format("numpy", "nowhere:make"))
    install("three", GOOD)
    parts = Parts(GROUP)

    said = "backend 'numpy' is provided by made-one and made-two; set BYPARTS_DISABLE to one or two"
    assert {part.name: part.why for part in parts.all()} == {"one": said, "three": "", "two": said}
    assert [part.state for part in parts.all()] == ["conflict", "ok", "conflict"]
    with pytest.raises(PartError, match="made-one and made-two; set BYPARTS_DISABLE to one or two"):
        parts.get("backends", "numpy")


def test_duplicate_entry_point_names_are_told_apart_by_distribution(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("one", BACKENDS.format("numpy", "json:dumps"), entry="kernels")
    install("two", BACKENDS.format("numpy", "json:loads"), entry="kernels")

    with pytest.raises(PartError, match="set BYPARTS_DISABLE to made-one or made-two"):
        Parts(GROUP).get("backends", "numpy")
    monkeypatch.setenv("BYPARTS_DISABLE", "made-two")
    assert Parts(GROUP).get("backends", "numpy").__name__ == "dumps"


def test_disable_and_only(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("a", BACKENDS.format("a", "json:dumps"))
    install("b", "raise RuntimeError('never imported')")

    monkeypatch.setenv("BYPARTS_DISABLE", "b, c")
    assert [part.why for part in Parts(GROUP).all()] == ["", "by BYPARTS_DISABLE"]
    monkeypatch.setenv("BYPARTS_DISABLE", "")
    monkeypatch.setenv("BYPARTS_ONLY", "a")
    assert [part.why for part in Parts(GROUP).all()] == ["", "not in BYPARTS_ONLY"]


def test_unknown_name_says_what_there_is_and_what_is_broken(install: Install) -> None:
    install("good", GOOD)
    install("bad", "import not_installed_lib")

    with pytest.raises(PartError, match=r"(?s)'goood'; installed: good; did you mean.*bad .*lib"):
        Parts(GROUP).get("backends", "goood")
    with pytest.raises(PartError, match="no kind of part 'kernel'; kinds: ops, passes"):
        Parts(GROUP).get("kernel", "x")


def test_a_missing_need_is_named_before_anything_is_imported(install: Install) -> None:
    record = "Backend('x', 'made_lazy_absent:make', needs=('not_installed_lib',))"
    install("lazy", API + f"@hookimpl\ndef byparts_backends(): return [{record}]")
    parts = Parts(GROUP)

    assert "backends: x*" in table(parts.all())
    with pytest.raises(PartError, match="of made-lazy needs not_installed_lib: pip install"):
        parts.backend("x")


def test_what_cannot_be_loaded_is_blamed_on_its_distribution(install: Install) -> None:
    install("gone", BACKENDS.format("x", "nowhere:make"))

    with pytest.raises(PartError, match="of made-gone cannot be loaded from nowhere:make: Module"):
        Parts(GROUP).get("backends", "x")


def test_a_module_alone_resolves_to_the_module() -> None:
    import json.decoder

    assert Pass("x", "json.decoder").resolve() is json.decoder
    assert Pass("x", "json:JSONDecoder.decode").resolve() is json.JSONDecoder.decode


def test_auto_takes_the_highest_priority_that_starts(install: Install) -> None:
    install(
        "three",
        API
        + "@hookimpl\ndef byparts_backends():\n"
        + "    return [Backend('slow', 'made_three:slow'),"
        + " Backend('gpu', 'made_three:gpu', priority=100),"
        + " Backend('fast', 'made_three:fast', priority=10)]\n"
        + "import byparts_graph_ir as ir\n"
        + "def gpu(): raise RuntimeError('no driver')\n"
        + "def fast(): return ir.Backend('fast', None)\n"
        + "def slow(): return ir.Backend('slow', None)\n",
    )
    parts = Parts(GROUP)

    assert parts.backend().name == "fast"
    assert parts.backend() is parts.backend("fast")
    with pytest.raises(PartError, match="'gpu' of made-three does not start: RuntimeError: no dr"):
        parts.backend("gpu")


def test_a_backend_that_is_forgotten_starts_anew(install: Install) -> None:
    install(
        "one",
        BACKENDS.format("x", "made_one:make")
        + "import byparts_graph_ir as ir\n"
        + "def make(): return ir.Backend('x', None)\n",
    )
    parts = Parts(GROUP)
    first = parts.backend("x")
    assert parts.backend("x") is first

    parts.forget("x")
    parts.forget("never started")

    assert parts.backend("x") is not first


def test_backends_are_those_that_start_in_one_space_best_first(install: Install) -> None:
    """One of another space or of negative priority is not started; why one does not start is said."""
    names = "[('slow', 0), ('gpu', 100), ('hidden', -1), ('fast', 10)]"
    install(
        "many",
        API
        + "@hookimpl\ndef byparts_backends():\n"
        + "    rest = [Backend('far', 'nowhere:make', priority=5, space='npu:0')]\n"
        + f"    return rest + [Backend(n, 'made_many:' + n, priority=p) for n, p in {names}]\n"
        + "import byparts_graph_ir as ir\n"
        + "def gpu(): raise RuntimeError('no driver')\n"
        + "def fast(): return ir.Backend('fast', None)\n"
        + "def slow(): return ir.Backend('slow', None)\n"
        + "hidden = None\n",
    )
    backends, skipped = Parts(GROUP).backends()

    assert [b.name for b in backends] == ["fast", "slow"]
    assert [why.rpartition(": ")[2] for why in skipped] == ["no driver"]


def test_auto_with_nothing_that_starts_gives_every_reason(install: Install) -> None:
    with pytest.raises(PartError, match=r"none is installed: pip install \S+kernels-numpy"):
        Parts(GROUP).backend()
    install("gone", BACKENDS.format("x", "nowhere:make"))
    with pytest.raises(PartError, match=r"(?s)no backend starts:.*cannot be loaded from nowhere"):
        Parts(GROUP).backend()
    with pytest.raises(PartError, match=r"(?s)no backend starts:.*cannot be loaded from nowhere"):
        Parts(GROUP).backends()


def test_auto_warns_of_a_backend_that_two_parts_offer(install: Install) -> None:
    """It goes on to the next, as where a device is absent, and not without a word."""
    offer = "[Backend('gpu', 'made_{0}:make', priority=9), Backend('only_{0}', 'made_{0}:make')]"
    make = "import byparts_graph_ir as ir\ndef make(): return ir.Backend('made', None)\n"
    for name in ("one", "two"):
        source = API + f"@hookimpl\ndef byparts_backends(): return {offer.format(name)}\n"
        install(name, source + make)

    with pytest.warns(RuntimeWarning, match="going on without it: backend 'gpu' is provided by"):
        assert Parts(GROUP).backend().name == "made"


@pytest.mark.parametrize("returned", ["None", "'numpy'", "object"])
def test_a_function_that_makes_no_backend_is_told_what_to_return(
    install: Install, returned: str
) -> None:
    source = BACKENDS.format("x", "made_bad:make")
    install("bad", source + f"def make(): return {returned}")

    said = "of made-bad: made_bad:make returns .*; end it with return byparts_graph_ir.Backend"
    with pytest.raises(PartError, match=said):
        Parts(GROUP).backend("x")


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("passes", "Pass"),
        ("planners", "Planner"),
        ("commands", "Command"),
        ("pictures", "Picture"),
        ("frontends", "Frontend"),
    ],
)
def test_what_must_be_a_function_is_one(install: Install, kind: str, record: str) -> None:
    hook = f"@hookimpl\ndef byparts_{kind}(): return [{record}('x', 'made_bad:NOTHING')]\n"
    install("bad", API + hook + "NOTHING = None\n")

    with pytest.raises(PartError, match="of made-bad: made_bad:NOTHING is None; name a function"):
        Parts(GROUP).get(kind, "x")


def test_several_parts_add_names_to_one_front_end(install: Install, tmp_path: Path) -> None:
    """No conflict, unlike two backends of one name; each table is a file beside the module."""
    for part in ("a", "b"):
        names = f"[Names('x', 'made_{part}:{part}.tsv')]"
        install(part, API + f"@hookimpl\ndef byparts_names(): return {names}\n")
        (tmp_path / f"{part}.tsv").write_text(f"space.{part}\tmade_{part}.things:thing\n")

    hub = Parts(GROUP)
    tables = [resolve("names", part, record) for part, record in hub.records("names")]
    assert tables == [{f"space.{p}": f"made_{p}.things:thing"} for p in ("a", "b")]
    assert [part.state for part in hub.all()] == ["ok", "ok"]


KERNELS = """
from byparts_graph_ir import Backend as Made, Op, Table
class Twice(Op): ...
def make(): return Made("npu", None, Table("kernel"))
@hookimpl
def byparts_backends(): return [Backend("npu", "made_own:make")]
"""
FOR_ANOTHER = """
@hookimpl
def byparts_kernels():
    return [Kernels("npu", "made_rules", ops=("made_own",)), Kernels("far", "gone", needs=("gone",))]
"""


def test_a_part_adds_kernels_to_the_backend_of_another(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are imported when the backend is asked for such an op, and not before."""
    install("own", API + KERNELS)
    install("more", API + FOR_ANOTHER)
    rules = "import made_own\ndef rule(): ...\nmade_own.table.on(made_own.Twice)(rule)\n"
    (tmp_path / "made_rules.py").write_text(rules)
    monkeypatch.delitem(sys.modules, "made_rules", raising=False)
    hub = Parts(GROUP)

    backend = hub.backend("npu")
    made: Any = import_module("made_own")
    made.table = backend.kernels

    assert "made_rules" not in sys.modules
    assert backend.kernels[made.Twice].__module__ == "made_rules"
    assert [part.state for part in hub.all()] == ["ok", "ok"]


def test_ops_of_all_op_sets_are_merged(install: Install) -> None:
    install("a", OPS.format("{'add': op('add')}", "a", "a"))
    install("b", OPS.format("{'mul': op('mul')}", "b", "b"))

    assert sorted(Parts(GROUP).ops()) == ["add", "mul"]


def test_asking_for_the_parts_while_being_loaded_is_refused(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts(GROUP)
    monkeypatch.setattr("byparts_graph_ir.parts.hub.parts", parts)
    install("asks", "from byparts_graph_ir.parts.hub import parts\nparts.backend()")
    install("good", GOOD)

    asks, good = parts.all()

    assert "asks for the parts while it is being loaded" in asks.why
    assert good.state == "ok"


@needs_fork
def test_a_child_forked_while_another_thread_loads_the_parts_has_them(install: Install) -> None:
    """Neither the lock nor the import of a part is left to a thread that is not there."""
    install("slow", "import time\ntime.sleep(0.3)\n" + GOOD)
    parts = Parts(GROUP)
    thread = threading.Thread(target=parts.all)
    thread.start()
    while "made_slow" not in sys.modules:
        time.sleep(0.001)
    answers = forked(lambda: parts.all()[0].state)
    thread.join()

    assert answers == ["ok"]


def test_n8_threads_load_each_part_once(install: Install) -> None:
    install("slow", "import time\ntime.sleep(0.05)\n" + GOOD)
    parts = Parts(GROUP)
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(parts.all())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 8
    assert all(found is seen[0] for found in seen)


def test_records_are_frozen_and_compare() -> None:
    assert Backend("numpy", "nowhere:make") == Backend("numpy", "nowhere:make", priority=0)
    with pytest.raises(AttributeError, match="cannot assign"):
        Backend("numpy", "nowhere:make").name = "x"  # type: ignore[misc]


def test_listing_the_installed_parts_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom byparts_graph_ir.parts.hub import parts\nfrom byparts_graph_ir.parts.listing import table\ntable(parts.all())\n"
        "print({'numpy', 'torch', 'tensorflow', 'jax', 'pytest'} & set(sys.modules) or 'light')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "light"


def test_a_plugin_runs_without_its_package(install: Install, tmp_path: Path) -> None:
    package = tmp_path / "made_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the heavy part')")
    (package / "plugin.py").write_text(GOOD)
    install("package", "")
    entry = f"[{GROUP}]\npackage = made_package.plugin\n"
    (tmp_path / "made_package-9.9.dist-info" / "entry_points.txt").write_text(entry)

    assert Parts(GROUP).names("backends") == ("good",)
    assert "made_package.plugin" not in sys.modules


def test_importing_the_ir_loads_neither_hub_nor_pluggy() -> None:
    code = (
        "import sys, byparts_graph_ir\n"
        "print({'pluggy', 'numpy', 'byparts_graph_ir.parts.hub'} & set(sys.modules) or 'light')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "light"


STARTING = """
def make():
    from byparts_graph_ir import Backend, fork
    assert fork._work
    return Backend("slow", print)
"""


def test_a_fork_waits_for_a_backend_that_starts(install: Install) -> None:
    """It may import torch, and a child would wait for the rest of that import for ever."""
    install("slow", BACKENDS.format("slow", "made_slow:make") + STARTING)

    assert Parts(GROUP).backend("slow").name == "slow" and not fork._work
