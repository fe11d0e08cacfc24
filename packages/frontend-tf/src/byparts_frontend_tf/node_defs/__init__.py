"""Operations as `NodeDef` messages of TensorFlow's files, and back."""
