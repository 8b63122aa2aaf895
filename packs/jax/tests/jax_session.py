"""A pytest plugin: nothing may be computed by NumPy, and compiled programs are dropped in time."""

import chainer
import pytest

chainer.global_config.array_api_fallback = "error"
# Each test compiles programs of its own, which JAX keeps: gigabytes after thousands of tests.
TESTS_PER_CACHE = 50
_count = 0


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    global _count
    _count += 1
    if _count % TESTS_PER_CACHE == 0:
        import jax

        jax.clear_caches()
