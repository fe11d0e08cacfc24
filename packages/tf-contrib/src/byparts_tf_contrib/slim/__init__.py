"""`tf.contrib.slim` and what of `contrib.framework` and `contrib.layers` it is made of."""
