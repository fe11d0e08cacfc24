"""Text for devices: what falls away, what stays, and that it still means the same."""

from __future__ import annotations

import ast

import pytest

from minify.pack import pack
from minify.shorten import shorten
from minify.strip import drop_unused_imports, strip, unparse


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

    assert stripped(text) == "def f(x,*y,z=1):\n a=x\n return a"


def test_fields_stay() -> None:
    text = "class C:\n    a: int\n    b: int = 1\n    name: ClassVar[str] = 'c'\n"

    assert stripped(text) == "class C:\n a:int\n b:int=1\n name='c'"


def test_methods_of_a_class_are_no_fields() -> None:
    text = "class C:\n    def f(self):\n        a: int = 1\n        return a\n    b: int\n"

    assert stripped(text) == "class C:\n def f(self):\n  a=1\n  return a\n b:int"


def test_blocks_for_type_checkers_fall_away() -> None:
    text = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import a\nelse:\n    b = 1\nc = 2"

    assert stripped(text) == "b=1\nc=2"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 if y else -2 - - 3\nz = 0 or 1 .real",
        "def f():\n    return f'{x} = {y}', 'a  b', b'c'\nx = f() is not None in (y, )",
        "def f():\n    a = '''\n\n  b = 1\n'''\n\n    return a",
    ],
)
def test_blanks_fall_away_where_they_mean_nothing(text: str) -> None:
    assert len(stripped(text)) < len(text)
    assert ast.dump(ast.parse(stripped(text))) == ast.dump(ast.parse(text))


def test_checks_of_arguments_fall_away_with_their_annotations() -> None:
    """Of the two ways to ask for them, none is left."""
    text = "@checked\ndef f(x: int): pass\nlazy_names(__name__, checked=True, a='b')"

    assert stripped(text) == "def f(x):\n pass\nlazy_names(__name__,a='b')"


def test_checks_of_the_bodies_of_classes_fall_away() -> None:
    """The functions, and the calls of them."""
    text = "def _check_defaults(cls):\n    a\n\ndef f(cls):\n    _check_defaults(cls)\n    g(cls)\n"

    assert stripped(text) == "def f(cls):\n g(cls)"


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
    assert unparse(modules["b"]) == "f=1\n"


def test_imports_for_their_effect_stay() -> None:
    modules = {"a": strip("import b\nimport c\n")}
    drop_unused_imports(modules, frozenset({"a:1"}))

    assert unparse(modules["a"]) == "import b\n"


def shortened(*texts: str) -> list[str]:
    modules = {str(i): strip(text) for i, text in enumerate(texts)}
    shorten(modules)
    return [unparse(tree).strip() for tree in modules.values()]


def test_local_names_are_short_and_parameters_stay() -> None:
    """Those of private functions are short too, where nobody says them."""
    public = "def f(size, *rest):\n    total = size\n    return [total for one in rest]"
    private = "def _f(size, rest):\n    total = size\n    return total + rest"

    assert shortened(public) == ["def f(size,*rest):\n a=size\n return[a for b in rest]"]
    assert shortened(private) == ["def _f(b,c):\n a=b\n return a+c"]
    assert shortened(private, "_f(1, rest=2)")[0] == "def _f(b,rest):\n a=b\n return a+rest"


@pytest.mark.parametrize(
    "text",
    [
        "a = 5\ndef f(first):\n    second = first + a\n    return second",
        "def f(first):\n    count = first\n    def step():\n        nonlocal count\n"
        "        count += 1\n        return count\n    return step()",
        "def f(first):\n    import math as total\n    total = total.floor(first)\n    return total",
        "def f(first):\n    try:\n        return first // 0\n    except ZeroDivisionError as e:\n"
        "        return str(e)",
        "def f(first):\n    kept = 1\n    class One:\n        kept = 2\n    return One.kept, kept",
        "def f(first):\n    second = first\n    return sorted(locals())",
        "def f(first):\n    match [first, 2]:\n        case [one, *others]:\n"
        "            return one, others",
        "def g(len_):\n    global made\n    made = len_\n    return made\n"
        "def f(first):\n    return g(first), made",
        "def f(first):\n    made = lambda value, more=first: (value, more)\n    return made(1)",
    ],
)
def test_short_names_mean_the_same(text: str) -> None:
    results = []
    for made in (text, *shortened(text)):
        scope: dict[str, object] = {}
        exec(made, scope)
        results.append(scope["f"](7))  # type: ignore[operator]

    assert results[0] == results[1]


def test_a_packed_module_is_the_module() -> None:
    """Names land in its namespace, classes keep theirs, functions see what is assigned later."""
    later = "for y in (1, 2): pass\n"
    made = run(f"import math as m\nclass C:\n    x: int = 1\ndef f(): return C.x + y\n{later}")

    assert made["f"]() == 3  # type: ignore[operator]
    kind = made["C"]
    assert (vars(kind)["__module__"], getattr(kind, "__qualname__")) == ("one", "C")  # noqa: B009
    assert {"m", "C", "f", "y"} <= made.keys()
