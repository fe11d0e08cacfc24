"""TensorFlow 1's training sessions, estimators and columns, for byparts-frontend-tf."""

__version__ = "0.2.0"
