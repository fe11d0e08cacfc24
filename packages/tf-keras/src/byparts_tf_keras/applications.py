"""`tf.keras.applications`: architectures of VGG; weights are the program's to load.

Simonyan and Zisserman 2014 (https://arxiv.org/abs/1409.1556).
"""

from __future__ import annotations

import json
import os
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.convolutions import Conv2D
from byparts_tf_keras.core_layers import Dense
from byparts_tf_keras.inputs import input_of
from byparts_tf_keras.model import Model
from byparts_tf_keras.pooling import (
    GlobalAveragePooling2D,
    GlobalMaxPooling2D,
    MaxPooling2D,
)
from byparts_tf_keras.reshaping import Flatten
from byparts_tf_keras.utilities import get_file

_AT = "https://storage.googleapis.com/tensorflow/keras-applications/"
_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_MEANS = (103.939, 116.779, 123.68)  # of blue, green, red


def _vgg(
    name: str,
    counts: tuple[int, ...],
    include_top: bool,
    weights: Any,
    input_tensor: Any,
    input_shape: Any,
    pooling: Optional[str],
    classes: int,
) -> Model:
    if include_top and weights == "imagenet" and classes != 1000:
        raise ValueError(
            'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be '
            "1000"
        )
    shape = input_shape or ((224, 224, 3) if include_top else (None, None, 3))
    inputs = input_of(shape) if input_tensor is None else input_tensor
    x = inputs
    for block, (filters, count) in enumerate(zip((64, 128, 256, 512, 512), counts, strict=True), 1):
        for i in range(1, count + 1):
            layer = Conv2D(
                filters, 3, activation="relu", padding="same", name=f"block{block}_conv{i}"
            )
            x = layer(x)
        x = MaxPooling2D(2, 2, name=f"block{block}_pool")(x)
    if include_top:
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        x = Dense(classes, activation="softmax", name="predictions")(x)
    elif pooling == "avg":
        x = GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = GlobalMaxPooling2D()(x)
    model = Model(inputs, x, name=name)
    if weights == "imagenet":
        top = "" if include_top else "_notop"
        file = f"{name}_weights_tf_dim_ordering_tf_kernels{top}.h5"
        model.load_weights(get_file(file, f"{_AT}{name}/{file}", cache_subdir="models"))
    elif weights is not None:
        model.load_weights(os.fspath(weights))
    return model


@symbol("keras.applications.VGG16", "keras.applications.vgg16.VGG16")
def vgg16(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Optional[str] = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Model:
    """16 layers with weights.

    Args:
        include_top: whether the three dense layers are there.
        weights: "imagenet": from Keras's folder, fetched if they are not there; a path; `None`.
        input_tensor: in the place of a new placeholder.
        input_shape: of one image.
        pooling: avg or max, without the top.
        classes: of the top.
        kwargs: accepted.
    """
    counts = (2, 2, 3, 3, 3)
    return _vgg("vgg16", counts, include_top, weights, input_tensor, input_shape, pooling, classes)


@symbol("keras.applications.VGG19", "keras.applications.vgg19.VGG19")
def vgg19(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Optional[str] = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Model:
    """19 layers with weights; arguments as of VGG16."""
    counts = (2, 2, 4, 4, 4)
    return _vgg("vgg19", counts, include_top, weights, input_tensor, input_shape, pooling, classes)


@symbol("keras.applications.vgg16.preprocess_input", "keras.applications.vgg19.preprocess_input")
@symbol("keras.applications.imagenet_utils.preprocess_input")
def preprocess_input(
    x: Any, data_format: Optional[str] = None, mode: str = "caffe", **_: Any
) -> Any:
    """Images as networks want them: blue first and without the means ("caffe"), or of [-1, 1]."""
    if mode == "tf":
        return x / 127.5 - 1.0
    axis = 1 if data_format == "channels_first" else -1
    if isinstance(x, Tensor):
        means = np.array(_MEANS, "float32").reshape([-1, 1, 1] if axis == 1 else [-1])
        return (x[:, ::-1] if axis == 1 else x[..., ::-1]) - means
    pixels = np.array(x, dtype="float32") if not np.issubdtype(x.dtype, np.floating) else x
    pixels = pixels[..., ::-1, :, :] if axis == 1 else pixels[..., ::-1]
    return pixels - np.array(_MEANS, pixels.dtype).reshape([-1, 1, 1] if axis == 1 else [-1])


@symbol("keras.applications.vgg16.decode_predictions")
@symbol("keras.applications.vgg19.decode_predictions")
@symbol("keras.applications.imagenet_utils.decode_predictions")
def decode_predictions(preds: Any, top: int = 5, **_: Any) -> list[list[tuple[str, str, float]]]:
    """(number, name, probability) of the likeliest classes of ImageNet, for each image.

    Raises:
        ValueError: there are not 1000 classes.
    """
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape "
            f"(samples, 1000)). Found array with shape: {preds.shape}"
        )
    with open(get_file("imagenet_class_index.json", _CLASSES, cache_subdir="models")) as file:
        names = json.load(file)
    rows = []
    for row in preds:
        best = row.argsort()[-top:][::-1]
        rows.append([(*names[str(i)], float(row[i])) for i in best])
    return rows
