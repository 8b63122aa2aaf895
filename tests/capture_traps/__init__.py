"""Programs that a captured step could get wrong without a sign, and their outcomes.

Each trap is a function of a framework (:mod:`tests.capture_traps.frameworks`). It yields values,
and runs twice: with its step as written and with its step captured. ``python -m benchmarks traps``
runs the same programs with ``torch.compile`` and ``jax.jit``.
"""
