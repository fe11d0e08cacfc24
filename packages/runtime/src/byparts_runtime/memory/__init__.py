"""What programs compute in: arenas, plans, variables."""
