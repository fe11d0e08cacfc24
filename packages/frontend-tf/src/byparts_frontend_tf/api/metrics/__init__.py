"""`tf.metrics`: values over all batches so far."""
