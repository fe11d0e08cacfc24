"""Samples of images, sums of windows, diagonals and determinants, against onnx's reference."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from models import FLOAT, INT64, model, node, run
from onnx import ModelProto, TensorProto
from onnx.reference import ReferenceEvaluator

from byparts_frontend_onnx import Undetermined, UnsupportedOp, from_onnx
from byparts_runtime import Executor

DOUBLE = TensorProto.DOUBLE
RANDOM = np.random.default_rng(28)
X = RANDOM.standard_normal((2, 2, 3, 4)).astype(np.float32)
GRID = RANDOM.uniform(-5, 5, (2, 3, 2, 2)).astype(np.float32)  # most places are outside
BOXES = np.array([[0, 0, 3, 2], [-2, 1, 9, 9], [1, 0.5, 6, 3]], np.float32)
IMAGES = np.array([0, 1, 0])


def _agrees(source: ModelProto, program: ModelProto | None = None, **feed: np.ndarray) -> None:
    """A model imported with its feed, or `program`, of open sizes, without, gives onnx's result."""
    (expected,) = ReferenceEvaluator(source).run(None, feed)
    imported = from_onnx(source, feed=feed) if program is None else from_onnx(program)
    arrays = [feed[n] for n in imported.inputs]
    (y,) = Executor(backends=("numpy",))(imported.graph, *arrays, *imported.weights.values())
    assert (y.dtype, y.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("mode", "padding", "corners"),
    [
        (mode, padding, i % 2)
        for i, (mode, padding) in enumerate(
            product(("nearest", "linear", "cubic"), ("zeros", "border", "reflection"))
        )
    ],
)
def test_one_program_samples_images_of_every_size(mode: str, padding: str, corners: int) -> None:
    sample = node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode=padding,
                  align_corners=corners)  # fmt: skip
    shapes = {"x": ["n", 2, "h", "w"], "grid": ["n", "i", "j", 2]}
    source = model([sample], shapes, ["y"], version=20)
    _agrees(source, source, x=X, grid=GRID)


def test_an_image_of_one_row_is_reflected_to_it_and_nan_is_outside() -> None:
    sample = node("GridSample", ["x", "grid"], ["y"], padding_mode="reflection", align_corners=1)
    source = model([sample], {"x": [1, 1, 1, 2], "grid": [1, 1, 2, 2]}, ["y"], version=20)
    x = np.array([[[[3, 5]]]], np.float32)
    (y,) = run(source, x=x, grid=np.array([[[[-1, 7], [3, -4]]]], np.float32))
    assert y.reshape(-1).tolist() == [3, 3]

    zeros = node("GridSample", ["x", "grid"], ["y"], mode="nearest")
    source = model([zeros], {"x": [1, 1, 1, 2], "grid": [1, 1, 1, 2]}, ["y"], version=20)
    (y,) = run(source, x=x, grid=np.full((1, 1, 1, 2), np.nan, np.float32))
    assert y.item() == 0


@pytest.mark.parametrize(
    ("version", "mode", "ratio"), [(10, "avg", 2), (16, "avg", 0), (22, "max", 3)]
)
def test_regions(version: int, mode: str, ratio: int) -> None:
    """Without a ratio every region has as many samples as its size asks for."""
    align = node("RoiAlign", ["x", "rois", "images"], ["y"], mode=mode, sampling_ratio=ratio,
                 output_height=2, output_width=3, spatial_scale=0.5)  # fmt: skip
    shapes = {"x": ["n", 2, "h", "w"], "rois": ["r", 4], "images": (INT64, ["r"])}
    source = model([align], shapes, ["y"], version=version)
    if version == 10:  # onnx's reference has only the later default
        later = node("RoiAlign", ["x", "rois", "images"], ["y"], sampling_ratio=2, output_height=2,
                     output_width=3, spatial_scale=0.5,
                     coordinate_transformation_mode="output_half_pixel")  # fmt: skip
        _agrees(model([later], shapes, ["y"]), source, x=X, rois=BOXES, images=IMAGES)
    else:
        _agrees(source, x=X, rois=BOXES, images=IMAGES)


def test_a_number_of_samples_that_depends_on_the_regions_asks_for_an_example() -> None:
    align = node("RoiAlign", ["x", "rois", "images"], ["y"])
    shapes = {"x": ["n", 2, 3, 4], "rois": ["r", 4], "images": (INT64, ["r"])}
    with pytest.raises(Undetermined, match="input 'rois'"):
        from_onnx(model([align], shapes, ["y"]))


def test_columns_are_summed_into_images() -> None:
    sums = node("Col2Im", ["x", "image", "block"], ["y"], pads=[1, 0, 2, 1], strides=[2, 1],
                dilations=[1, 2])  # fmt: skip
    known = {"image": np.array([4, 5]), "block": np.array([3, 2])}
    x = RANDOM.standard_normal((2, 12, 12)).astype(np.float32)
    source = model([sums], {"x": ["n", 12, 12]}, ["y"], known)
    _agrees(source, source, x=x)


def test_windows_that_are_deformed() -> None:
    """Two groups of offsets and two of channels, a mask, and an image that is left at all sides."""
    deformed = node("DeformConv", ["x", "w", "offset", "b", "mask"], ["y"], pads=[1, 0, 2, 1],
                    strides=[2, 1], dilations=[1, 2], group=2, offset_group=2)  # fmt: skip
    shapes = {"x": ["n", 4, "h", "w"], "w": [6, 2, 3, 2], "offset": ["n", 24, "i", "j"],
              "b": [6], "mask": ["n", 12, "i", "j"]}  # fmt: skip
    sizes = {"x": (2, 4, 4, 5), "w": (6, 2, 3, 2), "offset": (2, 24, 3, 4), "b": (6,),
             "mask": (2, 12, 3, 4)}  # fmt: skip
    feed = {name: RANDOM.standard_normal(s).astype(np.float32) for name, s in sizes.items()}
    source = model([deformed], shapes, ["y"], version=19)
    _agrees(source, source, **feed)


def test_a_transposed_convolution_over_three_axes() -> None:
    """The adjoint of the convolution: <conv(y), x> = <y, conv_transpose(x)>, in two groups."""
    attributes = {"strides": [2, 1, 2], "dilations": [2, 1, 1], "pads": [1, 0, 1, 0, 1, 1]}
    w = RANDOM.standard_normal((4, 3, 2, 3, 2))
    back = node("ConvTranspose", ["x", "w"], ["y"], group=2, **attributes)
    x = RANDOM.standard_normal((2, 4, 3, 4, 3))
    (y,) = run(model([back], {"x": (DOUBLE, list(x.shape))}, ["y"], {"w": w}), x=x)
    other = RANDOM.standard_normal(y.shape)
    there = node("Conv", ["z", "w"], ["y"], group=2, **attributes)
    (z,) = run(model([there], {"z": (DOUBLE, list(y.shape))}, ["y"], {"w": w}), z=other)
    np.testing.assert_allclose((z * x).sum(), (other * y).sum())


@pytest.mark.parametrize("equation", ["ii", "iij->ji", "iji,j->i", "iii->i"])
def test_diagonals_of_einsum(equation: str) -> None:
    terms = equation.partition("->")[0].split(",")
    feed = {f"x{i}": RANDOM.standard_normal((3,) * len(t)) for i, t in enumerate(terms)}
    total = node("Einsum", list(feed), ["y"], equation=equation)
    source = model([total], {n: (DOUBLE, list(x.shape)) for n, x in feed.items()}, ["y"])
    (y,) = run(source, **feed)
    np.testing.assert_allclose(y, np.einsum(equation, *feed.values()))


def test_a_determinant_needs_linalg(monkeypatch: pytest.MonkeyPatch) -> None:
    source = model([node("Det", ["x"], ["y"])], {"x": (FLOAT, ["n", 3, 3])}, ["y"], version=11)
    x = RANDOM.standard_normal((2, 3, 3)).astype(np.float32)
    pytest.importorskip("byparts_linalg")
    np.testing.assert_allclose(run(source, x=x)[0], np.linalg.det(x), rtol=1e-5)

    monkeypatch.setitem(sys.modules, "byparts_linalg", None)
    with pytest.raises(UnsupportedOp, match="without the part byparts-linalg is not imported"):
        from_onnx(source)


def test_weights_of_mels_begin_and_end_at_0() -> None:
    """Rows of frequencies below the lower edge and above the upper one have no weight."""
    names = ["mels", "length", "rate", "lower", "upper"]
    numbers = (np.int64(4), np.int64(64), np.int64(8000), np.float32(500), np.float32(3000))
    mels = node("MelWeightMatrix", names, ["w"])
    nodes = [mels, node("Add", ["w", "x"], ["y"])]
    source = model(nodes, {"x": [33, 4]}, ["y"], dict(zip(names, numbers, strict=True)))
    _agrees(source, x=np.zeros((33, 4), np.float32))
