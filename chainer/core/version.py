"""Version of the distribution (pyproject.toml reads it from here)."""

__version__ = "8.0.0"
