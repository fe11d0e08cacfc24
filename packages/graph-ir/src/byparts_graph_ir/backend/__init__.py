"""What a backend gives: kernels in tables, spaces, regions of nodes."""
