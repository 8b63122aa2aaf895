"""Attention and the layers made of it."""
