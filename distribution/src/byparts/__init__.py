"""The parts of byparts under one name.

    import byparts as bp

    bp.nn.Linear(784, 10)
    bp.grad(f), bp.compile(f), bp.ops.softmax(x)

`bp.PART` is a part, imported when it is first used; every other name is that of byparts-eager.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers
    import byparts_autodiff
    import byparts_draw
    import byparts_graph_ir
    import byparts_memplan
    import byparts_nn
    import byparts_opset
    import byparts_optimize
    import byparts_recompute
    import byparts_runtime
    import byparts_weights
    from byparts_eager import *  # noqa: F403

    autodiff, draw, graph, memplan = (
        byparts_autodiff,
        byparts_draw,
        byparts_graph_ir,
        byparts_memplan,
    )
    nn, optimize, ops = byparts_nn, byparts_optimize, byparts_opset
    recompute, runtime, weights = byparts_recompute, byparts_runtime, byparts_weights

__version__ = "0.2.0"

# Name -> its module, and what of this distribution brings it.
_PARTS = {
    **{"nn": ("byparts_nn", ""), "ops": ("byparts_opset", ""), "eager": ("byparts_eager", "")},
    **{"graph": ("byparts_graph_ir", ""), "autodiff": ("byparts_autodiff", "")},
    **{"optimize": ("byparts_optimize", ""), "memplan": ("byparts_memplan", "")},
    **{"recompute": ("byparts_recompute", ""), "weights": ("byparts_weights", "")},
    **{"draw": ("byparts_draw", ""), "runtime": ("byparts_runtime", "")},
    **{"native": ("byparts_kernels_native", "native"), "cuda": ("byparts_kernels_cuda", "cuda")},
    **{"torch": ("byparts_frontend_torch", "torch"), "tf": ("byparts_frontend_tf", "tf")},
}


def __getattr__(name: str) -> Any:
    """The part, or the name of byparts-eager.

    Raises:
        AttributeError: there is none; or the part is not installed, with the command to do so.
    """
    if name in _PARTS:
        module, extra = _PARTS[name]
        if find_spec(module) is None:
            wanted = f"byparts[{extra}]" if extra else module.replace("_", "-")
            raise AttributeError(
                f"byparts.{name} is the part {module.replace('_', '-')}, which is not installed: "
                f'pip install "{wanted}"'
            )
        value = import_module(module)
    else:
        eager = import_module("byparts_eager")
        if name.startswith("_") or not hasattr(eager, name):
            raise AttributeError(f"module 'byparts' has no attribute {name!r}{_hint(name, eager)}")
        value = getattr(eager, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    eager = import_module("byparts_eager")
    return sorted({*globals(), *_PARTS, *[n for n in dir(eager) if not n.startswith("_")]})


def _hint(name: str, eager: Any) -> str:
    """Say where a name is that is looked for here."""
    for part in ("nn", "ops"):
        module = _PARTS[part][0]
        if find_spec(module) is not None and hasattr(import_module(module), name):
            return f"; it is byparts.{part}.{name}"
    from difflib import get_close_matches  # only for a message

    near = get_close_matches(name, [*_PARTS, *dir(eager)], 1)
    return f"; did you mean {near[0]!r}?" if near else ""
