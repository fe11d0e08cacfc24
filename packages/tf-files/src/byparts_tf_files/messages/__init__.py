"""Messages of TensorFlow's files, each as TensorFlow's `.proto` file of its name declares it."""
