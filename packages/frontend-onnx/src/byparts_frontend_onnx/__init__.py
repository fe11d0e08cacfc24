"""Models in ONNX files, as graphs and weights."""

__version__ = "0.2.0"
