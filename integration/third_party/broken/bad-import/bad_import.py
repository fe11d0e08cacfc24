"""Needs a module that is not installed, and imports it at once."""

import not_installed_library  # noqa: F401

BYPARTS_API = (1, 0)
