"""Programs in the style of TensorFlow 1, TensorFlow's logs of them, and the tools for both."""
