"""Rules for the operators of the standard domain, a file for each kind."""
