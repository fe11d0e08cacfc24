"""TensorFlow's file formats, read and written without TensorFlow or protobuf."""

__version__ = "0.1.0"
