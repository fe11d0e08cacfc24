"""`byparts plan` and `byparts place`."""
