"""`tf.losses`: losses with weights, kept in the collection LOSSES."""
