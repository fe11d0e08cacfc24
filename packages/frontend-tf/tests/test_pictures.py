"""Pictures in strings: PNG and BMP without a library, JPEG and GIF where Pillow is installed."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_files.png_reader import SIGNATURE, array_of_png
from byparts_tf_files.wire import DecodeError

RECORDED = dict(np.load(Path(__file__).parent / "recorded" / "pictures.npz"))
IMAGE = np.add.outer(np.arange(5) * 40, np.arange(0, 60, 10)).astype(np.uint8)
COLOURED = np.stack([IMAGE, IMAGE * 3, 255 - IMAGE], -1)


def run(made: Any) -> Any:
    """What a tensor is."""
    with tf.Session() as session:
        return session.run(made)


def picture(head: tuple[int, ...], rows: bytes, **more: bytes) -> bytes:
    """A PNG of these contents."""
    chunks = [("IHDR", struct.pack(">2I5B", *head)), *more.items(), ("IDAT", zlib.compress(rows))]
    made = SIGNATURE
    for kind, data in [*chunks, ("IEND", b"")]:
        text = kind.encode() + data
        made += struct.pack(">I", len(data)) + text + struct.pack(">I", zlib.crc32(text))
    return made


def filtered(filter: int, image: Any) -> bytes:
    """Rows of a picture of 8 bits less what a filter guesses them to be."""
    height, width, step = image.shape
    rows = image.reshape(height, width * step).astype(int)
    made = b""
    for i in range(height):
        for j in range(-1, width * step):
            if j < 0:
                made += bytes([filter])
                continue
            left = rows[i, j - step] if j >= step else 0
            up = rows[i - 1, j] if i else 0
            corner = rows[i - 1, j - step] if i and j >= step else 0
            order = sorted((left, up, corner), key=lambda v: abs(left + up - corner - v))
            guess = (0, left, up, (left + up) // 2, order[0])[filter]
            made += bytes([(rows[i, j] - guess) % 256])
    return made


@pytest.mark.parametrize("filter", range(5))
def test_every_filter_of_png_is_undone(filter: int) -> None:
    """None, left, up, their mean, and Paeth's."""
    data = picture((6, 5, 8, 2, 0, 0, 0), filtered(filter, COLOURED))

    np.testing.assert_array_equal(array_of_png(data), COLOURED)


def test_png_is_decoded_as_tensorflow_does() -> None:
    """16 bits, alpha, grey; as many channels as are asked for."""
    png16, rgba, ga = (RECORDED[n].tobytes() for n in ("png16", "rgba", "ga"))
    decode = tf.image.decode_png

    np.testing.assert_array_equal(run(decode(png16, dtype=tf.uint16)), RECORDED["png16_array"])
    np.testing.assert_array_equal(run(decode(png16)), RECORDED["png16_bytes"])
    np.testing.assert_array_equal(run(decode(rgba)), RECORDED["rgba_array"])
    np.testing.assert_array_equal(run(decode(rgba, channels=1)), RECORDED["rgba_grey"])
    np.testing.assert_array_equal(run(decode(ga, channels=4)), RECORDED["ga_rgba"])


def test_a_palette_and_few_bits_are_read() -> None:
    """Numbers of colours of 4 bits; a grey picture of 1 bit."""
    palette = bytes(range(0, 48))
    numbers = picture((3, 2, 4, 3, 0, 0, 0), b"\0\x12\x30\0\xf0\x10", PLTE=palette)
    bits = picture((10, 1, 1, 0, 0, 0, 0), b"\0\xa0\x40")

    np.testing.assert_array_equal(run(tf.image.decode_png(numbers))[1, 0], [45, 46, 47])
    np.testing.assert_array_equal(array_of_png(bits)[0, :, 0], [255, 0, 255, 0, 0, 0, 0, 0, 0, 255])


def test_png_goes_there_and_back() -> None:
    made = tf.image.decode_image(tf.image.encode_png(COLOURED), dtype=tf.float32)

    np.testing.assert_allclose(run(made), COLOURED / 255, rtol=1e-6)
    assert tf.image.decode_png("", channels=3).get_shape().as_list() == [None, None, 3]


def test_bmp_is_read() -> None:
    """Rows from the lowest on, blue first, filled to four bytes."""
    rows = np.zeros((5, 20), np.uint8)
    rows[:, :18] = COLOURED[::-1, :, ::-1].reshape(5, 18)
    head = struct.pack("<2s4i", b"BM", 0, 0, 54, 40) + struct.pack("<2i2H", 6, 5, 1, 24)

    np.testing.assert_array_equal(
        run(tf.image.decode_bmp(head.ljust(54, b"\0") + rows.tobytes())), COLOURED
    )


def test_damaged_pictures_are_refused() -> None:
    """By TensorFlow's error of the kind; a picture that is too large before memory is taken."""
    good = picture((6, 5, 8, 2, 0, 0, 0), filtered(0, COLOURED))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"checksum|Invalid PNG"):
        run(tf.image.decode_png(good[:60] + b"x" + good[61:]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown format"):
        run(tf.image.decode_image("what"))
    with pytest.raises(DecodeError, match="4000000000 by 5"):
        array_of_png(picture((4000000000, 5, 8, 2, 0, 0, 0), b""))
    with pytest.raises(DecodeError, match="expected 95"):
        array_of_png(picture((6, 5, 8, 2, 0, 0, 0), b"short"))


def test_jpeg_is_decoded_within_a_few_levels() -> None:
    """The library's rounding is its own: TensorFlow's default is a fast, rough transform."""
    pytest.importorskip("PIL")
    data = RECORDED["jpeg"].tobytes()
    found = run(tf.image.decode_jpeg(data))
    np.testing.assert_array_equal(found, RECORDED["jpeg_rgb"])
    for name, made in (
        ("jpeg_grey", tf.image.decode_jpeg(data, channels=1)),
        ("jpeg_half", tf.image.decode_jpeg(data, ratio=2)),
    ):
        np.testing.assert_allclose(run(made).astype(int), RECORDED[name].astype(int), atol=4)
    back = run(
        tf.image.decode_jpeg(tf.image.encode_jpeg(found, quality=100, chroma_downsampling=False))
    )
    np.testing.assert_allclose(back.astype(int), found.astype(int), atol=12)
    part = run(tf.image.decode_and_crop_jpeg(data, [2, 1, 3, 4]))
    np.testing.assert_array_equal(part, found[2:5, 1:5])


def test_frames_of_a_gif() -> None:
    """All of them; one picture only where there is one."""
    library = pytest.importorskip("PIL.Image")
    first, second = (library.fromarray(x) for x in (COLOURED, COLOURED[::-1].copy()))
    file = BytesIO()
    first.save(file, "GIF", save_all=True, append_images=[second])

    frames = run(tf.image.decode_gif(file.getvalue()))

    assert frames.shape == (2, 5, 6, 3) == run(tf.image.decode_image(file.getvalue())).shape
    with pytest.raises(tf.errors.InvalidArgumentError, match="Got 2 frames"):
        run(tf.image.decode_png(file.getvalue()))


def test_what_a_jpegs_head_says() -> None:
    data = RECORDED["jpeg"].tobytes()

    assert run(tf.image.extract_jpeg_shape(data)).tolist() == [9, 13, 3]
    assert run(tf.image.is_jpeg([data, b"\x89PNG"])).tolist() == [True, False]
