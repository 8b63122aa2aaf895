"""The architectures, one module for each family."""
