"""What a program is: types, ops, values, nodes, graphs."""
