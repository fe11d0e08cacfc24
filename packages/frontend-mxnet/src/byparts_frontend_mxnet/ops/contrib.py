"""The CTC loss, updates of optimizers as ops, and older names of ops."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.ops import shape  # noqa: F401  # what has older names here
from byparts_frontend_mxnet.ops.entry import Dims, op, table
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


def _scaled(weight: Any, grad: Any, rescale_grad: float, clip_gradient: float, wd: float) -> Any:
    d = grad * rescale_grad
    d = ops.clip(d, -clip_gradient, clip_gradient) if clip_gradient > 0 else d
    return d + weight * wd


def _like(*names: str) -> Any:
    def shapes(dims: Dims, p: Any) -> dict[str, Dims]:
        return dict.fromkeys(names, dims)

    return shapes


@op("sgd_update", shapes=_like("grad"))
def sgd_update(
    weight: Any, grad: Any, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
) -> Any:  # fmt: skip
    """weight - lr * d, d the scaled gradient with the decay."""
    return weight - _scaled(weight, grad, rescale_grad, clip_gradient, wd) * lr


@op("sgd_mom_update", aux=("mom",), shapes=_like("grad", "mom"))
def sgd_mom_update(
    weight: Any, grad: Any, mom: Any, *, lr: float, momentum: float = 0.0, wd: float = 0.0,
    rescale_grad: float = 1.0, clip_gradient: float = -1.0,
) -> Any:  # fmt: skip
    """weight + mom', mom' = momentum * mom - lr * d."""
    new = mom * momentum - _scaled(weight, grad, rescale_grad, clip_gradient, wd) * lr
    return weight + new, new


@op("adam_update", aux=("mean", "var"), shapes=_like("grad", "mean", "var"))
def adam_update(
    weight: Any, grad: Any, mean: Any, var: Any, *, lr: float, beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0.0, rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
) -> Any:  # fmt: skip
    """weight - lr * mean' / (sqrt(var') + epsilon); lr has the correction for the count."""
    d = _scaled(weight, grad, rescale_grad, clip_gradient, wd)
    m, v = mean * beta1 + d * (1 - beta1), var * beta2 + d * d * (1 - beta2)
    return weight - m / (ops.sqrt(v) + epsilon) * lr, m, v


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
