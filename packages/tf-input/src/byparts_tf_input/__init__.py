"""TensorFlow 1's `tf.data`, queues and lookup tables, for byparts-frontend-tf."""

__version__ = "0.2.0"
