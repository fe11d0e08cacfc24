"""`tf.data`: pipelines of elements, iterators over them, and the parsing of records."""
