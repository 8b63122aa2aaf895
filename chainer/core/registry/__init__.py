"""Registries of everything a user can name, and modules whose names come from them."""
