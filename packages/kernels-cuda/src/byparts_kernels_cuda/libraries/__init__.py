"""NVIDIA's libraries, where they are installed: cuBLASLt for products, cuDNN for convolutions."""
