"""May an output be written over an input?  All planners ask here; `check_plan.py` asks nobody."""

from __future__ import annotations

from byparts_memplan.lifetimes import Values, spaces_differ


def overwrite_refusal(values: Values, step: int, x: int, y: int) -> str:
    """Why output `y` of a step may not be written over the bytes of value `x`; "" if it may.

    This is about bytes alone: types and sizes are equal, and every input of the step that reads
    the bytes of `x` may be in place with `y`.  Whether anybody needs `x` after the step, and
    whether its bytes may be written at all, the caller must know.  O(reads of `x` by the step).
    """
    root, types = values.root[x], values.types
    if values.root[y] != y:
        return f"the output is a view of %{values.root[y]}"
    if types[x] != types[y]:
        return f"types differ: {types[x]} and {types[y]}"
    if reason := spaces_differ(values, root, y):
        return reason
    if values.size[root] != values.size[x]:
        return f"it is only {values.size[x]} bytes of a buffer of {values.size[root]}"
    output = y - values.first[step]
    for p in values.readers(step).get(root, ()):
        v = values.reads[step][p]
        if (p, output) not in values.inplace[step] or types[v] != types[x]:
            return f"input {p} reads the same bytes and may not be overwritten"
    return ""
