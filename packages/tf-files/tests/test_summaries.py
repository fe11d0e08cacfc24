"""Summaries of arrays, against those that TensorFlow makes of the same arrays."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from byparts_tf_files.histogram import histogram_of
from byparts_tf_files.messages.summary import Summary
from byparts_tf_files.png import png_of
from byparts_tf_files.summaries import (
    audio_summary,
    histogram_summary,
    image_summary,
    scalar_summary,
    text_summary,
)

with np.load(Path(__file__).parent / "recorded" / "summaries.npz") as _file:
    RECORDED = dict(_file)


def _recorded(name: str) -> Summary:
    return Summary.FromString(RECORDED[f"summary {name}"].tobytes())


def _pixels(png: bytes) -> NDArray[np.uint8]:
    """The pixels of a picture of 8 bits, whose rows may be filtered."""
    width, height = (int.from_bytes(png[i : i + 4], "big") for i in (16, 20))
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[png[25]]
    at, data = 8, b""
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += size + 12
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    above = np.zeros(width * channels, int)
    made = []
    for row in rows:
        above = _unfiltered(int(row[0]), row[1:], above, channels)
        made.append(above)
    return np.array(made, np.uint8).reshape(height, width, channels)


def _unfiltered(kind: int, row: NDArray[np.uint8], above: NDArray[Any], step: int) -> NDArray[Any]:
    made = np.zeros(len(row) + step, int)  # with one pixel of zeros in front
    before = np.concatenate([np.zeros(step, int), above])
    for i, byte in enumerate(row.tolist()):
        left, up, corner = int(made[i]), int(above[i]), int(before[i])
        near = min(
            (abs(up - corner), 0, left),
            (abs(left - corner), 1, up),
            (abs(left + up - 2 * corner), 2, corner),
        )
        made[i + step] = (byte + (0, left, up, (left + up) // 2, near[2])[kind]) % 256
    return made[step:]


@pytest.mark.parametrize("name", ["numbers", "none"])
def test_histograms_are_those_of_tensorflow(name: str) -> None:
    """All numbers of it, to the last bit."""
    values = RECORDED["numbers"] if name == "numbers" else np.zeros(0)

    assert histogram_summary(name, values) == _recorded(name)


@pytest.mark.parametrize(
    ("name", "images", "most"),
    [
        ("signed", RECORDED["signed"], 3),
        ("positive", np.abs(RECORDED["signed"]), 1),
        ("black", np.abs(RECORDED["signed"]) * 0, 3),
        ("grey", RECORDED["grey"], 3),
    ],
)
def test_pictures_are_those_of_tensorflow(name: str, images: NDArray[Any], most: int) -> None:
    """The pixels of each, also where one is not finite; files may be packed otherwise."""
    expected, made = _recorded(name), image_summary(name, images, most)

    assert [v.tag for v in made.value] == [v.tag for v in expected.value]
    for mine, theirs in zip(made.value, expected.value, strict=True):
        for part in ("height", "width", "colorspace"):
            assert getattr(mine.image, part) == getattr(theirs.image, part)
        np.testing.assert_array_equal(
            _pixels(mine.image.encoded_image_string), _pixels(theirs.image.encoded_image_string)
        )


def test_texts_sounds_and_scalars_are_those_of_tensorflow() -> None:
    assert text_summary("text", "*hi*") == _recorded("text")
    assert audio_summary("sound", RECORDED["sound"], 22050) == _recorded("sound")
    assert scalar_summary("scalar", np.array([3.25])) == _recorded("scalar")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_picture_has_the_pixels_it_was_made_of(channels: int) -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels)).astype(np.uint8)

    np.testing.assert_array_equal(_pixels(png_of(image)), image)


def test_what_is_no_summary_is_refused() -> None:
    with pytest.raises(ValueError, match="Nan in summary histogram for: h"):
        histogram_summary("h", [1.0, np.nan])
    with pytest.raises(ValueError, match="Infinity in summary histogram"):
        histogram_of([np.inf])
    with pytest.raises(ValueError, match=r"must be 4-D with last dim 1, 3, or 4, not \[2, 2, 3\]"):
        image_summary("i", np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(ValueError, match="a picture of 0 by 2 pixels"):
        image_summary("i", np.zeros((1, 0, 2, 3), np.uint8))
    with pytest.raises(ValueError, match="tags and values not the same shape"):
        scalar_summary("s", [1, 2])
    with pytest.raises(ValueError, match="must be 3-D or 2-D"):
        audio_summary("a", np.zeros(3), 8000)
    with pytest.raises(ValueError, match="bad_color of 3 channels, got 1"):
        image_summary("i", np.zeros((1, 2, 2, 3), np.float32), bad_color=[1])
