"""`tensorflow.python`: names of TensorFlow's inside that programs use."""
