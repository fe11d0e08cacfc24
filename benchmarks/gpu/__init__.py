"""What a machine with a GPU is asked: `python benchmarks/gpu/check.py`."""
