"""`tf.contrib.image`: transforms of pictures."""
