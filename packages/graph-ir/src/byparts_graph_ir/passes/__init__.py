"""What is done with a graph: passes in a row, specialisation, verification."""
