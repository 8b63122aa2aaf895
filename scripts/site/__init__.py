"""The documentation site: pages of the reference, and docstrings as Markdown."""
