"""The record of this part for the hub: it is installed, and provides nothing through the hub."""

BYPARTS_API = (1, 0)
