"""Text for devices: what falls away, what stays, and that it still means the same."""

from __future__ import annotations

import ast

import pytest

from small.pack import pack
from small.strip import drop_unused_imports, strip, unparse


def stripped(text: str) -> str:
    return unparse(strip(text)).strip()


def run(text: str) -> dict[str, object]:
    """A module, by way of a pack."""
    packed: dict[str, object] = {}
    exec(pack({"one": strip(text)}), packed)
    scope: dict[str, object] = {"__name__": "one"}
    exec(packed["one_"].__code__, scope)  # type: ignore[attr-defined]  # a function
    return scope


def test_docs_and_comments_fall_away() -> None:
    assert (
        stripped('"""A."""\n\ndef f():\n    """B."""\n    return 1  # C\n') == "def f():\n return 1"
    )


def test_what_was_only_a_docstring_still_has_a_body() -> None:
    assert stripped('class E(Error):\n    """No."""\n') == "class E(Error):\n pass"


def test_annotations_of_functions_fall_away() -> None:
    text = "def f(x: int, *y: int, z: int = 1) -> int:\n    a: int = x\n    b: int\n    return a"

    assert stripped(text) == "def f(x, *y, z=1):\n a = x\n return a"


def test_fields_stay() -> None:
    text = "class C:\n    a: int\n    b: int = 1\n    name: ClassVar[str] = 'c'\n"

    assert stripped(text) == "class C:\n a: int\n b: int = 1\n name = 'c'"


def test_methods_of_a_class_are_no_fields() -> None:
    text = "class C:\n    def f(self):\n        a: int = 1\n        return a\n    b: int\n"

    assert stripped(text) == "class C:\n\n def f(self):\n  a = 1\n  return a\n b: int"


def test_blocks_for_type_checkers_fall_away() -> None:
    text = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import a\nelse:\n    b = 1\nc = 2"

    assert stripped(text) == "b = 1\nc = 2"


def test_texts_keep_their_blanks() -> None:
    text = 'def f():\n    return f"""\n    {1}\n        indented"""\n'

    assert ast.dump(ast.parse(stripped(text))) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "f'{x}'",
        "f'{{{x!r:>8}}} and {\"a\" + x}'",
        'f\'{", ".join(x)!r:>{w}} {w:{"0"}{w}}\'',
        "f'{f\"{x}b\"}{w}'",
    ],
)
def test_formatted_texts_read_the_same_on_every_python(text: str) -> None:
    """No quotes inside quotes, which before 3.12 is a syntax error."""
    scope = {"x": "12", "w": 9}
    made = stripped(text)

    assert eval(made, scope) == eval(text, scope)
    assert (made[0] == "f") == (text == "f'{x}'")


def test_imports_that_nobody_uses_fall_away_one_after_the_other() -> None:
    """`a` takes `Array` from `b` for an annotation only, so `b` does not need it either."""
    texts = {
        "a": "from b import Array, f\n\ndef g(x: Array): return f(x)",
        "b": "from c import Array\nf = 1",
    }
    modules = {name: strip(text) for name, text in texts.items()}
    drop_unused_imports(modules, frozenset())

    assert unparse(modules["a"]).startswith("from b import f\n")
    assert unparse(modules["b"]) == "f = 1\n"


def test_imports_for_their_effect_stay() -> None:
    modules = {"a": strip("import b\nimport c\n")}
    drop_unused_imports(modules, frozenset({"a:1"}))

    assert unparse(modules["a"]) == "import b\n"


def test_a_packed_module_is_the_module() -> None:
    """Names land in its namespace, classes keep theirs, functions see what is assigned later."""
    later = "for y in (1, 2): pass\n"
    made = run(f"import math as m\nclass C:\n    x: int = 1\ndef f(): return C.x + y\n{later}")

    assert made["f"]() == 3  # type: ignore[operator]
    kind = made["C"]
    assert (vars(kind)["__module__"], getattr(kind, "__qualname__")) == ("one", "C")  # noqa: B009
    assert {"m", "C", "f", "y"} <= made.keys()
