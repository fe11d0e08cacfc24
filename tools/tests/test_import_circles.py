"""No module of a part imports one that imports it, also not in a function or by a string."""

from __future__ import annotations

from pathlib import Path

import pytest

from import_circles import ROOT, circles, imports, imports_by_string, names_by_symbol, sources

PARTS = sorted((ROOT / "packages").iterdir())

# A result can draw or print itself, and what draws it is typed by it: no import runs.
TYPED_BY_EACH_OTHER = {
    (
        "byparts_memplan.pictures.draw",
        "byparts_memplan.pictures.svg",
        "byparts_memplan.placed",
    ),
    ("byparts_memplan.pictures.peak", "byparts_memplan.plan", "byparts_memplan.report"),
}

# (module, argument of `import_module`) -> who says the name.
BY_STRING = {
    ("byparts_conformance.fuzz.command", "module"): "the command line",
    ("byparts_frontend_tf.api.python.inspecting", "self.__name__"): "the program",
    ("byparts_frontend_tf.assembly", "info.name"): "the folder api/, below it",
    ("byparts_frontend_tf.assembly", "module"): "kinds.tsv of other parts",
    ("byparts_frontend_tf.symbols", "PACKAGE"): "itself: `import tensorflow` gives the package",
    ("byparts_frontend_tf.symbols", "f'{PACKAGE}.{name}'"): "the program: a namespace",
    ("byparts_frontend_tf.symbols", "f'{module.__name__}.{name}'"): "the program: a namespace",
    ("byparts_frontend_tf.symbols", "module_name"): "names.tsv, for a name in a program",
    ("byparts_frontend_tf.written_names", "info.name"): "the tool that writes names.tsv",
    ("byparts_frontend_tf.written_names", "package"): "the tool that writes names.tsv",
    ("byparts_graph_ir.backend.table", "module"): "who registered the rule that is asked for",
    ("byparts_graph_ir.lazy_names", "module"): "a package of its own public names, counted above",
    ("byparts_graph_ir.parts.entry_points", "module"): "other distributions",
    ("byparts_graph_ir.parts.hooks", "module"): "other distributions",
    ("byparts_graph_ir.parts.hooks", "package"): "other distributions",
    ("byparts_tf_files.protobuf_modules", "f'{_PLACE}.text_format'"): "an installed protobuf",
    ("byparts_tf_files.protobuf_modules", "f'{_PLACE}.message'"): "an installed protobuf",
    # To be deleted when they are imports.
    ("byparts_op_loops.rules", "module"): "",
}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_import_circle(part: Path) -> None:
    found = set(circles(imports(sources(part))))

    assert found <= TYPED_BY_EACH_OTHER


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_module_of_the_part_is_named_by_a_string(part: Path) -> None:
    """A string hides an import: import the module, or be handed what is needed."""
    modules = sources(part)

    by_string = {(module, name) for module, _, name in imports_by_string(modules)}

    assert by_string <= BY_STRING.keys()
    assert not list(names_by_symbol(modules))


def test_strings_and_types_that_are_excused_are_there() -> None:
    """An excuse that nothing needs is deleted."""
    modules = {name: file for part in PARTS for name, file in sources(part).items()}

    assert {(m, name) for m, _, name in imports_by_string(modules)} == BY_STRING.keys()
    assert set(circles(imports(modules))) == TYPED_BY_EACH_OTHER


def test_circles_are_found_wherever_the_import_stands(tmp_path: Path) -> None:
    """In a function, through a lazy name, through a longer way; not where only types are read."""
    files = {
        "__init__": "from x.lazy_names import lazy_names\n"
        "__all__ = lazy_names(__name__, a='one', **{'in.b': 'two'})\n",
        "a": "def f():\n    from x import two\n",
        "in/b": "import x.c\n",
        "c": "import x.a\n",
        "d": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import x.e\nelse:\n    import x.a\n",
        "e": "from x import d\n",
    }

    edges = imports(sources(_written(tmp_path, files)))

    assert edges["x.d"] == {"x.a"}
    assert circles(edges) == [("x.a", "x.c", "x.in.b")]


def test_types_of_another_folder_count(tmp_path: Path) -> None:
    """Not those of the same folder: its modules are read together."""
    files = {
        "on/a": "if TYPE_CHECKING:\n    from x.b import B\n    from x.on.c import C\n",
        "b": "from x.on.a import A\n",
        "on/c": "from x.on.a import A\n",
    }

    edges = imports(sources(_written(tmp_path, files)))

    assert circles(edges) == [("x.b", "x.on.a")]


def test_modules_that_strings_name_are_found(tmp_path: Path) -> None:
    """Of this part, or computed; another distribution's are optional libraries."""
    files = {
        "a": "import_module('x.b')\nimport_module('PIL.Image')\nimport_module(f'x.{name}')\n",
        "b": "__import__(name)\nnamed('nn.relu')\nnamed('nn.theirs')\n",
    }
    modules = sources(_written(tmp_path, files))
    (tmp_path / "src/x/names.tsv").write_text("nn.relu\tx.a:relu\nnn.theirs\ty.a:theirs\n")

    assert list(imports_by_string(modules)) == [
        ("x.a", 1, "'x.b'"),
        ("x.a", 3, "f'x.{name}'"),
        ("x.b", 1, "name"),
    ]
    assert list(names_by_symbol(modules)) == [("x.b", 2, "nn.relu")]


def _written(folder: Path, files: dict[str, str]) -> Path:
    """A part with these modules of the package `x`."""
    for name, text in files.items():
        file = folder / "src" / "x" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
