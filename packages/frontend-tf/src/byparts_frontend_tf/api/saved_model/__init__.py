"""`tf.saved_model`: a graph with its variables and signatures in a folder."""
