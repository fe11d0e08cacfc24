"""The functions and classes of TensorFlow 1.15, one module for each area."""
