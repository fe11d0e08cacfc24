"""TensorFlow's graph: tensors, operations, names, scopes; nothing here runs anything."""
