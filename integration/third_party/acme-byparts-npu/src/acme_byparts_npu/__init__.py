"""The ACME NPU for byparts."""
