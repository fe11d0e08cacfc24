"""The record of this part for the hub, empty: the runtime provides nothing, and asks the hub."""

BYPARTS_API = (1, 0)
