"""`tf.feature_column`: how features of examples become numbers of a model."""
