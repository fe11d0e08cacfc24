"""Does not say which API it was made for."""

BYPARTS = True
