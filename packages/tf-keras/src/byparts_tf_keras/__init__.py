"""TensorFlow 1's `tf.keras`, `tf.layers` and recurrent cells, for byparts-frontend-tf."""

__version__ = "0.2.0"
