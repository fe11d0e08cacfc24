"""Code of GPU functions: CUDA C, and C that does on a CPU what a GPU would do."""
