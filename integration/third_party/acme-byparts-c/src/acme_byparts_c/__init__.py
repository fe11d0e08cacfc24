"""Generated C for byparts."""
