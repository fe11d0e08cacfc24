"""The CTC loss, windows of images, and older names of ops."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.ops import shape  # noqa: F401  # what has older names here
from byparts_frontend_mxnet.ops.entry import op, table
from byparts_nn.ctc import ctc


def _lengths(p: Any) -> list[str]:
    return [n for n in ("data_lengths", "label_lengths") if not p[f"use_{n}"]]


@op("_contrib_ctc_loss", "_contrib_CTCLoss", "ctc_loss", "CTCLoss", absent=_lengths,
    shapes=lambda dims, p: dict.fromkeys(("data_lengths", "label_lengths"), dims[1:2]))  # fmt: skip
def ctc_loss(
    data: Any, label: Any, data_lengths: Any = None, label_lengths: Any = None, *,
    use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: str = "first",
) -> Any:  # fmt: skip
    """-log of the probability of each row of label [n, length], of data [time, n, classes].

    Without lengths a row ends at its first 0 (blank "first": class 0), or -1 ("last").
    """
    first = blank_label == "first"
    if label_lengths is None:
        inside = ops.not_equal(label, 0 if first else -1)
        label_lengths = ops.sum(ops.cast(inside, "i64"), -1)
    blank = 0 if first else data.type.dims[2] - 1
    labels = ops.maximum(ops.cast(label, "i64"), 0)
    how: Any = {"blank": blank, "reduction": "none"}
    return ctc(ops.transpose(data, (1, 0, 2)), labels, data_lengths, label_lengths, **how)


@op("Crop")
def crop(
    *args: Any,
    num_args: int = 1,
    offset: Any = (0, 0),
    h_w: Any = (0, 0),
    center_crop: bool = False,
) -> Any:  # fmt: skip
    """A window of the first image [n, c, h, w]: of the size of the second one, or `h_w`."""
    x, extents = args[0], args[0].type.dims[2:]
    sizes = args[1].type.dims[2:] if len(args) > 1 else h_w
    middle = [(n - m) // 2 for n, m in zip(extents, sizes, strict=True)]
    (i, j), (h, w) = middle if center_crop else offset, sizes
    return x[:, :, i : i + h, j : j + w]


table["choose_element_0index"], table["slice_channel"] = table["pick"], table["SliceChannel"]
