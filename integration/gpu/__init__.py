"""What a machine with a GPU is asked: `python integration/gpu/check.py`."""
