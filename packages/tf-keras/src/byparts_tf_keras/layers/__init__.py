"""`tf.layers`, `contrib.layers`: layers, first values, penalties."""
