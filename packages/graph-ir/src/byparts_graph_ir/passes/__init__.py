"""Work on whole graphs: passes in a row, specialisation, verification."""
