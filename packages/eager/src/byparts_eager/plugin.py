"""Mark for the hub that this part is installed; it provides nothing through the hub."""

BYPARTS_API = (1, 0)
