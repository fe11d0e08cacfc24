"""What one combination of parts proves, from inside it: `python -m proof SPEC RESULT`.

Copied beside the combination and run by its interpreter, so it may import the standard library and,
in each group of checks, the parts that the group names.
"""
