"""Recording of steps on NumPy arrays: calls in fixed memory."""
