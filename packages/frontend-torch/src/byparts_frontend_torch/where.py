"""The line of the model that called an op.

Torch keeps the stack of each call as text.  Its innermost frame outside torch is the model's own:
`y = self.layer(x)`, and not the line inside `torch/nn` that this runs.  A model put together of
torch's own modules has no such line.  The path of the module stands behind, as scopes do.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'File "([^"<]+)", line (\d+)')  # "<...>" is code that torch wrote


def line_of(node: Any) -> str:
    """The user's "file:line in blocks/0", or "Linear in blocks/0"; "" where torch knows neither."""
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    path = modules[-1][0].replace(".", "/") if modules else ""
    line = _line(node) or (_name(modules[-1][1]) if modules else "")
    return f"{line} in {path}" if path else line


def _line(node: Any) -> str:
    """The innermost line outside torch."""
    home = str(Path(getattr(sys.modules.get("torch"), "__file__", None) or "torch").parent)
    for file, line in reversed(_FRAME.findall(node.meta.get("stack_trace") or "")):
        if not file.startswith(home):
            return f"{file}:{line}"
    return ""


def _name(kind: Any) -> str:
    """The name of a class, or the last part of its full name."""
    return str(getattr(kind, "__name__", kind)).rpartition(".")[2]
