"""`tf.distributions` and random tensors."""
