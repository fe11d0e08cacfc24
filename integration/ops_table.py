"""Writes `docs/ops.md`: every op with its facts, and how the NumPy backend has it.

python integration/ops_table.py          # writes the file
"""

from pathlib import Path

from byparts_kernels_numpy import make
from byparts_kernels_numpy.table import allocates
from byparts_opset import OPS
from byparts_opset.facts import kernel_column, made_of, markdown

FILE = Path(__file__).parents[1] / "docs" / "ops.md"
HEAD = """# The ops

Written by `python integration/ops_table.py` from the ops themselves; a test says when it is stale.

{count} ops, {primitive} of them primitive ("made of" is empty): a backend with those has all.
"over": inputs whose memory the output may take. "view of": inputs whose bytes the output is.
"numpy": whether the NumPy backend has a kernel, and if that allocates at each run, why.

"""


def text() -> str:
    """The whole file."""
    primitive = sum(not made_of(op) for op in OPS.values())
    head = HEAD.format(count=len(OPS), primitive=primitive)
    return head + markdown(OPS, {"numpy": kernel_column(make(), allocates)})


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
