"""`tf.math`: numbers, element by element and along axes."""
