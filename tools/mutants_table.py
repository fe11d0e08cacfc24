"""Writes `docs/mutants.md`: which wrong kernels of each op the conformance kit finds.

python tools/mutants_table.py          # writes the file; some minutes, needs torch
"""

import sys
from pathlib import Path

from byparts_conformance.mutation import counted, outcomes, table
from byparts_graph_ir.parts.hub import parts

FILE = Path(__file__).parents[1] / "docs" / "mutants.md"
HEAD = """# Wrong kernels, and whether the kit finds them

Written by `python tools/mutants_table.py`; a test says when it is stale.

The conformance kit decides whether a kernel is right, so it is tried on kernels that are wrong:
made by rule, for every op, from the right one (`byparts_conformance/mutants.py`,
`memory_mutants.py`, `gradient_mutants.py`).  `x`: the kit finds it.  `=`: the mutant gives what the
op gives, on inputs of the kit and on others drawn for the purpose: a kernel that takes -0.0 for 0.0
is a right kernel of `exp`.  Empty: there is no such mutant of the op.  None survives.

Generated code is made wrong, too, as a wrong emitter would write it: a loop that ends early, no
rest, another operator, a reduction that begins elsewhere (`integration/test_emitter_mutants.py`).
What passes, lowering, emitters, planner and runtime give is made wrong in [whole
programs](program-mutants.md).

{counted}.

"""


def main() -> None:
    """Write the page, and show how far it is."""
    rows = {}
    for name, op in parts.ops().items():
        print(f"\r{name:40}", end="", file=sys.stderr, flush=True)
        rows[name] = outcomes(op)
    print("\r", end="", file=sys.stderr)
    FILE.write_text(HEAD.format(counted=counted(rows)) + "\n".join(table(rows)) + "\n", "utf-8")
    print(counted(rows))


if __name__ == "__main__":
    main()
