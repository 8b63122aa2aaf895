"""The libraries that are known to work, one module each."""
