"""Variables: made, shared by name, written."""
