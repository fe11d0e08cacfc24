"""Makes Python source small: what a device does not need goes, what stays has short names."""
