"""Made for an API that does not exist yet."""

BYPARTS_API = (1, 7)
