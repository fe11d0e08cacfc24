"""TensorFlow's file formats, read and written without TensorFlow or protobuf."""

__version__ = "0.2.0"
