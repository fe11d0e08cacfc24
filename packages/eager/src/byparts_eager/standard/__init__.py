"""The array API standard, section by section."""
