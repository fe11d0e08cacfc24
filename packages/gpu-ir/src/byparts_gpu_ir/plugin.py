"""What this part tells the hub: that it is here; others import it."""

BYPARTS_API = (1, 0)
