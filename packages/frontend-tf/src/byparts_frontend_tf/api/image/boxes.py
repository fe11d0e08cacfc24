"""Boxes in images, on the host: which to keep, drawn ones, and one by chance.

A box is y1, x1, y2, x2; where no pixels are meant, of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.shape import size
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, int32


def _overlaps(box: Any, boxes: Any) -> Any:
    """Intersection over union of a box with each of many."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    l, h = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])  # noqa: E741  # low and high
    common = np.maximum(np.minimum(high, h) - np.maximum(low, l), 0).prod(1)
    areas, area = (high - low).prod(1), (h - l).prod()
    with np.errstate(all="ignore"):
        ratio = common / (areas + area - common)
    return np.where((areas <= 0) | (area <= 0), np.float32(0), ratio)


def _suppressed(boxes: Any, scores: Any, most: Any, overlap: Any, least: Any) -> Any:
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise ValueError(f"boxes are [n, 4] and scores [n], not {boxes.shape} and {scores.shape}")
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) >= int(most):
            break
        if scores[i] > least and not (_overlaps(boxes[i], boxes[kept]) > overlap).any():
            kept.append(int(i))
    return np.array(kept, np.int32)


_SUPPRESSED = Kind(
    "NonMaxSuppressionV3",
    host=_suppressed,
    shape=lambda inputs: (None,),
    dtype=int32,
    gradient=False,
)


@symbol("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: Optional[str] = None,
) -> Tensor:
    """The boxes of the best scores that overlap no better one by more than `iou_threshold`."""
    inputs = (
        convert_to_tensor(boxes, float32, "boxes"),
        convert_to_tensor(scores, float32, "scores"),
        convert_to_tensor(max_output_size, int32, "max_output_size"),
        convert_to_tensor(iou_threshold, float32, "iou_threshold"),
        convert_to_tensor(score_threshold, float32, "score_threshold"),
    )
    return _SUPPRESSED(*inputs, name=name or "non_max_suppression")


class NonMaxSuppressionV4(NamedTuple):
    """Indices of the boxes that are kept, and their number."""

    selected_indices: Tensor
    valid_outputs: Tensor


class SampleDistortedBoundingBoxV2(NamedTuple):
    """A drawn box: its beginning, its size, and the box itself."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


_PADDED = Kind(
    "NonMaxSuppressionV4",
    host=lambda *given: _with_count(_suppressed(*given), int(given[2])),
    shape=lambda inputs: [(static_value(inputs[2]),), ()],
    dtype=[int32, int32],
    gradient=False,
)


def _with_count(kept: Any, size: int) -> tuple[Any, Any]:
    return np.pad(kept, (0, size - len(kept))), np.array(len(kept), np.int32)


@symbol("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: Optional[str] = None,
) -> tuple[Tensor, Tensor]:
    """Run `non_max_suppression` and count the boxes, perhaps filled with 0 to the largest size."""
    if not pad_to_max_output_size:
        kept = non_max_suppression(
            boxes, scores, max_output_size, iou_threshold, score_threshold, name
        )
        return kept, size(kept)
    inputs = (
        *(convert_to_tensor(boxes, float32, "boxes"), convert_to_tensor(scores, float32, "scores")),
        convert_to_tensor(max_output_size, int32, "max_output_size"),
        *(convert_to_tensor(t, float32) for t in (iou_threshold, score_threshold)),
    )
    made = _PADDED.outputs(*inputs, name=name or "non_max_suppression_padded")
    return NonMaxSuppressionV4(*made)


_COLOURS = np.array(
    [
        *([1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1]),
        *([0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]),
    ],
    np.float32,
)


def _drawn(images: Any, boxes: Any, *colours: Any) -> Any:
    made = images.copy()
    _, height, width, depth = images.shape
    table = (colours[0] if colours and colours[0].size else _COLOURS).astype(images.dtype)
    table = np.resize(table, (len(table), max(depth, table.shape[1]))).copy()
    if depth == 1 and not (colours and colours[0].size):
        table[:, 0] = 1
    for image, rows in zip(made, boxes, strict=True):
        for i, box in enumerate(rows):
            _draw(image, box, table[i % len(table), :depth], height, width)
    return made


def _draw(image: Any, box: Any, colour: Any, height: int, width: int) -> None:
    """The outline of a box, where it is inside."""
    corners = box.astype(np.float32) * np.array([height - 1, width - 1] * 2, np.float32)
    top, left, bottom, right = [int(c) for c in corners]
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = colour


_DRAWN = Kind("DrawBoundingBoxesV2", host=_drawn, shape=like_first, gradient=False)


@symbol("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: Optional[str] = None, colors: Any = None
) -> Tensor:
    """Images [batch, h, w, channels] of floats with the outlines of boxes [batch, boxes, 4]."""
    given = [] if colors is None else [convert_to_tensor(colors, float32, "colors")]
    inputs = (convert_to_tensor(images), convert_to_tensor(boxes, float32), *given)
    return _DRAWN(*inputs, name=name)


def _chosen(
    size: Any,
    boxes: Any,
    draws: Any,
    covered: Any,
    ratios: Sequence[float],
    areas: Sequence[float],
    whole: bool,
) -> tuple[Any, Any, Any]:
    """The first drawn part that covers enough of a box; else the whole image."""
    height, width = [int(n) for n in size[:2]]
    rows = boxes.reshape(-1, 4)
    if not len(rows):
        if not whole:
            raise ValueError(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        rows = np.array([[0, 0, 1, 1]], np.float32)
    pixels = (rows * [height, width, height, width]).astype(np.int64)
    at = (0, 0, height, width)
    for draw in draws:
        part = _part(height, width, draw, ratios, areas)
        if part is not None and any(_covers(part, box, float(covered)) for box in pixels):
            at = part
            break
    top, left, bottom, right = at
    box = np.array([top / height, left / width, bottom / height, right / width], np.float32)
    kind = size.dtype
    return (
        np.array([top, left, 0], kind),
        np.array([bottom - top, right - left, -1], kind),
        box.reshape(1, 1, 4),
    )


def _part(
    height: int, width: int, draw: Any, ratios: Sequence[float], areas: Sequence[float]
) -> Optional[tuple[int, int, int, int]]:
    """A part with a ratio and an area of these ranges, or `None` where there is none."""
    ratio = ratios[0] + (ratios[1] - ratios[0]) * draw[0]
    whole = height * width
    low = int(np.rint(np.sqrt(areas[0] * whole / ratio)))
    high = int(np.rint(np.sqrt(areas[1] * whole / ratio)))
    if int(np.rint(high * ratio)) > width:
        high = int((width + 0.5 - 1e-7) / ratio)
    high = min(high, height)
    low = min(low, high)
    tall = low + int(draw[1] * (high - low + 1)) if low < high else low
    wide = int(np.rint(tall * ratio))
    if not areas[0] * whole <= tall * wide <= areas[1] * whole:
        tall += 1 if tall * wide < areas[0] * whole else -1
        wide = int(np.rint(tall * ratio))
    area = tall * wide
    if area < areas[0] * whole or area > areas[1] * whole or wide > width or tall > height:
        return None
    if wide <= 0 or tall <= 0:
        return None
    top = int(draw[2] * (height - tall)) if tall < height else 0
    left = int(draw[3] * (width - wide)) if wide < width else 0
    return top, left, top + tall, left + wide


def _covers(part: tuple[int, int, int, int], box: Any, least: float) -> bool:
    top, left, bottom, right = [int(n) for n in box]
    area = (bottom - top) * (right - left)
    if (part[2] - part[0]) * (part[3] - part[1]) <= 0 or area <= 0:
        return False
    down = min(bottom, part[2]) - max(top, part[0])
    across = min(right, part[3]) - max(left, part[1])
    return down > 0 and across > 0 and down * across / area >= least


_CHOSEN = Kind(
    "SampleDistortedBoundingBoxV2",
    host=_chosen,
    shape=lambda inputs, **_: [(3,), (3,), (1, 1, 4)],
    dtype=lambda inputs, **_: [inputs[0].dtype.base_dtype] * 2 + [float32],
    gradient=False,
)


@symbol("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: Optional[int] = None,
    seed2: Optional[int] = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Optional[int] = None,
    use_image_if_no_bounding_boxes: Optional[bool] = None,
    name: Optional[str] = None,
) -> SampleDistortedBoundingBoxV2:
    """A part of an image by chance that covers enough of a box.

    Args:
        image_size: [height, width, channels], integers.
        bounding_boxes: [1, boxes, 4], or [boxes, 4].
        seed: of the draws.
        seed2: of the draws, too.
        min_object_covered: how much of some box it covers.
        aspect_ratio_range: width / height; by default (0.75, 1.33).
        area_range: of the image; by default (0.05, 1).
        max_attempts: then it is the whole image; by default 100.
        use_image_if_no_bounding_boxes: whether there may be no box.
        name: of the operation.

    Returns:
        begin and size for `tf.slice`, and the box [1, 1, 4].
    """
    attempts = 100 if max_attempts is None else int(max_attempts)
    draws = random_uniform([attempts, 4], seed=seed or seed2)
    made = _CHOSEN.outputs(
        convert_to_tensor(image_size, name="image_size"),
        convert_to_tensor(bounding_boxes, float32, "bounding_boxes"),
        draws,
        convert_to_tensor(min_object_covered, float32),
        name=name or "sample_distorted_bounding_box",
        ratios=tuple(aspect_ratio_range or (0.75, 1.33)),
        areas=tuple(area_range or (0.05, 1.0)),
        whole=bool(use_image_if_no_bounding_boxes),
    )
    return SampleDistortedBoundingBoxV2(*made)
