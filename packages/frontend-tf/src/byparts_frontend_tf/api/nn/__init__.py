"""`tf.nn`: what neural networks are made of."""
