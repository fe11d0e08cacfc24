"""What a device does not do is left out of its wheels, and nobody offers it there."""

from __future__ import annotations

import ast

from minify.lean import lean

PLAN = (
    "from byparts_memplan.share import Sharing\ndef f():\n    from byparts_memplan.svg import svg"
)
INIT = "__all__ = lazy_names(__name__, plan='plan', svg='svg', order='order peak_bytes')"
PLUGIN = """
def byparts_passes():
    return [Pass("order", "byparts_memplan:order")]
def byparts_planners():
    return [Planner("greedy", "byparts_memplan:plan"), Planner("x", "byparts_memplan:peak_bytes")]
def byparts_commands():
    return [Command("plan", "byparts_memplan.svg:command")]
"""
TEXTS = {
    "__init__": INIT,
    "plugin": PLUGIN,
    "plan": PLAN,
    "share": "",
    "place": "",
    "json_format": "",
    "conflict": "",
    "svg": "",
    "order": "",
}


def left() -> dict[str, str]:
    trees = {f"byparts_memplan.{name}": ast.parse(text) for name, text in TEXTS.items()}
    return {name.partition(".")[2]: ast.unparse(tree) for name, tree in lean(trees).items()}


def test_what_the_roots_import_at_their_top_stays() -> None:
    assert set(left()) == set(TEXTS) - {"svg", "order"}


def test_names_of_what_is_gone_are_kept_to_say_so() -> None:
    kept, _, gone = left()["__init__"].partition(", left_out=")

    assert kept == "__all__ = lazy_names(__name__, plan='plan'"
    assert gone == "{'svg': 'svg', 'order': 'order peak_bytes'})"


def test_so_are_records() -> None:
    plugin = left()["plugin"]

    assert "Planner('greedy', 'byparts_memplan:plan')" in plugin
    declared, _, gone = plugin.partition("\nLEFT_OUT = ")
    assert not any(word in declared for word in ("order", "peak_bytes", "Command"))
    assert gone == "{'passes': ('order',), 'planners': ('x',), 'commands': ('plan',)}"


def test_other_parts_stay_whole() -> None:
    tree = ast.parse("x = 1")

    assert lean({"byparts_runtime.run.step": tree}) == {"byparts_runtime.run.step": tree}


def test_names_in_folders_are_left_out_too() -> None:
    """A module in a folder is named as `**{"folder.module": "names"}`."""
    init = (
        '__all__ = lazy_names(__name__, **{"inspect.explain": "explain", "run.program": "build"})'
    )
    trees = {
        "byparts_runtime.__init__": ast.parse(init),
        "byparts_runtime.inspect.explain": ast.parse(""),
        "byparts_runtime.run.program": ast.parse(""),
    }
    left_in = lean(trees)

    assert left_in.keys() == trees.keys() - {"byparts_runtime.inspect.explain"}
    assert ast.unparse(left_in["byparts_runtime.__init__"]) == (
        "__all__ = lazy_names(__name__, **{'run.program': 'build'}, "
        "left_out={'inspect.explain': 'explain'})"
    )
