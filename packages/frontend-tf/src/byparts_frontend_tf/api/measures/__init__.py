"""`tf.metrics` and `tf.losses`."""
