"""`tf.contrib.graph_editor`: walks through graphs, and changes of them."""
