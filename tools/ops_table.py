"""Writes `docs/ops.md`: every op with its facts, and how the NumPy and torch backends have it.

python tools/ops_table.py          # writes the file, and the public names of the op set

What torch has is read from `torch_kernels.json`, so that the page can be written and tested without
torch; where torch is installed, that file is written anew, and a test says when it is stale.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import opset_names
from byparts_graph_ir import Backend, KernelRule, Table
from byparts_kernels_numpy import make
from byparts_kernels_numpy.table import allocates
from byparts_opset import OPS
from op_facts import Column, kernel_column, made_of, markdown

FILE = Path(__file__).parents[1] / "docs" / "ops.md"
TORCH = Path(__file__).with_name("torch_kernels.json")
HEAD = """# The ops

Written by `python tools/ops_table.py` from the ops themselves; a test says when it is stale.

{count} ops, {primitive} of them primitive ("made of" is empty): a backend with those has all.
"function gives": what `byparts_opset.NAME(...)` returns, which may be fewer than the op's outputs.
"over": inputs whose memory the output may take. "view of": inputs whose bytes the output is.
"numpy", "torch": whether the backend has a kernel, and if that allocates at each run, why; "via
bodies": the runtime runs it, with kernels of the backend inside.

"""


def text() -> str:
    """The whole file."""
    primitive = sum(not made_of(op) for op in OPS.values())
    head = HEAD.format(count=len(OPS), primitive=primitive)
    columns = {"numpy": kernel_column(make(), allocates), "torch": recorded_column()}
    return head + markdown(OPS, columns)


def torch_kernels() -> dict[str, str]:
    """The ops for which torch has a kernel; why it allocates, or nothing.  Needs torch."""
    import byparts_kernels_torch.table as table
    from byparts_kernels_torch import make as make_torch

    kernels = make_torch().kernels
    return {name: table.allocates.get(op, "") for name, op in OPS.items() if op in kernels}


def recorded_kernels() -> dict[str, str]:
    """As `torch_kernels`, when torch was there."""
    recorded: dict[str, str] = json.loads(TORCH.read_text(encoding="utf-8"))
    return recorded


def recorded_column() -> Column:
    """How torch has each op, as it was when torch was there."""
    recorded = recorded_kernels()
    known = {OPS[name]: why for name, why in recorded.items() if name in OPS}
    kernels: Table[KernelRule] = Table("kernel")
    kernels.on(*known)(lambda op, inputs, outputs: lambda: None)
    stand_in = Backend("torch", lambda memory, offset, type: memory, kernels)
    return kernel_column(stand_in, {op: why for op, why in known.items() if why})


if __name__ == "__main__":
    if opset_names.write():  # and once more, with the new names
        raise SystemExit(subprocess.run([sys.executable, __file__], check=False).returncode)
    if find_spec("torch") is not None:
        TORCH.write_text(json.dumps(torch_kernels(), indent=0) + "\n", encoding="utf-8")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
