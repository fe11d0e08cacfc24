"""The search behind `rematerialize`."""
