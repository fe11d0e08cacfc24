"""What this part tells the hub: that it is there.  It provides nothing, it is the one that asks."""

BYPARTS_API = (1, 0)
