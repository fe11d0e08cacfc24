"""What this part tells the hub: that it is installed.  It provides nothing through the hub."""

BYPARTS_API = (1, 0)
