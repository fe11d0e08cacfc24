"""`tf.random`: random numbers; distributions are in byparts-tf-contrib."""
