"""TensorFlow's operations that are functions of our API: one row for each.

    "ResizeBilinear": Call("image.resize_bilinear", "align_corners half_pixel_centers")

The inputs are the first arguments, the attributes named are keyword arguments (`theirs:ours` where
they are called otherwise).  A function that is not there yet is as an operation that is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.node_defs.node import Node

Made = Any  # a tensor, an operation, or a list of them: what the operation of the node gives


def function(name: str) -> Optional[Callable[..., Any]]:
    """The function of this name of TensorFlow's API, or `None`."""
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found  # type: ignore[no-any-return]  # a function, or None


class Call:
    """A function of the API.

    Args:
        name: without "tf.".
        attributes: those that are keyword arguments.
        inputs: the places of the inputs that are arguments, in order; by default all of them.
    """

    def __init__(
        self, name: str, attributes: str = "", inputs: Optional[tuple[int, ...]] = None
    ) -> None:
        pairs = [a.partition(":") for a in attributes.split()]
        self._name, self._inputs = name, inputs
        self._arguments = {ours or theirs: theirs for theirs, _, ours in pairs}

    def __call__(self, node: Node) -> Made:
        """Call the function for a node; `NotImplemented` if it is not there."""
        called = function(self._name)
        if called is None:
            return NotImplemented
        arguments = {
            ours: node.attribute(theirs)
            for ours, theirs in self._arguments.items()
            if theirs in node.definition.attr
        }
        places = range(len(node.inputs)) if self._inputs is None else self._inputs
        return called(*[node.inputs[i] for i in places], **arguments, name=node.name)


FUNCTIONS = {
    "AdjustContrastv2": Call("image.adjust_contrast"),
    "AsString": Call("as_string"),
    "BatchToSpaceND": Call("batch_to_space_nd"),
    "Bincount": Call("bincount", inputs=(0,)),
    "CheckNumerics": Call("check_numerics", "message"),
    "Cholesky": Call("cholesky"),
    "ClipByValue": Call("clip_by_value"),
    "Conv3D": Call("nn.conv3d", "strides padding data_format"),
    "CropAndResize": Call("image.crop_and_resize", "method extrapolation_value"),
    "Cross": Call("cross"),
    "DecodeBmp": Call("image.decode_bmp", "channels"),
    "DecodeGif": Call("image.decode_gif"),
    "DecodeJpeg": Call("image.decode_jpeg", "channels"),
    "DecodePng": Call("image.decode_png", "channels dtype"),
    "DecodeRaw": Call("decode_raw", "out_type"),
    "DepthToSpace": Call("depth_to_space", "block_size data_format"),
    "Diag": Call("diag"),
    "Digamma": Call("digamma"),
    "Dilation2D": Call("nn.dilation2d", "strides rates padding"),
    "DynamicPartition": Call("dynamic_partition", "num_partitions"),
    "ExtractImagePatches": Call("extract_image_patches", "ksizes strides rates padding"),
    "HSVToRGB": Call("image.hsv_to_rgb"),
    "InTopK": Call("nn.in_top_k", "k"),
    "InvertPermutation": Call("invert_permutation"),
    "LeakyRelu": Call("nn.leaky_relu", "alpha"),
    "Lgamma": Call("lgamma"),
    "ListDiff": Call("setdiff1d"),
    "MatrixBandPart": Call("matrix_band_part"),
    "MatrixDeterminant": Call("matrix_determinant"),
    "MatrixDiag": Call("matrix_diag"),
    "MatrixDiagPart": Call("matrix_diag_part"),
    "MatrixInverse": Call("matrix_inverse"),
    "MatrixSolve": Call("matrix_solve"),
    "MaxPool3D": Call("nn.max_pool3d", "ksize strides padding"),
    "NonMaxSuppressionV2": Call("image.non_max_suppression"),
    "NonMaxSuppressionV3": Call("image.non_max_suppression"),
    "ReadFile": Call("read_file"),
    "ResizeArea": Call("image.resize_area", "align_corners"),
    "ResizeBicubic": Call("image.resize_bicubic", "align_corners half_pixel_centers"),
    "ResizeBilinear": Call("image.resize_bilinear", "align_corners half_pixel_centers"),
    "ResizeNearestNeighbor": Call(
        "image.resize_nearest_neighbor", "align_corners half_pixel_centers"
    ),
    "RGBToHSV": Call("image.rgb_to_hsv"),
    "SegmentMax": Call("segment_max"),
    "SegmentMean": Call("segment_mean"),
    "SegmentSum": Call("segment_sum"),
    "SpaceToBatchND": Call("space_to_batch_nd"),
    "SpaceToDepth": Call("space_to_depth", "block_size data_format"),
    "SparseToDense": Call("sparse_to_dense"),
    "StringToHashBucketFast": Call("string_to_hash_bucket_fast", "num_buckets"),
    "StringToNumber": Call("string_to_number", "out_type"),
    "Unique": Call("unique", "out_idx"),
    "UniqueWithCounts": Call("unique_with_counts", "out_idx"),
    "UnsortedSegmentMax": Call("unsorted_segment_max"),
    "UnsortedSegmentSum": Call("unsorted_segment_sum"),
}
