"""`tf.image`, `contrib.image`: pictures."""
