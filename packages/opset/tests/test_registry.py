import ast
import inspect
from importlib import import_module

import pytest

import byparts_opset
from byparts_graph_ir import Op
from byparts_opset.registry import MODULES, OPS


@pytest.mark.parametrize("module", MODULES)
def test_modules_list_all_their_ops(module: str) -> None:
    """An op that is not in `OPS` cannot be parsed, tested or found."""
    names = vars(import_module(f"byparts_opset.{module}")).values()
    defined = {v for v in names if isinstance(v, type) and issubclass(v, Op)}
    here = {v for v in defined if v.__module__ == f"byparts_opset.{module}"}

    assert here <= set(OPS.values())


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_every_op_has_samples_and_says_what_it_means(op: type[Op]) -> None:
    """The conformance tests and the table of ops live on them."""
    assert next(op.samples(), None) is not None
    assert op.__doc__
    assert not op.__doc__.startswith(f"{op.__name__}(")  # what `dataclass` writes where nothing is


def test_every_imported_name_is_public() -> None:
    """`__all__` of the package, which strict type checkers go by."""
    tree = ast.parse(inspect.getsource(byparts_opset))
    imported = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names]

    assert sorted(imported) == sorted(byparts_opset.__all__)
    assert len(set(imported)) == len(imported)


def test_every_op_is_public() -> None:
    """By its class name."""
    assert [op for op in OPS.values() if getattr(byparts_opset, op.__name__, None) is not op] == []
