"""The data of a program: types, ops, values, nodes, graphs."""
