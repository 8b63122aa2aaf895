"""``chainer certify``: what a backend, a kernel provider or another plugin can do, in one report.

A certification runs the conformance suite (:mod:`chainer.testing.conformance`) on every backend,
provider and table of functions of a package, and the checks of its metadata, objects and types
(:mod:`chainer.testing.certification.checks`). The tests run in processes of their own: a native
crash or a test that does not end is one failure, and the run goes on after it.

Example:
    ::

        certificate = certify("chainer-swish", quick=True)
        assert certificate.passed, certificate.summary()
"""

from __future__ import annotations

from chainer.testing.certification.certificate import Certificate, Result
from chainer.testing.certification.isolation import Limits
from chainer.testing.certification.run import certify
from chainer.testing.certification.subject import UnknownSubjectError
from chainer.testing.certification.suite_error import SuiteError

__all__ = ["Certificate", "Limits", "Result", "SuiteError", "UnknownSubjectError", "certify"]
