"""The entry point for the hub.  It announces only the API version; other parts import this one."""

BYPARTS_API = (1, 0)
