"""`ImageDataGenerator`: batches of images, changed at random."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.keras_api.data import Sequence
from byparts_frontend_tf.keras_api.images import ENDINGS, img_to_array, load_img, moved
from byparts_frontend_tf.keras_api.state import floatx, layout
from byparts_frontend_tf.symbols import symbol


@symbol("keras.preprocessing.image.Iterator")
class Iterator(Sequence):
    """Batches of numbered things, in a new order in each epoch if `shuffle`."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: Optional[int]) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.index_array: Any = None

    def _order(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise ValueError(
                f"Asked to retrieve element {index}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._order()
        begin = self.batch_size * index
        return self._batch(self.index_array[begin : begin + self.batch_size])

    def on_epoch_end(self) -> None:
        """A new order."""
        self._order()

    def reset(self) -> None:
        """Begin anew."""
        self.batch_index = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.batch_index == 0:
            self._order()
        made = self[self.batch_index]
        self.batch_index = (self.batch_index + 1) % len(self)
        return made

    next = __next__

    def _batch(self, rows: Any) -> Any:
        raise NotImplementedError


@symbol("keras.preprocessing.image.NumpyArrayIterator")
class NumpyArrayIterator(Iterator):
    """Batches of arrays of images."""

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: Optional[int] = None,
    ) -> None:
        self.x, self.y = np.asarray(x, floatx()), None if y is None else np.asarray(y)
        if self.y is not None and len(self.x) != len(self.y):
            raise ValueError(
                "`x` (images tensor) and `y` (labels) should have the same length. Found: "
                f"x.shape = {self.x.shape}, y.shape = {self.y.shape}"
            )
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self._generator = image_data_generator
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _batch(self, rows: Any) -> Any:
        make = self._generator
        images = np.stack([make.standardize(make.random_transform(self.x[i])) for i in rows])
        more = [a[rows] for a in (self.y, self.sample_weight) if a is not None]
        return (images, *more) if more else images


@symbol("keras.preprocessing.image.DirectoryIterator")
class DirectoryIterator(Iterator):
    """Batches of the image files in a folder, a folder inside for each class."""

    def __init__(
        self,
        directory: Any,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: Optional[str] = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: Optional[int] = None,
        interpolation: str = "nearest",
    ) -> None:
        folder = os.fspath(directory)
        inside = sorted(n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n)))
        names = list(classes) if classes else inside
        self.class_indices = {n: i for i, n in enumerate(names)}
        self.filenames: list[str] = []
        labels: list[int] = []
        for name in names:
            for at, _, files in sorted(os.walk(os.path.join(folder, name), followlinks=True)):
                found = [f for f in sorted(files) if f.lower().endswith(ENDINGS)]
                self.filenames += [os.path.relpath(os.path.join(at, f), folder) for f in found]
                labels += [self.class_indices[name]] * len(found)
        self.classes, self.num_classes = np.array(labels, "int32"), len(names)
        self.samples, self.class_mode = len(labels), class_mode
        self.filepaths = [os.path.join(folder, f) for f in self.filenames]
        self._generator, self._size = image_data_generator, tuple(target_size)
        self._color, self._way = color_mode, interpolation
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def labels(self) -> Any:
        """The class of each file."""
        return self.classes

    def _batch(self, rows: Any) -> Any:
        make, images = self._generator, []
        for i in rows:
            image = load_img(
                self.filepaths[i],
                color_mode=self._color,
                target_size=self._size,
                interpolation=self._way,
            )
            x = img_to_array(image, make.data_format)
            images.append(make.standardize(make.random_transform(x)))
        batch, classes = np.stack(images), self.classes[rows]
        if self.class_mode == "categorical":
            return batch, np.eye(self.num_classes, dtype=floatx())[classes]
        if self.class_mode == "binary":
            return batch, classes.astype(floatx())
        if self.class_mode == "sparse":
            return batch, classes
        return (batch, batch.copy()) if self.class_mode == "input" else batch


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

    def _shift(self, given: Any, extent: int) -> float:
        if not isinstance(given, (int, float)):
            return float(np.random.choice(given) * np.random.choice([-1, 1]))
        if isinstance(given, int) and given > 1:
            return float(np.random.choice(np.arange(1 - given, given)))
        return float(np.random.uniform(-given, given) * extent)

    def get_random_transform(self, img_shape: Any, seed: Any = None) -> dict[str, Any]:
        """What is done with an image of this shape."""
        if seed is not None:
            np.random.seed(seed)
        first = self.data_format == "channels_first"
        height, width = img_shape[1:3] if first else img_shape[:2]
        made: dict[str, Any] = {"theta": 0.0, "tx": 0.0, "ty": 0.0, "shear": 0.0}
        if self.rotation_range:
            made["theta"] = np.random.uniform(-self.rotation_range, self.rotation_range)
        if np.any(self.height_shift_range):
            made["tx"] = self._shift(self.height_shift_range, height)
        if np.any(self.width_shift_range):
            made["ty"] = self._shift(self.width_shift_range, width)
        if self.shear_range:
            made["shear"] = np.random.uniform(-self.shear_range, self.shear_range)
        low, high = self.zoom_range
        made["zx"], made["zy"] = (1, 1) if low == high == 1 else np.random.uniform(low, high, 2)
        made["flip_horizontal"] = (np.random.random() < 0.5) * self.horizontal_flip
        made["flip_vertical"] = (np.random.random() < 0.5) * self.vertical_flip
        span = self.channel_shift_range
        made["channel_shift_intensity"] = np.random.uniform(-span, span) if span else None
        bright = self.brightness_range
        made["brightness"] = None if bright is None else np.random.uniform(*bright)
        return made

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
