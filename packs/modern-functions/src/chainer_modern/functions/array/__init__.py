"""Functions of arrays that carry positions."""
