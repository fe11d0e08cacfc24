"""All readers, by the names that the command line and the tests use.

hatch run fuzz --reader npz --count 1000000 --seed 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from byparts_conformance.fuzz import graph_readers
from byparts_conformance.fuzz.reader import Reader
from readers import digits, examples, models, onnx_models, plans, tensorflow, weights

READERS: Mapping[str, Callable[[], Reader]] = {
    **graph_readers.READERS,
    "npz": weights.npz,
    "safetensors": weights.safetensors,
    "csv": plans.csv,
    "placement": plans.placement_json,
    "plan": plans.plan_json,
    "digits": digits.reader,
    "graph-def": tensorflow.graph_def,
    "pbtxt": tensorflow.pbtxt,
    "tfrecord": tensorflow.tfrecord,
    "example": examples.example,
    "checkpoint": tensorflow.second_format,
    "checkpoint-1": tensorflow.first_format,
    "snappy": tensorflow.snappy,
    "png": tensorflow.png,
    "bmp": tensorflow.bmp,
    "wav": tensorflow.wav,
    "graph-import": models.graph_import,
    "meta-graph": models.meta_graph,
    "saved-model": models.saved_model,
    "keras-json": models.keras_json,
    "keras-file": models.keras_file,
    "plain-objects": models.plain_objects,
    "array-file": models.array_file,
    "onnx": onnx_models.onnx_model,
}
