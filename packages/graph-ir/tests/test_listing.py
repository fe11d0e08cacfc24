"""`byparts parts`: what is wrong with a part is one line, with its cause and what to write."""

from __future__ import annotations

import json

import pytest
from made_parts import API, BACKENDS, GROUP, OPS, Install, install as install

from byparts_graph_ir.parts.discover import Part
from byparts_graph_ir.parts.hub import Parts
from byparts_graph_ir.parts.listing import as_json, inspected, table

MAKE = BACKENDS.format("x", "made_bad:make")
RETURN = "end it with return byparts_graph_ir.Backend('x', view, kernels)"


def listed(*, load: bool = False) -> dict[str, Part]:
    return {part.name: part for part in inspected(Parts(GROUP), load=load)}


@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "import json; json.dumps(1)",
        "def view(): return 1",
        "return None",
        "if API:\n        return",
    ],
)
def test_a_make_that_returns_none_is_broken(install: Install, body: str, load: bool) -> None:
    """Also where it is not called: then its text is read."""
    install("bad", MAKE + f"def make():\n    {body}\n")

    part = listed(load=load)["bad"]
    assert (part.state, RETURN in part.why) == ("broken", True)
    assert "made_bad:make returns None; " in table([part])


@pytest.mark.parametrize(
    "body", ["raise RuntimeError('no driver')", "return Backend('x', 'y')", "return made()"]
)
def test_other_functions_are_not_blamed_for_their_text(install: Install, body: str) -> None:
    install("bad", MAKE + f"def make():\n    {body}\n")

    assert listed()["bad"].state == "ok"


def test_what_a_make_returns_is_looked_at_when_it_is_loaded(install: Install) -> None:
    install("bad", MAKE + "def make(): return made()\ndef made(): return 'numpy'\n")

    assert listed()["bad"].state == "ok"
    assert "made_bad:make returns 'numpy'; end it with" in listed(load=True)["bad"].why


def test_a_backend_that_does_not_start_here_is_no_fault(install: Install) -> None:
    install("bad", MAKE + "def make(): raise RuntimeError('no driver')\n")

    part = listed(load=True)["bad"]
    assert part.state == "ok"
    (note,) = part.notes
    assert note.startswith("has a backend that does not start here: backend 'x' of made-bad")
    assert note.endswith("RuntimeError: no driver")


def test_a_mistake_in_make_is_a_fault(install: Install) -> None:
    install("bad", MAKE + "def make(): return nonsense\n")

    assert listed(load=True)["bad"].state == "broken"


def test_a_record_that_names_no_module_is_broken(install: Install) -> None:
    install("bad", BACKENDS.format("x", "nowhere.at.all:make"))

    part = listed()["bad"]
    assert part.state == "broken"
    assert part.why == "nowhere.at.all:make: there is no module 'nowhere'"


def test_a_record_that_names_nothing_in_its_module_is_found_when_loaded(install: Install) -> None:
    install("bad", BACKENDS.format("x", "json.decoder:nothing"))

    assert "AttributeError" in listed(load=True)["bad"].why


def test_parts_in_conflict_are_told_once(install: Install) -> None:
    for name in ("one", "two"):
        install(name, BACKENDS.format("x", "json:dumps"))

    rows = table(inspected(Parts(GROUP))).splitlines()
    assert [row.split()[2] for row in rows[1:3]] == ["conflict"] * 2
    assert rows[3:] == [
        "backend 'x' is provided by made-one and made-two; set BYPARTS_DISABLE to one or two"
    ]


@pytest.mark.parametrize("kind", ["passes", "planners", "frontends", "commands"])
def test_every_kind_of_name_can_clash(install: Install, kind: str) -> None:
    record = {"passes": "Pass", "commands": "Command"}.get(kind, kind[:-1].capitalize())
    for name in ("one", "two"):
        install(name, API + f"@hookimpl\ndef byparts_{kind}(): return [{record}('x', 'json')]\n")

    word = record.lower()
    assert {f"{word} 'x' is provided by made-one and made-two" in p.why for p in listed().values()}
    assert {part.state for part in listed().values()} == {"conflict"}


def test_ops_that_clash_are_told_together(install: Install) -> None:
    names = ["neg", "add", "mul", "tanh", "exp"]
    source = f"{{name: op(name) for name in {names}}}"
    install("one", OPS.format(source, "one", "one"))
    install("two", OPS.format(source, "two", "two"))
    install("three", OPS.format("{'sin': op('sin')}", "three", "three"))

    found = listed()
    said = "ops 'neg', 'add', 'mul' and 2 more is provided by made-one and made-two; set"
    assert (found["one"].state, found["three"].state) == ("conflict", "ok")
    assert found["one"].why.startswith(said) and found["one"].why == found["two"].why


def test_rows_stay_within_the_terminal(install: Install) -> None:
    records = ", ".join(f"Pass('pass-{i}', 'json')" for i in range(20))
    install("many", API + f"@hookimpl\ndef byparts_passes(): return [{records}]\n")
    install("bad", "raise RuntimeError('" + "long " * 50 + "')")

    text = table(inspected(Parts(GROUP)), 72)
    assert max(map(len, text.splitlines())) <= 72
    assert len(text.splitlines()) > 6
    assert "pass-19" in text


def test_it_is_json_too(install: Install) -> None:
    install("good", BACKENDS.format("x", "json:dumps"))
    install("bad", "import not_installed_lib")

    bad, good = json.loads(json.dumps(as_json(inspected(Parts(GROUP)))))["parts"]
    assert (bad["state"], bad["usable"], bad["provides"]) == ("broken", False, {})
    (backend,) = good["provides"]["backends"]
    assert (backend["name"], backend["load"], backend["missing"]) == ("x", "json:dumps", [])
