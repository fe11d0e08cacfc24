"""Rules for operators of com.microsoft, which ONNX Runtime's own tools write into files."""
