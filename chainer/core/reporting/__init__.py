"""Reporters and summaries: how values observed in a model reach the training loop."""
