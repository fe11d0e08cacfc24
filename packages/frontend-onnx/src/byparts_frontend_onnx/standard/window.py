"""Windows of convolutions and pools: strides, dilations, what is added around."""

from __future__ import annotations

from dataclasses import dataclass

from byparts_frontend_onnx.node import OnnxNode, shape_of
from byparts_graph_ir import Value


@dataclass(frozen=True)
class Window:
    """Movement of a window.

    Attributes:
        strides: steps along each axis.
        dilations: steps between elements of the window.
        pads: elements added before and behind each axis.
        more: elements added behind the result, for a transposed convolution.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    more: tuple[int, ...] = ()

    def with_first_axis(self) -> Window:
        """The window with an axis of size 1 before the others."""
        return Window((1, *self.strides), (1, *self.dilations), ((0, 0), *self.pads), self.more)

    def without_first_axis(self) -> Window:
        """The window along all axes but the first."""
        return Window(self.strides[1:], self.dilations[1:], self.pads[1:], self.more)


def window_of(node: OnnxNode, x: Value, kernel: list[int]) -> Window:
    """The window that the attributes of a convolution or a pool say."""
    n = len(kernel)
    strides = tuple(node.get("strides") or [1] * n)
    dilations = tuple(node.get("dilations") or [1] * n)
    pads = list(node.get("pads") or [0] * 2 * n)
    auto = node.get("auto_pad", "NOTSET")
    if len(strides) != n or len(dilations) != n or len(pads) != 2 * n:
        raise node.refuse(f"strides {strides}, dilations {dilations}, pads {pads} of {n} axes")
    if min(*strides, *dilations, *kernel) < 1:
        raise node.refuse(f"strides {strides}, dilations {dilations}, kernel {kernel}")
    if auto == "VALID":
        pads = [0] * 2 * n
    elif auto.startswith("SAME"):
        for i, size in enumerate(shape_of(x)[2:]):
            if not isinstance(size, int) and strides[i] != 1:
                raise node.undetermined(f"auto_pad of a size {size}", size)
            reach = (kernel[i] - 1) * dilations[i]
            if isinstance(size, int):
                count = -(-size // strides[i])
                reach = max((count - 1) * strides[i] + reach + 1 - size, 0)
            low = reach // 2 if auto == "SAME_UPPER" else reach - reach // 2
            pads[i], pads[i + n] = low, reach - low
    return Window(strides, dilations, tuple((pads[i], pads[i + n]) for i in range(n)))
