"""The line of the model that called an op.

Torch keeps the stack of each call as text.  Its innermost frame outside torch is the model's own:
`y = self.layer(x)`, and not the line inside `torch/nn` that this runs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'File "([^"<]+)", line (\d+)')  # "<...>" is code that torch wrote


def line_of(node: Any) -> str:
    """The user's "file:line"; "" where torch does not know it."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    home = str(Path(getattr(sys.modules.get("torch"), "__file__", None) or "torch").parent)
    users = [frame for frame in frames if not frame[0].startswith(home)]
    return ":".join((users or frames or [("",)])[-1])
