"""The exact search behind `place`: branch and bound, its restarts, and the smallest arena."""
