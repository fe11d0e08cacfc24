"""TensorFlow's file formats, read and written without TensorFlow or protobuf."""
