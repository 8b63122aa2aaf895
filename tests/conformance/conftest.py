"""The conformance suite as part of our own tests: each module here runs it on one device."""

from chainer.testing.conformance.conftest import (  # noqa: F401
    _provider,
    array,
    backend,
    pytest_generate_tests,
    xp,
)
