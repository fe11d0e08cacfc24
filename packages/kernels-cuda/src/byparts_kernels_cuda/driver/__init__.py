"""The driver API of CUDA through ctypes, its errors, and its double."""
