"""WAV files, spectrograms and MFCC against TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_files.wav import samples_of_wav
from byparts_tf_files.wire import DecodeError

audio_ops = tf.contrib.framework.python.ops.audio_ops
RECORDED = dict(np.load(Path(__file__).parent / "recorded" / "audio.npz"))
TIMES = np.arange(400)
SAMPLES = 0.5 * np.sin(TIMES * 0.3) + 0.4 * np.sin(TIMES**1.5 * 0.02)
X = SAMPLES.astype(np.float32).reshape(200, 2)


def test_a_wav_file_is_tensorflows_to_the_byte() -> None:
    """Written beyond the range; read with more channels and samples than there are."""
    with tf.Graph().as_default(), tf.Session() as session:
        wav = tf.audio.encode_wav(tf.constant(X) * 1.2, 8000)
        read = tf.audio.decode_wav(wav, desired_channels=3, desired_samples=205)
        assert read.audio.shape.as_list() == [205, 3]
        data, (samples, rate) = session.run([wav, read])

    assert data == RECORDED["wav"].tobytes() and rate == 8000
    np.testing.assert_array_equal(samples[195:], RECORDED["audio3_tail"])


def test_spectrograms_and_coefficients_are_tensorflows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        energies = audio_ops.audio_spectrogram(X, 60, 25, magnitude_squared=True)
        made = [
            energies[:, ::3],
            audio_ops.audio_spectrogram(X, 64, 50)[:1, :1],
            audio_ops.mfcc(
                energies, 8000, upper_frequency_limit=3000, lower_frequency_limit=100,
                filterbank_channel_count=10, dct_coefficient_count=6,
            ),
            audio_ops.mfcc(energies, 16000)[:, :2],
        ]  # fmt: skip
        assert energies.shape.as_list() == [2, 6, 33]
        found = session.run(made)

    for a, name in zip(found, ("energies", "magnitudes", "mfcc", "usual"), strict=True):
        np.testing.assert_allclose(a, RECORDED[name], rtol=1e-3, atol=1e-4)


def test_damaged_wav_files_are_refused() -> None:
    data = RECORDED["wav"].tobytes()
    for damaged, why in (
        (b"RIFX" + data[4:], "Header mismatch"),
        (data[:-1], "Data too short"),
        (data[:34] + b"\x08" + data[35:], "16-bit"),
        (data[:20] + b"\x03" + data[21:], r"Expected 1 \(PCM\)"),
        (data[:36], "without samples"),
    ):
        with pytest.raises(DecodeError, match=why):
            samples_of_wav(damaged)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Header mismatch"),
    ):
        session.run(tf.audio.decode_wav("no").audio)


def test_audio_of_other_formats_says_what_to_do() -> None:
    decode = tf.contrib.ffmpeg.decode_audio
    with tf.Graph().as_default(), tf.Session() as session:
        data = RECORDED["wav"].tobytes()
        assert session.run(decode(data, "wav", 8000, 2)).shape == (200, 2)
        with pytest.raises(tf.errors.UnimplementedError, match=r"ffmpeg -i in\.mp3"):
            session.run(decode(data, "mp3", 8000, 2))
        with pytest.raises(tf.errors.UnimplementedError, match="convert it to 16000 and 2"):
            session.run(decode(data, "wav", 16000, 2))
