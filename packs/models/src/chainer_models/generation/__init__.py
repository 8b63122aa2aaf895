"""Generation of text."""
