"""`tf.contrib.layers`: layers as functions, argument scopes, embeddings."""
