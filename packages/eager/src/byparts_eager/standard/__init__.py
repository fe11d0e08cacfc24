"""The array API standard 2024.12 on the op set, by its sections.

https://data-apis.org/array-api/2024.12/API_specification/.  Each function takes arrays, traced
values and what `asarray` makes an array of; where a shape depends on data it takes arrays alone.
"""
