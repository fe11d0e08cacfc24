"""Made for an API that is gone."""

BYPARTS_API = (0, 9)
