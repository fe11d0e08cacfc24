"""The key of a slice as TensorFlow has it: begins, ends and steps, and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.node_defs.words import Draft, Unwritable


def slice_inputs(draft: Draft) -> None:
    """Write the key of a strided slice as constants and masks.

    Raises:
        Unwritable: some of its numbers are tensors.
    """
    rows, masks = [], dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for i, item in enumerate(draft.op.attributes["key"]):
        row, which = _row(item)
        rows.append(row)
        for mask in which:
            masks[mask] |= 1 << i
    numbers = np.array(rows, np.int32).reshape(len(rows), 3)
    for position, name in enumerate(("begin", "end", "strides")):
        draft.constants.append((position + 1, name, numbers[:, position]))
    for mask, bits in masks.items():
        draft.put(f"{mask}_mask", bits)
    draft.made.attr["Index"].type = 3  # int32


def _row(item: Any) -> tuple[tuple[int, int, int], list[str]]:
    """Begin, end and step of an item of a key, and the masks that have its bit."""
    if item is Ellipsis:
        return (0, 0, 1), ["ellipsis"]
    if item is None:
        return (0, 0, 1), ["new_axis"]
    if isinstance(item, slice):
        numbers = (item.start, item.stop, item.step)
        if not all(n is None or isinstance(n, int) for n in numbers):
            raise Unwritable("a number of a slice is a tensor")
        begin, end, step = numbers
        which = [w for w, n in (("begin", begin), ("end", end)) if n is None]
        return (begin or 0, end or 0, 1 if step is None else step), which
    if not isinstance(item, int):
        raise Unwritable("an index is a tensor")
    return (item, item + 1, 1), ["shrink_axis"]
