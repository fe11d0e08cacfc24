"""Operations that a file names are run when it is read; these may not write files.

A saved model names what initialises it, a meta graph what restores its variables.  A stranger's
could name an operation that writes any file of the user.  What a program itself runs is its affair.
"""

from __future__ import annotations

from byparts_frontend_tf.graph.operation import Operation
from byparts_graph_ir import FormatError


def check_writes_nothing(operation: Operation, what: str) -> None:
    """Raise FormatError if a run of the operation may write a file.  O(operations)."""
    needed: set[Operation] = set()
    stack = [operation]
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack += [*[t.op for t in op.inputs], *op.control_inputs]
    for op in operation.graph.get_operations():
        if _writes(op) and (op in needed or op.body is not None):  # what a body needs is in it
            raise FormatError(
                f"{what} names {operation.name!r} to be run, which needs {op.name!r} ({op.type}): "
                "that writes a file, and is not run"
            )


def _writes(op: Operation) -> bool:
    return op.type in ("SaveV2", "WriteFile") or (
        op.type == "PrintV2" and isinstance(op.attributes.get("stream"), str)
    )
