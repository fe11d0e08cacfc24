"""The memory that programs compute in: arenas, plans, variables."""
