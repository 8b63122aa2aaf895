"""Backends of libraries whose arrays are immutable."""
