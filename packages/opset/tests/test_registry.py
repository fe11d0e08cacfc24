import os
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

import byparts_opset
from byparts_graph_ir import Op
from byparts_opset.registry import OPS


def test_every_op_is_found_by_its_name() -> None:
    """An op that no public class stands for cannot be parsed, tested or found."""
    modules = [
        import_module(f"byparts_opset.{m.name}") for m in iter_modules(byparts_opset.__path__)
    ]
    defined = {
        v
        for module in modules
        for v in vars(module).values()
        if isinstance(v, type) and issubclass(v, Op) and v.__module__ == module.__name__
        if not v.__subclasses__()  # a class that has some is a family, and no op
    }

    assert {op.name: op for op in defined} == dict(OPS)


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_every_op_has_samples_and_says_what_it_means(op: type[Op]) -> None:
    """The conformance tests and the table of ops live on them."""
    assert next(op.samples(), None) is not None
    assert op.__doc__
    assert not op.__doc__.startswith(f"{op.__name__}(")  # what `dataclass` writes where nothing is


def test_ops_are_imported_when_they_are_asked_for() -> None:
    """Listing them imports none, nor NumPy."""
    code = (
        "import sys, byparts_opset; assert len(byparts_opset.OPS) > 100\n"
        "print('numpy' in sys.modules, 'byparts_opset.axes' in sys.modules)\n"
        "byparts_opset.OPS['transpose']\n"
        "print('byparts_opset.axes' in sys.modules, 'byparts_opset.conv2d' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )

    assert done.stdout.split() == ["False", "False", "True", "False"]
