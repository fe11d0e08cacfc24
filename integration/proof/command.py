"""The command `byparts`, which need not be on the path."""

from __future__ import annotations

import subprocess
import sys


def byparts(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own."""
    command = [sys.executable, "-m", "byparts_graph_ir", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
