"""`ImageDataGenerator`: batches of images, changed at random."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.image_iterators import DirectoryIterator, NumpyArrayIterator
from byparts_tf_keras.images import moved
from byparts_tf_keras.state import floatx, layout


@symbol("keras.preprocessing.image.ImageDataGenerator")
class ImageDataGenerator:
    """Changes images at random: rotated, shifted, sheared, zoomed, flipped, brighter.

    Args:
        featurewise_center, featurewise_std_normalization: by statistics that `fit` finds.
        samplewise_center, samplewise_std_normalization: by statistics of each image.
        rotation_range: degrees.
        width_shift_range, height_shift_range: pixels, or shares of the extent below 1.
        shear_range: degrees.
        zoom_range: (lowest, highest), or how far from 1.
        fill_mode, cval: what is beyond the borders.
        rescale: multiplies images, after `preprocessing_function`.
        validation_split: accepted; subsets are of `flow(subset=...)`.
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: Optional[float] = None,
        preprocessing_function: Any = None,
        data_format: Optional[str] = None,
        validation_split: float = 0.0,
        dtype: Any = None,
    ) -> None:
        if zca_whitening:
            raise NotImplementedError("ImageDataGenerator: zca_whitening is not here")
        self.featurewise_center, self.samplewise_center = featurewise_center, samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.rotation_range, self.brightness_range = rotation_range, brightness_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.shear_range, self.channel_shift_range = shear_range, channel_shift_range
        single = isinstance(zoom_range, (int, float))
        self.zoom_range = [1 - zoom_range, 1 + zoom_range] if single else list(zoom_range)
        self.fill_mode, self.cval = fill_mode, cval
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.data_format, self._validation_split = layout(data_format), validation_split
        self.mean: Any = None
        self.std: Any = None

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: Any = None) -> None:
        """Find mean and deviation of images."""
        x = np.asarray(x, floatx())
        axes = (0, 2, 3) if self.data_format == "channels_first" else (0, 1, 2)
        shape = [-1, 1, 1] if self.data_format == "channels_first" else [1, 1, -1]
        self.mean = np.mean(x, axis=axes).reshape(shape)
        self.std = np.std(x - self.mean, axis=axes).reshape(shape)

    def standardize(self, x: Any) -> Any:
        """The image by its statistics, or by those that `fit` found."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * np.asarray(self.rescale, x.dtype)
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        return x

    def _shift(self, shift: Any, extent: int) -> float:
        if not isinstance(shift, (int, float)):
            return float(np.random.choice(shift) * np.random.choice([-1, 1]))
        if isinstance(shift, int) and shift > 1:
            return float(np.random.choice(np.arange(1 - shift, shift)))
        return float(np.random.uniform(-shift, shift) * extent)

    def get_random_transform(self, img_shape: Any, seed: Any = None) -> dict[str, Any]:
        """Draw the parameters of a change of an image of this shape."""
        if seed is not None:
            np.random.seed(seed)
        first = self.data_format == "channels_first"
        height, width = img_shape[1:3] if first else img_shape[:2]
        transform: dict[str, Any] = {"theta": 0.0, "tx": 0.0, "ty": 0.0, "shear": 0.0}
        if self.rotation_range:
            transform["theta"] = np.random.uniform(-self.rotation_range, self.rotation_range)
        if np.any(self.height_shift_range):
            transform["tx"] = self._shift(self.height_shift_range, height)
        if np.any(self.width_shift_range):
            transform["ty"] = self._shift(self.width_shift_range, width)
        if self.shear_range:
            transform["shear"] = np.random.uniform(-self.shear_range, self.shear_range)
        low, high = self.zoom_range
        transform["zx"], transform["zy"] = (
            (1, 1) if low == high == 1 else np.random.uniform(low, high, 2)
        )
        transform["flip_horizontal"] = (np.random.random() < 0.5) * self.horizontal_flip
        transform["flip_vertical"] = (np.random.random() < 0.5) * self.vertical_flip
        span = self.channel_shift_range
        transform["channel_shift_intensity"] = np.random.uniform(-span, span) if span else None
        bright = self.brightness_range
        transform["brightness"] = None if bright is None else np.random.uniform(*bright)
        return transform

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """The image, changed."""
        said, first = transform_parameters, self.data_format == "channels_first"
        x = x.transpose(1, 2, 0) if first else x
        theta, shear = np.deg2rad(said.get("theta", 0)), np.deg2rad(said.get("shear", 0))
        cos, sin = np.cos(theta), np.sin(theta)
        matrix = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
        matrix = matrix @ np.array(
            [[1, 0, said.get("tx", 0)], [0, 1, said.get("ty", 0)], [0, 0, 1]]
        )
        matrix = matrix @ np.array([[1, -np.sin(shear), 0], [0, np.cos(shear), 0], [0, 0, 1]])
        matrix = matrix @ np.diag([said.get("zx", 1), said.get("zy", 1), 1])
        if not np.array_equal(matrix, np.eye(3)):
            x = moved(x, matrix, self.fill_mode, self.cval)
        if said.get("channel_shift_intensity") is not None:
            x = np.clip(x + said["channel_shift_intensity"], np.min(x), np.max(x))
        if said.get("flip_horizontal"):
            x = x[:, ::-1]
        if said.get("flip_vertical"):
            x = x[::-1]
        if said.get("brightness") is not None:
            x = np.clip(x * said["brightness"], 0, 255)
        return x.transpose(2, 0, 1) if first else x

    def random_transform(self, x: Any, seed: Any = None) -> Any:
        """The image, changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: Optional[int] = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: Optional[str] = None,
    ) -> NumpyArrayIterator:
        """Batches of arrays of images."""
        if subset is not None:
            at = int(len(x) * self._validation_split)
            kept = slice(0, at) if subset == "validation" else slice(at, None)
            x, y = x[kept], None if y is None else y[kept]
        return NumpyArrayIterator(x, y, self, batch_size, shuffle, sample_weight, seed)

    def flow_from_directory(
        self,
        directory: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: Optional[str] = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: Optional[int] = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: Optional[str] = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of the image files in a folder."""
        if subset is not None:
            raise NotImplementedError("flow_from_directory: subset is not here")
        return DirectoryIterator(
            directory,
            self,
            target_size,
            color_mode,
            classes,
            class_mode,
            batch_size,
            shuffle,
            seed,
            interpolation,
        )
