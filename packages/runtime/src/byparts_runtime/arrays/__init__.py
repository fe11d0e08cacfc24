"""Arrays of callers: their dtypes, what is accepted, and copies into and out of memory."""
